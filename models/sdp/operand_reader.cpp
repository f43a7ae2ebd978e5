// SPDX-License-Identifier: Apache-2.0
#include "models/sdp/operand_reader.h"

#include <algorithm>
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

bool one_pixel(const Shape& shape) { return shape.width == 1 && shape.height == 1; }

}  // namespace

SdpStreamPlan operand_plan(const OperandSurface& surface, std::uint32_t lanes, Bytes bus_width,
                           Cycles start) {
    SdpStreamPlan plan{.runs = {}, .beat = bus_width, .step = surface.atom(), .start = start};
    const Shape& shape = surface.shape;
    const std::uint32_t atom = surface.elements_per_atom;
    const std::uint64_t parts = divide_up(surface.shape.channels, lanes);
    if (surface.spread == OperandSpread::PerChannel || one_pixel(shape)) {
        plan.runs = surface.runs();
        plan.step = surface.component * surface.components * lanes;
        plan.atoms_per_step = std::uint64_t{shape.width} * shape.height;
        plan.steps_per_line = parts;
        return plan;
    }
    std::vector<ByteRun> lines;  // of one surface after the other
    for (const ByteRun& run : surface.runs()) {
        add_lines(lines, run, surface.atom() * shape.width);
    }
    plan.steps_per_line = shape.width;
    plan.runs_per_line = std::max(lanes / atom, 1U);
    plan.full_lines = 0;
    for (std::uint64_t part = 0; part < parts; ++part) {
        const std::uint64_t first = part * lanes / atom;
        const std::uint64_t end =
            std::min<std::uint64_t>(first + plan.runs_per_line, surface.surfaces());
        plan.full_lines += end - first == plan.runs_per_line ? shape.height : 0;
        for (std::uint64_t y = 0; y < shape.height; ++y) {
            for (std::uint64_t of = first; of < end; ++of) {
                plan.runs.push_back(lines[of * shape.height + y]);
            }
        }
        plan.rest_runs = end - first;
    }
    return plan;
}

SdpStreamPlan source_plan(const FeatureCube& cube, std::uint32_t surfaces, Bytes bus_width,
                          Cycles start) {
    SdpStreamPlan plan{.runs = {}, .beat = bus_width, .step = cube.atom, .start = start};
    if (one_pixel(cube.shape)) {
        plan.runs = {{cube.base, cube.atom * cube.surfaces()}};
        plan.step = cube.atom * surfaces;
        plan.steps_per_line = cube.surfaces() / surfaces;
        return plan;
    }
    plan.steps_per_line = cube.shape.width;
    plan.runs_per_line = surfaces;
    for (std::uint32_t first = 0; first < cube.surfaces(); first += surfaces) {
        for (std::uint32_t y = 0; y < cube.shape.height; ++y) {
            for (std::uint32_t surface = first; surface < first + surfaces; ++surface) {
                plan.runs.push_back({cube.line_address(surface, y), cube.line_bytes()});
            }
        }
    }
    return plan;
}

LateBytes OperandReader::fetch_late(const SdpOperandFetch& fetch, const Purpose& purpose) {
    const OperandSurface& surface = fetch.surface;
    LateBytes bytes(surface.extent().value);
    for (const ByteRun& run : surface.runs()) {
        const std::size_t offset = (run.address - surface.base).value;
        port.fetch_late(run.address, bytes, bytes.all().subspan(offset, run.bytes.value), purpose);
    }
    return bytes;
}

SdpStageOperands OperandReader::unpack(const SdpOperandFetch& fetch,
                                       std::span<const std::uint8_t> bytes) {
    SdpStageOperands operands;
    if (fetch.alu) {
        operands.alu = unpack_operand(fetch.surface, 0, bytes);
    }
    if (fetch.mul) {
        operands.mul = unpack_operand(fetch.surface, fetch.alu ? 1 : 0, bytes);
    }
    return operands;
}

SdpStageOperands OperandReader::fetch_part(const SdpOperandFetch& fetch, const TensorPart& part,
                                           const Purpose& purpose) {
    SdpOperandFetch near = fetch;
    OperandSurface& surface = near.surface;
    const std::uint32_t first =
        part.channel / surface.elements_per_atom * surface.elements_per_atom;
    surface.base = fetch.surface.address_of(first, part.line, 0);
    surface.shape.channels =
        std::min(fetch.surface.shape.channels - first, part.channel + part.shape.channels - first);
    surface.shape.channels =
        static_cast<std::uint32_t>(round_up(surface.shape.channels, surface.elements_per_atom));
    surface.shape.height = 1;
    SdpStageOperands operands = unpack(near, fetch_late(near, purpose).all());
    const auto met = [&](Tensor<std::int16_t>& values) {
        if (values.values.empty()) {
            return;
        }
        const bool per_channel = surface.spread == OperandSpread::PerChannel;
        values = cut(values, {part.channel - first,
                              0,
                              per_channel ? 0 : part.column,
                              {part.shape.channels, 1, per_channel ? 1 : part.shape.width}});
    };
    met(operands.alu);
    met(operands.mul);
    return operands;
}

void OperandReader::open(const SdpConfig& config, SdpStreamPlan plan,
                         const std::vector<Cycles>& taken, const Purpose& purpose) {
    stream_.emplace(config, std::move(plan), taken);
    use_beats_apart(1, Cycles(0));
    port.open(*stream_, purpose);
}

Cycles OperandReader::arrival(Activity& activity, std::uint64_t atom) {
    const std::uint64_t beats = stream_->needed(atom);
    if (!stream_->issued(beats)) {
        port.wait_issued(activity, beats, nullptr, WaitKind::Ahead);
    }
    Cycles time;
    for (std::uint64_t i = 0; i < std::min(beats_of_atom_, beats); ++i) {
        const Cycles there = stream_->arrival(beats - i);
        time = std::max(time, there - std::min(there, apart_ * (beats_of_atom_ - 1 - i)));
    }
    return time;
}

void OperandReader::leave_out(std::uint64_t atoms) {
    const SdpStream::Shortened end = *stream_->without_last(atoms);
    if (end.beats > 0) {
        const std::vector<ByteRun> left_out = stream_->shorten(end);
        left_out_.insert(left_out_.end(), left_out.begin(), left_out.end());
        port.leave_out(end.beats, end.of_run);
    }
}

void OperandReader::finish(Activity& activity) {
    port.wait_issued(activity, stream_->beats(), nullptr, WaitKind::Ahead);
    for (const ByteRun& run : left_out_) {
        port.release(run);
    }
    left_out_.clear();
}

}  // namespace npuscope
