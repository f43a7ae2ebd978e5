// SPDX-License-Identifier: Apache-2.0
#include "models/sdp/operand_reader.h"

#include <utility>
#include <vector>

namespace npuscope {
namespace {

/// Lines of `line` bytes out of a run of several.
void add_lines(std::vector<ByteRun>& lines, const ByteRun& run, Bytes line) {
    for (Bytes done; done < run.bytes; done += line) {
        lines.push_back({run.address + done, line});
    }
}

/// Groups of beats end with a line, except in a cube of one pixel.
std::uint64_t steps_per_line(const Shape& shape, std::uint64_t surfaces) {
    return shape.width == 1 && shape.height == 1 ? surfaces : shape.width;
}

}  // namespace

SdpStreamPlan operand_plan(const OperandSurface& surface, Bytes bus_width, Cycles start) {
    SdpStreamPlan plan{.runs = {}, .beat = bus_width, .start = start};
    plan.beats_per_step = divide_up(surface.atom().value, bus_width.value);
    const Shape& shape = surface.shape;
    if (surface.spread == OperandSpread::PerChannel) {
        plan.runs = surface.runs();
        plan.atoms_per_step = std::uint64_t{shape.width} * shape.height;
        plan.steps_per_line = surface.surfaces();
        return plan;
    }
    for (const ByteRun& run : surface.runs()) {
        add_lines(plan.runs, run, surface.atom() * shape.width);
    }
    plan.steps_per_line = steps_per_line(shape, surface.surfaces());
    return plan;
}

SdpStreamPlan source_plan(const FeatureCube& cube, Bytes bus_width, Cycles start) {
    SdpStreamPlan plan{.runs = {}, .beat = bus_width, .start = start};
    plan.beats_per_step = divide_up(cube.atom.value, bus_width.value);
    plan.steps_per_line = steps_per_line(cube.shape, cube.surfaces());
    for (std::uint32_t surface = 0; surface < cube.surfaces(); ++surface) {
        for (std::uint32_t y = 0; y < cube.shape.height; ++y) {
            plan.runs.push_back({cube.line_address(surface, y), cube.line_bytes()});
        }
    }
    return plan;
}

SdpStageOperands OperandReader::fetch(const SdpOperandFetch& fetch, const Purpose& purpose) {
    const OperandSurface& surface = fetch.surface;
    std::vector<std::uint8_t> bytes(surface.extent().value);
    for (const ByteRun& run : surface.runs()) {
        const std::size_t offset = (run.address - surface.base).value;
        port.fetch(run.address, std::span(bytes).subspan(offset, run.bytes.value), purpose);
    }
    SdpStageOperands operands;
    if (fetch.alu) {
        operands.alu = unpack_operand(surface, 0, bytes);
    }
    if (fetch.mul) {
        operands.mul = unpack_operand(surface, fetch.alu ? 1 : 0, bytes);
    }
    return operands;
}

void OperandReader::open(const SdpConfig& config, SdpStreamPlan plan,
                         const std::vector<Cycles>& taken, const Purpose& purpose) {
    stream_.emplace(config, std::move(plan), taken);
    port.open(*stream_, purpose);
}

Cycles OperandReader::arrival(Activity& activity, std::uint64_t atom) {
    const std::uint64_t beats = stream_->needed(atom);
    if (!stream_->issued(beats)) {
        port.wait_issued(activity, beats);
    }
    return stream_->arrival(beats);
}

void OperandReader::finish(Activity& activity) { port.wait_issued(activity, stream_->beats()); }

}  // namespace npuscope
