// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/single_operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/compile/nvdla/synthetic_values.h"

namespace npuscope {
namespace {

constexpr std::uint32_t largest_kernel = 8;   // source: NVDLA_PDP.rdl, KERNEL_WIDTH_8
constexpr std::uint32_t largest_stride = 16;  // source: NVDLA_PDP.rdl, KERNEL_STRIDE_WIDTH
constexpr std::uint32_t firmware_stride = 8;  // source: NVDLA sw, kmd/firmware/pdp.c
constexpr std::uint32_t one = 65536;          // of the reciprocals; source: NVDLA_PDP.rdl

/// A loadable's strides are limited to those that the firmware accepts.
std::uint32_t most_stride(const PlanContext& context) {
    return context.describable ? firmware_stride : largest_stride;
}

bool fits_registers(const LayerWindow& window, std::uint32_t stride) {
    return std::max(window.rows, window.columns) <= largest_kernel &&
           std::max(window.stride_y, window.stride_x) <= stride;
}

std::uint32_t reciprocal(std::uint32_t size) { return (one + size / 2) / size; }

/// Widths of output: registers hold that of the first slice, of the last and of all between, so the
/// first and the last take the remainder.
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

/// Lines up to the end of the last window. With lines after it the PDP would begin another window,
/// never end it, and hang in the next operation. source: nv_small RTL, replayed
std::vector<RowPiece> cut_pool_rows(const LayerShapes& shapes) {
    const LayerWindow& window = shapes.window;
    const std::uint32_t height = shapes.output.height;
    const std::uint32_t most =
        shapes.input.height <= largest_cube_size && height <= largest_cube_size
            ? height
            : (largest_cube_size - window.rows) / window.stride_y + 1;
    const RowWindows windows{.in_rows = shapes.input.height,
                             .span = window.rows,
                             .stride = window.stride_y,
                             .pad_top = window.pad_top};
    std::vector<RowPiece> pieces;
    for (std::uint32_t begin = 0; begin < height; begin += most) {
        pieces.push_back(windows.piece(begin, std::min(most, height - begin)));
    }
    return pieces;
}

/// Which layer is applied on the fly to a convolution's result: an add, by the SDP's second stage,
/// or a pool, by the PDP. It must be the result's only reader; an add's other source must be older.
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
            ++readers_[output];  // it must be in memory
        }
    }

    /// The convolution that an add or a pooling layer can be joined to.
    std::optional<std::size_t> before(std::size_t index) const {
        const LayerShapes& shapes = shapes_[index];
        const LayerNumbers* numbers = given(index);
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
            case LayerKind::Slice:
                break;
            case LayerKind::Lookup:
                return (numbers == nullptr || !numbers->table.empty()) &&
                               read_once(shapes.sources.front()) &&
                               rounds_before(*shapes.sources.front())
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

    /// Whether the SDP has a model's integers before its table: only an offset is left to add then.
    bool rounds_before(std::size_t conv) const {
        const LayerNumbers* numbers = given(conv);
        return numbers != nullptr && looks_up_in_sdp(npu_) && numbers->convertor.scale == 1 &&
               numbers->convertor.shift == 0 && !numbers->joins_unclipped;
    }

    /// What a model clips before the join must be clipped first.
    bool may_join(std::size_t conv) const {
        const LayerNumbers* numbers = given(conv);
        return numbers == nullptr || numbers->joins_unclipped;
    }

 private:
    const LayerNumbers* given(std::size_t index) const {
        return network_.layers[index].given_numbers();
    }
    /// Inputs are available before any layer.
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
    const std::uint32_t stride = most_stride(context);
    if (const LayerWindow& window = task.shapes.window; !fits_registers(window, stride)) {
        context.refuse(
            task.layer.name,
            {.sentence = fmt::format(
                 "{} windows of up to 8 rows and columns with strides of up to {}, not {} x {} "
                 "with strides {} and {}",
                 context.describable ? "NVIDIA's firmware supports PDP" : "the PDP pools", stride,
                 window.rows, window.columns, window.stride_y, window.stride_x),
             .remedy = "split it into several pooling layers"});
        return std::nullopt;
    }
    StoredCube output = context.place_cube(task.layer.name, task.shapes.output, task.input.lanes);
    PdpJob job;
    job.source_in_sram = task.input.in_sram;
    job.destination_in_sram = output.in_sram;
    PdpPooling& pooling = job.pooling;
    pooling = pooling_of(task.shapes.window, task.layer.kind == LayerKind::MaxPool
                                                 ? PoolingMethod::Max
                                                 : PoolingMethod::Average);
    pooling.precision = context.precision;
    pooling.parts = cut_columns(task, line_buffer_columns(pooling, context.npu().pdp));
    const std::vector<RowPiece> pieces = cut_pool_rows(task.shapes);
    for (const RowPiece& piece : pieces) {
        FeatureCube input = task.input.cube;
        input.base = input.line_address(0, piece.in_begin);
        input.shape.height = piece.in_rows;
        FeatureCube part = output.cube;
        part.base = part.line_address(0, piece.out_begin);
        part.shape.height = piece.out_rows;
        job.source = whole_atoms(input);
        job.destination = whole_atoms(part);
        job.input = input.shape;
        job.output = pooling.output = part.shape;
        pooling.pad_top = piece.pad_top;
        std::string name = task.layer.name;
        if (pieces.size() > 1) {
            name += rows_text(piece.out_begin, piece.out_rows);
        }
        CubePart read = task.input.whole();
        read.row_begin = piece.in_begin;
        read.row_end = piece.in_begin + piece.in_rows;
        CubePart written = output.whole();
        written.row_begin = piece.out_begin;
        written.row_end = piece.out_begin + piece.out_rows;
        std::vector<std::size_t> after;
        task.input.add_writer_of(pieces.size() > 1 ? read : task.input.whole(), after);
        context.add({name, job, std::move(after)}, written, output);
    }
    return output;
}

namespace {

/// For a sum. A descriptor has one source for both operands of a stage, so a loadable's gain goes
/// into the next stage, where there is one.
void set_gain(std::int16_t gain, const PlanContext& context, SdpStages& stages) {
    if (gain != 1 && context.describable && context.npu().sdp.element_wise) {
        stages.ew.bypass = false;
        stages.ew.mul.bypass = false;
        stages.ew.mul.operand = gain;
    } else if (gain != 1) {
        stages.bn.mul = {.bypass = false, .operand = gain};
    }
}

/// What is applied to a sum before its ReLU.
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

Diagnostic differing_lanes(std::uint32_t one, std::uint32_t other) {
    return {.sentence = fmt::format("the convolution buffer holds so few kernels of one of its "
                                    "sources that atoms have {} channels, those of the other {}",
                                    std::min(one, other), std::max(one, other)),
            .remedy = "choose a preset with a larger cbuf",
            .field = buffer_depth};
}

std::optional<StoredCube> plan_add(const AddTask& task, PlanContext& context) {
    const auto& [layer, shapes, first, second, given] = task;
    if (first.lanes != second.lanes) {
        context.refuse(layer.name, differing_lanes(first.lanes, second.lanes));
        return std::nullopt;
    }
    StoredCube output = context.place_cube(layer.name, shapes.output, first.lanes);
    Operation operation{layer.name, {}, {}};
    SdpJob job = context.elementwise_job(first, output);
    job.stages.convertor = given != nullptr ? given->convertor : rescale_add();
    const bool scaled = given != nullptr && (!given->factor.empty() || given->gain != 1);
    if (scaled && !context.npu().sdp.bn) {
        context.refuse(layer.name,
                       {.sentence = "adding maps of different scales needs two SDP stages",
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
        const SdpOperandFetch operand = element_operand(second.cube, second.in_sram);
        if (given->other) {
            SdpYStage& ew = job.stages.ew;
            ew.bypass = ew.alu.bypass = false;
            ew.alu.source = OperandSource::Memory;
            ew.alu.convertor = {.bypass = false, .conversion = *given->other};
            job.operands[ew_stage] = operand;
            if (layer.relu) {
                ew.lut_bypass = false;
                ew.lut = relu_lookup();
                operation.table.resize(kLoEntries);
                std::iota(operation.table.begin(), operation.table.end(), std::int16_t{0});
            }
        } else {
            job.stages.bn = add_stage(given->residual_shift, layer.relu);
            set_gain(given->gain, context, job.stages);
            job.operands[bn_stage] = operand;
        }
    } else {
        job.stages.bs = add_stage(given != nullptr ? given->residual_shift : 0, layer.relu);
        job.operands[bs_stage] = element_operand(second.cube, second.in_sram);
    }
    if (given != nullptr && given->factor.empty()) {
        set_second_stage(*given, job.stages);
    }
    first.add_writer_of(first.whole(), operation.after);
    second.add_writer_of(second.whole(), operation.after);
    operation.job = job;
    context.add(std::move(operation), output.whole(), output);
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
    for (std::size_t i = 0; i < network.layers.size(); ++i) {
        const LayerNumbers* numbers = network.layers[i].given_numbers();
        if (numbers != nullptr && numbers->joins_unclipped && !fused[i]) {
            const std::string& name = network.layers[i].name;
            return Diagnostic{
                .sentence = fmt::format("layer '{}': its result is added to another before it is "
                                        "clipped, which this NPU's SDP cannot do",
                                        name),
                .remedy = "clip it to int8 before the addition",
                .operation = name};
        }
    }
    return std::nullopt;
}

}  // namespace npuscope
