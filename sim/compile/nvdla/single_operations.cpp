// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/single_operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/compile/nvdla/synthetic_values.h"

namespace npuscope {
namespace {

constexpr std::uint32_t largest_kernel = 8;   // source: NVDLA_PDP.rdl, KERNEL_WIDTH_8
constexpr std::uint32_t largest_stride = 16;  // source: NVDLA_PDP.rdl, KERNEL_STRIDE_WIDTH
constexpr std::uint32_t one = 65536;          // of the reciprocals; source: NVDLA_PDP.rdl

bool fits_registers(const LayerWindow& window) {
    return std::max(window.rows, window.columns) <= largest_kernel &&
           std::max(window.stride_y, window.stride_x) <= largest_stride;
}

std::uint32_t reciprocal(std::uint32_t size) { return (one + size / 2) / size; }

/// Widths of output: registers hold that of the first slice, of the last and of all between, so
/// the ends take what does not divide.
std::vector<std::uint32_t> slice_widths(std::uint32_t width, std::uint32_t most) {
    auto count = static_cast<std::uint32_t>(divide_up(width, most));
    while (width % count > 2 * (most - width / count)) {
        ++count;
    }
    std::vector<std::uint32_t> widths(count, width / count);
    const std::uint32_t rest = width % count;
    const std::uint32_t behind = std::min(rest, most - width / count);
    widths.back() += behind;
    widths.front() += rest - behind;
    return widths;
}

/// Neighbouring slices overlap by kernel - stride columns of input.
std::vector<PdpPart> cut_columns(const PoolTask& task, std::uint32_t most_columns) {
    const std::uint32_t kernel = task.shapes.window.columns;
    const std::uint32_t stride = task.shapes.window.stride_x;
    const std::uint32_t padding = task.shapes.window.pad_left;
    std::vector<PdpPart> parts;
    std::uint32_t out = 0;
    for (const std::uint32_t width : slice_widths(task.shapes.output.width, most_columns)) {
        PdpPart part;
        part.out_begin = out;
        part.out_width = width;
        part.pad_left = out == 0 ? padding : 0;
        part.in_begin = out == 0 ? 0 : out * stride - padding;
        out += width;
        const std::uint32_t reached = (out - 1) * stride + kernel - padding;
        const bool last = out == task.shapes.output.width;
        part.in_width = (last ? task.shapes.input.width : reached) - part.in_begin;
        parts.push_back(part);
    }
    return parts;
}

/// Lines up to the end of the last window. Of those after it the PDP would begin another window,
/// never end it, and stand still in the next operation. source: nv_small RTL, replayed
std::uint32_t lines_read(const LayerShapes& shapes) {
    const LayerWindow& window = shapes.window;
    const std::uint32_t end =
        (shapes.output.height - 1) * window.stride_y + window.rows - window.pad_top;
    return std::min(shapes.input.height, end);
}

/// Which layer is done on the way of a convolution's result to memory: an add, by the SDP's second
/// stage, or a pool, by the PDP. It must be the result's only reader; an add's other source is
/// older.
class Fusions {
 public:
    Fusions(const Network& network, const std::vector<LayerShapes>& shapes, const NpuConfig& npu)
        : network_(network), shapes_(shapes), npu_(npu), readers_(shapes.size(), 0) {
        for (const LayerShapes& layer : shapes) {
            for (const std::optional<std::size_t> source : layer.sources) {
                readers_[source.value_or(0)] += source ? 1U : 0U;
            }
        }
        for (const std::size_t output : network_outputs(network, shapes)) {
            ++readers_[output];  // it must lie in memory
        }
    }

    /// The convolution that an add or a pooling layer can be joined to.
    std::optional<std::size_t> before(std::size_t index) const {
        const LayerShapes& shapes = shapes_[index];
        switch (network_.layers[index].kind) {
            case LayerKind::Add: {
                const auto later =
                    std::max(computed(shapes.sources[0]), computed(shapes.sources[1]));
                const bool fits = read_once(later) && npu_.sdp.bn;
                return fits && may_join(*later) ? later : std::nullopt;
            }
            case LayerKind::MaxPool:
            case LayerKind::AvgPool:
                return read_once(shapes.sources.front()) && can_fuse_pool(shapes, npu_)
                           ? shapes.sources.front()
                           : std::nullopt;
            case LayerKind::Lookup:
                return read_once(shapes.sources.front()) && rounds_before(*shapes.sources.front())
                           ? shapes.sources.front()
                           : std::nullopt;
            case LayerKind::Conv:
            case LayerKind::Fc:
            case LayerKind::Mul:
            case LayerKind::Concat:
            case LayerKind::Input:
                break;
        }
        return std::nullopt;
    }

    /// Whether the SDP has a model's integers before its table: all but an offset is done by then.
    bool rounds_before(std::size_t conv) const {
        if (network_.numbers.empty() || !looks_up_in_sdp(npu_)) {
            return false;
        }
        const LayerNumbers& numbers = network_.numbers[conv];
        return numbers.convertor.scale == 1 && numbers.convertor.shift == 0 &&
               !numbers.joins_unclipped;
    }

    /// What a model clips first must be clipped first.
    bool may_join(std::size_t conv) const {
        return network_.numbers.empty() || network_.numbers[conv].joins_unclipped;
    }

 private:
    /// Inputs are there before any layer.
    std::optional<std::size_t> computed(std::optional<std::size_t> source) const {
        return source && network_.layers[*source].kind == LayerKind::Input ? std::nullopt : source;
    }
    bool read_once(std::optional<std::size_t> source) const {
        return source && readers_[*source] == 1 && network_.layers[*source].kind == LayerKind::Conv;
    }

    const Network& network_;
    const std::vector<LayerShapes>& shapes_;
    const NpuConfig& npu_;
    std::vector<std::size_t> readers_;
};

}  // namespace

PdpPooling pooling_of(const LayerWindow& window, PoolingMethod method) {
    PdpPooling pooling;
    pooling.method = method;
    pooling.kernel_width = window.columns;
    pooling.kernel_height = window.rows;
    pooling.stride_x = window.stride_x;
    pooling.stride_y = window.stride_y;
    pooling.pad_top = window.pad_top;
    if (method == PoolingMethod::Average) {
        pooling.recip_width = reciprocal(window.columns);
        pooling.recip_height = reciprocal(window.rows);
    }
    return pooling;
}

bool can_fuse_pool(const LayerShapes& pool, const NpuConfig& npu) {
    const LayerWindow& window = pool.window;
    const bool apart = window.rows == window.stride_y && window.columns == window.stride_x &&
                       window.pad_top == 0 && window.pad_left == 0;
    const bool whole = pool.input.height % window.rows == 0 &&
                       pool.input.width % window.columns == 0 && pool.output.height > 0;
    return npu.pdp.present && apart && whole &&
           std::max(window.rows, window.columns) <= largest_kernel &&
           pool.output.width <=
               line_buffer_columns(pooling_of(window, PoolingMethod::Max), npu.pdp);
}

std::optional<StoredCube> plan_pool(const PoolTask& task, PlanContext& context) {
    if (const LayerWindow& window = task.shapes.window; !fits_registers(window)) {
        context.refuse(
            task.layer.name,
            {.sentence = fmt::format("the PDP pools windows of up to 8 rows and columns with "
                                     "strides of up to 16, not {} x {} with {} and {}",
                                     window.rows, window.columns, window.stride_y, window.stride_x),
             .remedy = "pool in several layers"});
        return std::nullopt;
    }
    FeatureCube input = task.input.cube;
    input.shape.height = lines_read(task.shapes);
    StoredCube output = context.place_cube(task.layer.name, task.shapes.output, task.input.lanes);
    PdpJob job;
    job.source = whole_atoms(input);
    job.destination = whole_atoms(output.cube);
    job.source_in_sram = task.input.in_sram;
    job.destination_in_sram = output.in_sram;
    job.input = input.shape;
    job.output = output.cube.shape;
    PdpPooling& pooling = job.pooling;
    pooling = pooling_of(task.shapes.window, task.layer.kind == LayerKind::MaxPool
                                                 ? PoolingMethod::Max
                                                 : PoolingMethod::Average);
    pooling.precision = context.precision;
    pooling.output = job.output;
    pooling.parts = cut_columns(task, line_buffer_columns(pooling, context.npu().pdp));
    std::vector<std::size_t> after;
    task.input.add_writer_of(task.input.whole(), after);
    context.add({task.layer.name, job, std::move(after)}, output.whole(), output);
    return output;
}

namespace {

/// Of a sum. A descriptor has one source for both operands of a stage, so that a loadable's gain goes
/// into the stage after it, where there is one.
void set_gain(std::int16_t gain, const PlanContext& context, SdpStages& stages) {
    if (gain != 1 && context.describable && context.npu().sdp.element_wise) {
        stages.ew.bypass = false;
        stages.ew.mul.bypass = false;
        stages.ew.mul.operand = gain;
    } else if (gain != 1) {
        stages.bn.mul = {.bypass = false, .operand = gain};
    }
}

/// What follows a sum before its ReLU.
void set_second_stage(const LayerNumbers& given, SdpStages& stages) {
    if (given.constant == 0 && given.gain == 1) {
        return;
    }
    SdpXStage& bn = stages.bn;
    bn.bypass = false;
    bn.relu = std::exchange(stages.bs.relu, false);
    if (given.constant != 0) {
        bn.alu = {.bypass = false, .operand = given.constant};
    }
    if (given.gain != 1) {
        bn.mul = {.bypass = false, .operand = given.gain};
        bn.shift_right = given.gain_shift;
    }
}

}  // namespace

std::optional<StoredCube> plan_add(const AddTask& task, PlanContext& context) {
    const auto& [layer, shapes, first, second, given] = task;
    if (first.lanes != second.lanes) {
        context.refuse(layer.name, {.sentence = "one of its sources leaves atoms partly empty, the "
                                                "other does not",
                                    .remedy = "choose a preset with a larger cbuf",
                                    .field = buffer_depth});
        return std::nullopt;
    }
    StoredCube output = context.place_cube(layer.name, shapes.output, first.lanes);
    SdpJob job = context.elementwise_job(first, output);
    job.stages.convertor = given != nullptr ? given->convertor : rescale_add();
    const bool scaled = given != nullptr && (!given->factor.empty() || given->gain != 1);
    if (scaled && !context.npu().sdp.bn) {
        context.refuse(layer.name,
                       {.sentence = "an addition of two scales takes two stages of the SDP",
                        .remedy = "choose a preset with both"});
        return std::nullopt;
    }
    if (given != nullptr && !given->factor.empty()) {
        SdpXStage& bs = job.stages.bs;
        if (given->first_shift) {
            bs = add_stage(*given->first_shift, false);
            job.operands[bs_stage] = element_operand(second.cube, second.in_sram);
        } else {
            bs.bypass = false;
            bs.alu = {.bypass = false, .operand = given->constant};
        }
        bs.mul = {.bypass = false, .operand = given->factor.front()};
        job.stages.bn = add_stage(given->residual_shift, layer.relu);
        set_gain(given->gain, context, job.stages);
        job.operands[bn_stage] = element_operand(second.cube, second.in_sram);
    } else {
        job.stages.bs = add_stage(given != nullptr ? given->residual_shift : 0, layer.relu);
        job.operands[bs_stage] = element_operand(second.cube, second.in_sram);
    }
    if (given != nullptr && given->factor.empty()) {
        set_second_stage(*given, job.stages);
    }
    std::vector<std::size_t> after;
    first.add_writer_of(first.whole(), after);
    second.add_writer_of(second.whole(), after);
    context.add({layer.name, job, std::move(after)}, output.whole(), output);
    return output;
}

namespace {

/// An entry for each integer of 8 bits: a table's range begins above its start, so that entry 0 is that of
/// -129, and the last one, of 127, already lies beyond it. Everything lies below the exponential table.
LookupConfig lookup_of_bytes(std::int64_t far_above, std::int32_t offset) {
    LookupConfig lut;
    lut.le_function = LeFunction::Linear;
    lut.le.start = lut.le.end = far_above;
    lut.lo.start = offset - 129;
    lut.lo.end = offset + 127;
    lut.underflow_priority = lut.overflow_priority = lut.hybrid_priority = LookupTable::Lo;
    return lut;
}

}  // namespace

SdpYStage lookup_stage(std::int32_t offset) {
    SdpYStage stage;
    stage.bypass = stage.lut_bypass = false;
    stage.lut = lookup_of_bytes(std::numeric_limits<std::int32_t>::max(), offset);
    return stage;
}

std::vector<std::int16_t> lookup_entries(const std::vector<std::int8_t>& table) {
    std::vector<std::int16_t> entries(table.begin(), table.end());
    if (!entries.empty()) {
        entries.insert(entries.begin(), entries.front());
    }
    return entries;
}

std::optional<StoredCube> plan_lookup(const LookupTask& task, PlanContext& context) {
    const NpuConfig& npu = context.npu();
    if (!looks_up_in_sdp(npu) && !npu.cdp.present) {
        context.refuse(task.layer.name, {.sentence = "this NPU has no lookup table",
                                         .remedy = "choose a preset with a CDP"});
        return std::nullopt;
    }
    if (!looks_up_in_sdp(npu) && context.describable) {
        context.refuse(task.layer.name,
                       {.sentence = "loadables are written of lookups by the SDP, and here the CDP "
                                    "does them",
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

/// What multiplies a map of this shape: a map, or a number for each channel.
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

/// What stands against a product of two maps.
std::optional<Diagnostic> mul_problem(const MulTask& task, const PlanContext& context) {
    if (context.describable) {
        return Diagnostic{.sentence = "a loadable's descriptors cannot say a product of maps",
                          .remedy = "plan it as a register program: --out DIR"};
    }
    if (task.first.has_holes() || task.second.has_holes()) {
        return Diagnostic{.sentence = "one of its sources leaves atoms partly empty",
                          .remedy = "choose a preset with a larger cbuf",
                          .field = buffer_depth};
    }
    if (task.given != nullptr && !context.npu().sdp.bn) {
        return Diagnostic{.sentence = "a product of two scales takes two stages of the SDP",
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
                           {.sentence = fmt::format("it joins maps of channels that do not fill "
                                                    "atoms of {}, and a unit writes whole atoms",
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

std::vector<std::optional<std::size_t>> choose_fusions(const Network& network,
                                                       const std::vector<LayerShapes>& shapes,
                                                       const NpuConfig& npu) {
    const Fusions fusions(network, shapes, npu);
    std::vector<std::optional<std::size_t>> fused(shapes.size());
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        if (const auto conv = fusions.before(i); conv && !fused[*conv]) {
            fused[*conv] = i;
        }
    }
    return fused;
}

std::optional<Diagnostic> missing_fusion(const Network& network,
                                         const std::vector<std::optional<std::size_t>>& fused) {
    for (std::size_t i = 0; i < network.numbers.size(); ++i) {
        if (network.numbers[i].joins_unclipped && !fused[i]) {
            const std::string& name = network.layers[i].name;
            return Diagnostic{.sentence = fmt::format("layer '{}': its result is added to another "
                                                      "before it is clipped, which this NPU's SDP "
                                                      "cannot",
                                                      name),
                              .remedy = "clip it to int8 before the addition",
                              .operation = name};
        }
    }
    return std::nullopt;
}

}  // namespace npuscope
