// SPDX-License-Identifier: Apache-2.0
// Layers without weights and windows, of few operations: lookups, products, concatenations, parts.
#include <fmt/format.h>

#include <limits>
#include <utility>

#include "sim/compile/nvdla/single_operations.h"
#include "sim/compile/nvdla/synthetic_values.h"

namespace npuscope {
namespace {

constexpr std::int64_t above_32_bits = std::numeric_limits<std::int32_t>::max();

/// Uses only the linear table, from above `start` on. All values are below the exponential table.
LookupConfig linear_lookup(std::int64_t far_above, std::int64_t start) {
    LookupConfig lut;
    lut.le_function = LeFunction::Linear;
    lut.le.start = lut.le.end = far_above;
    lut.lo.start = start;
    lut.lo.end = start + 256;
    lut.underflow_priority = lut.overflow_priority = lut.hybrid_priority = LookupTable::Lo;
    return lut;
}

/// An entry for each 8-bit integer: entry 0 is that of -129, and the last one, of 127, is already
/// beyond the table.
LookupConfig lookup_of_bytes(std::int64_t far_above, std::int32_t offset) {
    return linear_lookup(far_above, offset - 129);
}

}  // namespace

SdpYStage lookup_stage(std::int32_t offset) {
    SdpYStage stage;
    stage.bypass = stage.lut_bypass = false;
    stage.lut = lookup_of_bytes(above_32_bits, offset);
    return stage;
}

LookupConfig relu_lookup() {
    LookupConfig lut = linear_lookup(above_32_bits, 0);
    lut.lo.overflow.scale = 1;
    return lut;
}

std::vector<std::int16_t> lookup_entries(const std::vector<std::int8_t>& table) {
    std::vector<std::int16_t> entries(table.begin(), table.end());
    if (!entries.empty()) {
        entries.insert(entries.begin(), entries.front());
    }
    return entries;
}

namespace {

/// The second stage multiplies values below 0 by their channel's slope; the preceding stage has
/// scaled them up so that its rounding is a small part of a step.
std::optional<StoredCube> plan_slopes(const LookupTask& task, PlanContext& context) {
    if (!context.npu().sdp.bs || !context.npu().sdp.bn) {
        context.refuse(task.layer.name, {.sentence = "per-channel slopes need two SDP stages",
                                         .remedy = "choose a preset with both"});
        return std::nullopt;
    }
    const LayerNumbers& given = *task.given;
    StoredCube output = context.place_cube(task.layer.name, task.shapes.output, task.input.lanes);
    const FeatureCube whole = whole_atoms(output.cube);
    const BiasShape shape{output.cube.surfaces(), output.cube.channels_per_atom(), task.input.lanes,
                          output.cube.shape.channels};
    const auto [base, image] = context.place_image(task.layer.name + "_slopes",
                                                   Bytes(std::uint64_t{2} * whole.shape.channels));
    if (!image.empty()) {
        fill_operands(shape, image, given.factor, {});
    }
    SdpJob job = context.elementwise_job(task.input, output);
    job.stages.bs.bypass = job.stages.bn.bypass = false;
    job.stages.bs.alu = {.bypass = false, .operand = given.constant};
    job.stages.bs.mul = {.bypass = false, .operand = given.gain};
    job.stages.bn.mul = {.bypass = false, .source = OperandSource::Memory, .prelu = true};
    job.stages.bn.shift_right = given.factor_shift;
    job.stages.convertor = given.convertor;
    SdpOperandFetch slopes =
        kernel_operand(base, whole_atoms(output.cube).shape, output.cube.channels_per_atom(), 1);
    slopes.alu = false;
    slopes.mul = true;
    job.operands[bn_stage] = slopes;
    std::vector<std::size_t> after;
    task.input.add_writer_of(task.input.whole(), after);
    context.add({task.layer.name, job, std::move(after)}, output.whole(), output);
    return output;
}

}  // namespace

std::optional<StoredCube> plan_lookup(const LookupTask& task, PlanContext& context) {
    const NpuConfig& npu = context.npu();
    if (task.table.empty()) {
        return plan_slopes(task, context);
    }
    if (!looks_up_in_sdp(npu) && !npu.cdp.present) {
        context.refuse(task.layer.name, {.sentence = "this NPU has no lookup table",
                                         .remedy = "choose a preset with a CDP"});
        return std::nullopt;
    }
    if (!looks_up_in_sdp(npu) && context.describable) {
        context.refuse(
            task.layer.name,
            {.sentence = "a loadable can describe only SDP lookups, and this NPU uses the CDP",
             .remedy = "plan it as a register program: --out DIR"});
        return std::nullopt;
    }
    StoredCube output = context.place_cube(task.layer.name, task.shapes.output, task.input.lanes);
    Operation operation{task.layer.name, {}, {}};
    operation.table = lookup_entries(task.table);
    if (looks_up_in_sdp(npu)) {
        SdpJob job = context.elementwise_job(task.input, output);
        job.stages.ew = lookup_stage(0);
        operation.job = job;
    } else {
        CdpJob job;
        job.shape = output.cube.shape;
        job.source = whole_atoms(task.input.cube);
        job.destination = whole_atoms(output.cube);
        job.source_in_sram = task.input.in_sram;
        job.destination_in_sram = output.in_sram;
        job.normalization.precision = context.precision;
        job.normalization.channels = job.shape.channels;
        job.normalization.square_sum_bypass = job.normalization.multiply_bypass = true;
        constexpr std::int64_t far_above = std::int64_t{1} << 20U;  // of 22 bits
        job.normalization.lut = lookup_of_bytes(far_above, 0);
        operation.job = job;
    }
    task.input.add_writer_of(task.input.whole(), operation.after);
    context.add(std::move(operation), output.whole(), output);
    return output;
}

namespace {

/// What multiplies a map of this shape: a map, or one value per channel.
SdpOperandFetch factor_operand(const StoredCube& factor, const FeatureCube& map) {
    SdpOperandFetch fetch = element_operand(factor.cube, factor.in_sram);
    fetch.alu = false;
    fetch.mul = true;
    const bool of_channels = factor.cube.shape.height * factor.cube.shape.width == 1 &&
                             map.shape.height * map.shape.width > 1;
    if (of_channels) {
        fetch.surface.spread = OperandSpread::PerChannel;
        fetch.surface.line_stride = fetch.surface.surface_stride = {};
        fetch.surface.shape = whole_atoms(map).shape;
    }
    return fetch;
}

/// Why a product of two maps cannot be planned.
std::optional<Diagnostic> mul_problem(const MulTask& task, const PlanContext& context) {
    if (context.describable) {
        return Diagnostic{.sentence = "a loadable's descriptors cannot describe a product of maps",
                          .remedy = "plan it as a register program: --out DIR"};
    }
    if (task.first.has_holes() || task.second.has_holes()) {
        return Diagnostic{.sentence = "one of its sources leaves atoms partly empty",
                          .remedy = "choose a preset with a larger cbuf",
                          .field = buffer_depth};
    }
    if (task.given != nullptr && !context.npu().sdp.bn) {
        return Diagnostic{.sentence = "multiplying maps of different scales needs two SDP stages",
                          .remedy = "choose a preset with both"};
    }
    return std::nullopt;
}

}  // namespace

std::optional<StoredCube> plan_mul(const MulTask& task, PlanContext& context) {
    const auto& [layer, shapes, first, second, given] = task;
    if (auto problem = mul_problem(task, context)) {
        context.refuse(layer.name, *std::move(problem));
        return std::nullopt;
    }
    StoredCube output = context.place_cube(layer.name, shapes.output, first.lanes);
    SdpJob job = context.elementwise_job(first, output);
    job.stages.convertor = given != nullptr ? given->convertor : rescale_mul();
    job.stages.bs.bypass = false;
    job.stages.bs.mul = {.bypass = false, .source = OperandSource::Memory};
    job.operands[bs_stage] = factor_operand(second, first.cube);
    if (given != nullptr) {
        job.stages.bs.alu = {.bypass = false, .operand = given->constant};
        job.stages.bn.bypass = false;
        job.stages.bn.relu = layer.relu;
        job.stages.bn.mul = {.bypass = false, .operand = given->gain};
        if (given->second_shift) {
            job.stages.bn.alu = add_stage(*given->second_shift, false).alu;
            job.operands[bn_stage] = element_operand(first.cube, first.in_sram);
        }
    }
    std::vector<std::size_t> after;
    first.add_writer_of(first.whole(), after);
    second.add_writer_of(second.whole(), after);
    context.add({layer.name, job, std::move(after)}, output.whole(), output);
    return output;
}

std::optional<StoredCube> plan_concat(const ConcatTask& task, PlanContext& context) {
    const std::uint32_t atom = context.channels_per_atom();
    for (std::size_t i = 0; i < task.inputs.size(); ++i) {
        const StoredCube& input = *task.inputs[i];
        const bool last = i + 1 == task.inputs.size();
        if (input.has_holes() || (!last && input.cube.shape.channels % atom != 0)) {
            context.refuse(task.layer.name,
                           {.sentence = fmt::format("it concatenates maps whose channels do not "
                                                    "fill atoms of {}, but units write whole atoms",
                                                    atom),
                            .remedy = "pad their channels, or choose a preset with smaller atoms"});
            return std::nullopt;
        }
    }
    StoredCube output = context.place_cube(task.layer.name, task.shapes.output, atom);
    std::uint32_t surface = 0;
    for (std::size_t i = 0; i < task.inputs.size(); ++i) {
        const StoredCube& input = *task.inputs[i];
        const FeatureCube source = whole_atoms(input.cube);
        FeatureCube part = output.cube;
        part.base = part.base + part.surface_stride * surface;
        part.shape.channels = source.shape.channels;
        SdpJob job = context.elementwise_job(input, output);
        job.destination = part;
        job.stages.convertor.offset = task.offsets.empty() ? 0 : task.offsets[i];
        std::vector<std::size_t> after;
        input.add_writer_of(input.whole(), after);
        const CubePart written{0, source.shape.height, surface, surface + source.surfaces()};
        context.add({task.layer.name, job, std::move(after)}, written, output);
        surface += source.surfaces();
    }
    return output;
}

std::optional<StoredCube> plan_slice(const SliceTask& task, PlanContext& context) {
    const std::uint32_t atom = context.channels_per_atom();
    if (task.input.has_holes() || task.begin.channels % atom != 0 || task.begin.width != 0) {
        context.refuse(
            task.layer.name,
            {.sentence = fmt::format("it begins at channel {} and column {}, but slices must begin "
                                     "at the start of an atom of {} channels and of a line",
                                     task.begin.channels, task.begin.width, atom),
             .remedy = "cut between atoms and lines, or choose a preset with smaller atoms"});
        return std::nullopt;
    }
    if (task.input.writers.empty() || !task.rest_read) {
        context.refuse(
            task.layer.name,
            {.sentence =
                 "no layer reads the rest of its source map, which would be computed in vain",
             .remedy = "slice before the layer that produces the map, or use the rest as well"});
        return std::nullopt;
    }
    StoredCube output = context.place_cube(task.layer.name, task.shapes.output, atom);
    SdpJob job = context.elementwise_job(task.input, output);
    job.shape = output.cube.shape;
    const std::uint32_t surface = task.begin.channels / atom;
    job.source->base = task.input.cube.line_address(surface, task.begin.height) +
                       task.input.cube.atom * task.begin.width;
    job.source->shape = whole_atoms(output.cube).shape;
    const CubePart read{task.begin.height, task.begin.height + job.shape.height, surface,
                        surface + output.cube.surfaces()};
    std::vector<std::size_t> after;
    task.input.add_writer_of(read, after);
    context.add({task.layer.name, job, std::move(after)}, output.whole(), output);
    return output;
}

}  // namespace npuscope
