// SPDX-License-Identifier: Apache-2.0
#include "models/pdp/pdp_registers.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "models/base/register_rows.h"
#include "models/layout/alignment.h"
#include "models/layout/register_coder.h"
#include "models/pdp/pdp_timing.h"
#include "models/pdp/window_flush.h"

namespace npuscope {
namespace {

// Registers of NVDLA_PDP: the planar (pooling) processor.
// source: NVDLA register specification, nv_small, NVDLA_PDP.rdl
constexpr RegisterText pdp_text[] = {
    {"S_STATUS", 0x00, {ro("STATUS_0", 0, 2), ro("STATUS_1", 16, 2)}},
    {"S_POINTER", 0x04, {rw("PRODUCER", 0, 1), ro("CONSUMER", 16, 1)}},
    {"D_OP_ENABLE", 0x08, {rw("OP_EN", 0, 1)}},
    {"D_DATA_CUBE_IN_WIDTH", 0x0c, {rw("CUBE_IN_WIDTH", 0, 13)}},
    {"D_DATA_CUBE_IN_HEIGHT", 0x10, {rw("CUBE_IN_HEIGHT", 0, 13)}},
    {"D_DATA_CUBE_IN_CHANNEL", 0x14, {rw("CUBE_IN_CHANNEL", 0, 13)}},
    {"D_DATA_CUBE_OUT_WIDTH", 0x18, {rw("CUBE_OUT_WIDTH", 0, 13)}},
    {"D_DATA_CUBE_OUT_HEIGHT", 0x1c, {rw("CUBE_OUT_HEIGHT", 0, 13)}},
    {"D_DATA_CUBE_OUT_CHANNEL", 0x20, {rw("CUBE_OUT_CHANNEL", 0, 13)}},
    {"D_OPERATION_MODE_CFG",
     0x24,
     {rw("POOLING_METHOD", 0, 2), rw("FLYING_MODE", 4, 1), rw("SPLIT_NUM", 8, 8)}},
    {"D_NAN_FLUSH_TO_ZERO", 0x28, {rw("NAN_TO_ZERO", 0, 1)}},
    {"D_PARTIAL_WIDTH_IN",
     0x2c,
     {rw("PARTIAL_WIDTH_IN_FIRST", 0, 10), rw("PARTIAL_WIDTH_IN_LAST", 10, 10),
      rw("PARTIAL_WIDTH_IN_MID", 20, 10)}},
    {"D_PARTIAL_WIDTH_OUT",
     0x30,
     {rw("PARTIAL_WIDTH_OUT_FIRST", 0, 10), rw("PARTIAL_WIDTH_OUT_LAST", 10, 10),
      rw("PARTIAL_WIDTH_OUT_MID", 20, 10)}},
    {"D_POOLING_KERNEL_CFG",
     0x34,
     {rw("KERNEL_WIDTH", 0, 4), rw("KERNEL_HEIGHT", 8, 4), rw("KERNEL_STRIDE_WIDTH", 16, 4),
      rw("KERNEL_STRIDE_HEIGHT", 20, 4)}},
    {"D_RECIP_KERNEL_WIDTH", 0x38, {rw("RECIP_KERNEL_WIDTH", 0, 17)}},
    {"D_RECIP_KERNEL_HEIGHT", 0x3c, {rw("RECIP_KERNEL_HEIGHT", 0, 17)}},
    {"D_POOLING_PADDING_CFG",
     0x40,
     {rw("PAD_LEFT", 0, 3), rw("PAD_TOP", 4, 3), rw("PAD_RIGHT", 8, 3), rw("PAD_BOTTOM", 12, 3)}},
    {"D_POOLING_PADDING_VALUE_1_CFG", 0x44, {rw("PAD_VALUE_1X", 0, 19)}},
    {"D_POOLING_PADDING_VALUE_2_CFG", 0x48, {rw("PAD_VALUE_2X", 0, 19)}},
    {"D_POOLING_PADDING_VALUE_3_CFG", 0x4c, {rw("PAD_VALUE_3X", 0, 19)}},
    {"D_POOLING_PADDING_VALUE_4_CFG", 0x50, {rw("PAD_VALUE_4X", 0, 19)}},
    {"D_POOLING_PADDING_VALUE_5_CFG", 0x54, {rw("PAD_VALUE_5X", 0, 19)}},
    {"D_POOLING_PADDING_VALUE_6_CFG", 0x58, {rw("PAD_VALUE_6X", 0, 19)}},
    {"D_POOLING_PADDING_VALUE_7_CFG", 0x5c, {rw("PAD_VALUE_7X", 0, 19)}},
    {"D_SRC_BASE_ADDR_LOW", 0x60, {rw("SRC_BASE_ADDR_LOW", 0, 32)}},
    {"D_SRC_BASE_ADDR_HIGH", 0x64, {rw("SRC_BASE_ADDR_HIGH", 0, 32)}},
    {"D_SRC_LINE_STRIDE", 0x68, {rw("SRC_LINE_STRIDE", 0, 32)}},
    {"D_SRC_SURFACE_STRIDE", 0x6c, {rw("SRC_SURFACE_STRIDE", 0, 32)}},
    {"D_DST_BASE_ADDR_LOW", 0x70, {rw("DST_BASE_ADDR_LOW", 0, 32)}},
    {"D_DST_BASE_ADDR_HIGH", 0x74, {rw("DST_BASE_ADDR_HIGH", 0, 32)}},
    {"D_DST_LINE_STRIDE", 0x78, {rw("DST_LINE_STRIDE", 0, 32)}},
    {"D_DST_SURFACE_STRIDE", 0x7c, {rw("DST_SURFACE_STRIDE", 0, 32)}},
    {"D_DST_RAM_CFG", 0x80, {rw("DST_RAM_TYPE", 0, 1)}},
    {"D_DATA_FORMAT", 0x84, {rw("INPUT_DATA", 0, 2)}},
    {"D_INF_INPUT_NUM", 0x88, {ro("INF_INPUT_NUM", 0, 32)}},
    {"D_NAN_INPUT_NUM", 0x8c, {ro("NAN_INPUT_NUM", 0, 32)}},
    {"D_NAN_OUTPUT_NUM", 0x90, {ro("NAN_OUTPUT_NUM", 0, 32)}},
    {"D_PERF_ENABLE", 0x94, {rw("DMA_EN", 0, 1)}},
    {"D_PERF_WRITE_STALL", 0x98, {ro("PERF_WRITE_STALL", 0, 32)}},
    {"D_CYA", 0x9c, {rw("CYA", 0, 32)}},
};
constexpr auto pdp_rows = to_rows(pdp_text);

// Registers of NVDLA_PDP_RDMA: the read DMA of the planar (pooling) processor.
// source: NVDLA register specification, nv_small, NVDLA_PDP_RDMA.rdl
constexpr RegisterText pdp_rdma_text[] = {
    {"S_STATUS", 0x00, {ro("STATUS_0", 0, 2), ro("STATUS_1", 16, 2)}},
    {"S_POINTER", 0x04, {rw("PRODUCER", 0, 1), ro("CONSUMER", 16, 1)}},
    {"D_OP_ENABLE", 0x08, {rw("OP_EN", 0, 1)}},
    {"D_DATA_CUBE_IN_WIDTH", 0x0c, {rw("CUBE_IN_WIDTH", 0, 13)}},
    {"D_DATA_CUBE_IN_HEIGHT", 0x10, {rw("CUBE_IN_HEIGHT", 0, 13)}},
    {"D_DATA_CUBE_IN_CHANNEL", 0x14, {rw("CUBE_IN_CHANNEL", 0, 13)}},
    {"D_FLYING_MODE", 0x18, {rw("FLYING_MODE", 0, 1)}},
    {"D_SRC_BASE_ADDR_LOW", 0x1c, {rw("SRC_BASE_ADDR_LOW", 0, 32)}},
    {"D_SRC_BASE_ADDR_HIGH", 0x20, {rw("SRC_BASE_ADDR_HIGH", 0, 32)}},
    {"D_SRC_LINE_STRIDE", 0x24, {rw("SRC_LINE_STRIDE", 0, 32)}},
    {"D_SRC_SURFACE_STRIDE", 0x28, {rw("SRC_SURFACE_STRIDE", 0, 32)}},
    {"D_SRC_RAM_CFG", 0x2c, {rw("SRC_RAM_TYPE", 0, 1)}},
    {"D_DATA_FORMAT", 0x30, {rw("INPUT_DATA", 0, 2)}},
    {"D_OPERATION_MODE_CFG", 0x34, {rw("SPLIT_NUM", 0, 8)}},
    {"D_POOLING_KERNEL_CFG", 0x38, {rw("KERNEL_WIDTH", 0, 4), rw("KERNEL_STRIDE_WIDTH", 4, 4)}},
    {"D_POOLING_PADDING_CFG", 0x3c, {rw("PAD_WIDTH", 0, 4)}},
    {"D_PARTIAL_WIDTH_IN",
     0x40,
     {rw("PARTIAL_WIDTH_IN_FIRST", 0, 10), rw("PARTIAL_WIDTH_IN_LAST", 10, 10),
      rw("PARTIAL_WIDTH_IN_MID", 20, 10)}},
    {"D_PERF_ENABLE", 0x44, {rw("DMA_EN", 0, 1)}},
    {"D_PERF_READ_STALL", 0x48, {ro("PERF_READ_STALL", 0, 32)}},
    {"D_CYA", 0x4c, {rw("CYA", 0, 32)}},
};
constexpr auto pdp_rdma_rows = to_rows(pdp_rdma_text);

constexpr std::uint32_t largest_kernel = 8;  // source: NVDLA_PDP.rdl, KERNEL_WIDTH_8
constexpr FieldName split_field{"D_OPERATION_MODE_CFG", "SPLIT_NUM"};
constexpr FieldName method_field{"D_OPERATION_MODE_CFG", "POOLING_METHOD"};
constexpr FieldName out_width_field{"D_DATA_CUBE_OUT_WIDTH", "CUBE_OUT_WIDTH"};
constexpr FieldName out_height_field{"D_DATA_CUBE_OUT_HEIGHT", "CUBE_OUT_HEIGHT"};

// --- sizes and windows --------------------------------------------------------------------------

template <class Visitor, class Size>
void describe_input(Visitor& visit, Size& input) {
    visit.shape({"D_DATA_CUBE_IN_CHANNEL", "CUBE_IN_CHANNEL"},
                {"D_DATA_CUBE_IN_HEIGHT", "CUBE_IN_HEIGHT"},
                {"D_DATA_CUBE_IN_WIDTH", "CUBE_IN_WIDTH"}, input);
}

template <class Visitor, class Size>
void describe_output(Visitor& visit, Size& output) {
    visit.shape({"D_DATA_CUBE_OUT_CHANNEL", "CUBE_OUT_CHANNEL"},
                {out_height_field.register_name, out_height_field.field_name},
                {out_width_field.register_name, out_width_field.field_name}, output);
}

template <class Visitor, class Pooling>
void describe_method(Visitor& visit, Pooling& pooling) {
    auto code = static_cast<std::uint32_t>(pooling.method);
    visit.field(method_field.register_name, method_field.field_name, code);
    if constexpr (Visitor::decodes) {
        visit.refuse_unless(code <= 2, method_field, "unknown pooling method",
                            "0 average, 1 max, 2 min");
        pooling.method = static_cast<PoolingMethod>(code);
    }
}

template <class Visitor, class Number>
void describe_kernel(Visitor& visit, std::string_view field, Number& kernel) {
    const FieldName name{"D_POOLING_KERNEL_CFG", field};
    visit.size(name.register_name, name.field_name, kernel);
    if constexpr (Visitor::decodes) {
        visit.refuse_unless(kernel <= largest_kernel, name, "the kernel is larger than 8",
                            "pool in several passes");
    }
}

template <class Visitor, class Pooling>
void describe_pooling(Visitor& visit, Pooling& pooling) {
    describe_method(visit, pooling);
    describe_kernel(visit, "KERNEL_WIDTH", pooling.kernel_width);
    describe_kernel(visit, "KERNEL_HEIGHT", pooling.kernel_height);
    visit.size("D_POOLING_KERNEL_CFG", "KERNEL_STRIDE_WIDTH", pooling.stride_x);
    visit.size("D_POOLING_KERNEL_CFG", "KERNEL_STRIDE_HEIGHT", pooling.stride_y);
    visit.field("D_POOLING_PADDING_CFG", "PAD_TOP", pooling.pad_top);
    if (visit.unused(pooling.method != PoolingMethod::Average)) {
        return;
    }
    visit.field("D_RECIP_KERNEL_WIDTH", "RECIP_KERNEL_WIDTH", pooling.recip_width);
    visit.field("D_RECIP_KERNEL_HEIGHT", "RECIP_KERNEL_HEIGHT", pooling.recip_height);
    for (std::size_t n = 1; n < pooling.pad_value.size(); ++n) {
        visit.signed_field(fmt::format("D_POOLING_PADDING_VALUE_{}_CFG", n),
                           fmt::format("PAD_VALUE_{}X", n), pooling.pad_value[n]);
    }
}

// --- what the sizes require of each other -------------------------------------------------------

/// Positions along one axis, padding included.
struct Extent : PooledExtent {
    std::uint32_t outputs(std::uint32_t kernel, std::uint32_t stride) const {
        const std::uint32_t all = pad_before + size + pad_after;
        return all < kernel ? 0U : (all - kernel) / stride + 1U;
    }
    /// Whether each of `count` windows holds a real position.
    bool all_real(std::uint32_t count, std::uint32_t kernel, std::uint32_t stride) const {
        return pad_before < kernel && (count - 1U) * stride < pad_before + size;
    }
};

Extent decode_extent(const RegisterDecoder& pdp, std::string_view before, std::uint32_t size,
                     std::string_view after) {
    return {{pdp.values().field("D_POOLING_PADDING_CFG", before), size,
             pdp.values().field("D_POOLING_PADDING_CFG", after)}};
}

/// Along one axis: there are `outputs` windows, and none lies entirely in the padding.
void check_axis(RegisterDecoder& pdp, const Extent& extent, const FieldName& outputs,
                std::uint32_t kernel, std::uint32_t stride) {
    const std::uint32_t programmed = pdp.values().size(outputs.register_name, outputs.field_name);
    const std::uint32_t fitting = extent.outputs(kernel, stride);
    pdp.refuse_unless(
        programmed == fitting, outputs,
        fmt::format(
            "the number of windows of {} with stride {} ({}) that fit into padding {} + input "
            "{} + padding {} ({}; {}, {}) is {}",
            kernel, stride, spelled(pdp.unit(), "D_POOLING_KERNEL_CFG"), extent.pad_before,
            extent.size, extent.pad_after, spelled(pdp.unit(), "D_POOLING_PADDING_CFG"),
            spelled(pdp.unit(), "D_DATA_CUBE_IN_WIDTH"),
            spelled(pdp.unit(), "D_DATA_CUBE_IN_HEIGHT"), fitting),
        fitting != 0 ? fmt::format("write {}", fitting - 1U)
        : outputs.register_name == "D_PARTIAL_WIDTH_OUT"
            ? "set D_OPERATION_MODE_CFG.SPLIT_NUM to 0, or write D_PARTIAL_WIDTH_IN and _OUT"
            : "add padding or take a smaller kernel");
    pdp.refuse_unless(extent.all_real(programmed, kernel, stride), outputs,
                      "a window lies entirely in the padding",
                      "padding must be smaller than the kernel");
    if (programmed != fitting || fitting == 0 ||
        flushed_windows(extent, kernel, stride) == ending_windows(extent, kernel, stride)) {
        return;
    }
    pdp.refuse_as(
        outputs,
        fmt::format(
            "windows of {} with stride {} do not cover {} of {} padding positions after the input: "
            "the PDP ends {} of its windows there, not {}, so its results are wrong and the "
            "surplus ones stay in the unit: the next pooling operation hangs or starts with them",
            kernel, stride, uncovered(extent, kernel, stride), extent.pad_after,
            flushed_windows(extent, kernel, stride), ending_windows(extent, kernel, stride)),
        fmt::format(
            "set the padding at the end to {}",
            extent.pad_after - std::min(extent.pad_after, uncovered(extent, kernel, stride))),
        "windows_flushed");
}

/// The slices of a split: their widths as programmed, first, middle and last.
class Slices {
 public:
    Slices(RegisterDecoder& pdp, const PdpPooling& pooling)
        : pdp_(pdp),
          pooling_(pooling),
          count_(pdp.values().size(split_field.register_name, split_field.field_name)) {}

    std::vector<PdpPart> all(const Extent& columns, bool from_memory) {
        pdp_.refuse_unless(from_memory || count_ == 1, split_field, "input on the fly is not split",
                           "write 0, or pool from memory");
        if (count_ == 1) {
            check_axis(pdp_, columns, out_width_field, pooling_.kernel_width, pooling_.stride_x);
            return {{0, columns.size, columns.pad_before, 0, pooling_.output.width}};
        }
        std::vector<PdpPart> parts;
        std::uint32_t begin = 0;
        std::uint32_t out_begin = 0;
        for (std::uint32_t i = 0; i < count_ && !pdp_.refused(); ++i) {
            parts.push_back(part(i, begin, out_begin, columns));
            begin += width("IN", i);
            out_begin += parts.back().out_width;
        }
        pdp_.refuse_unless(
            begin == columns.size && out_begin == pooling_.output.width, split_field,
            fmt::format("the slices add up to {} columns in and {} out, not {} and {}", begin,
                        out_begin, columns.size, pooling_.output.width),
            "make D_PARTIAL_WIDTH_IN and D_PARTIAL_WIDTH_OUT cover the cubes");
        return parts;
    }

 private:
    /// `side`: IN or OUT.
    std::string field(const char* side, std::uint32_t i) const {
        const char* const place = i == 0 ? "FIRST" : i + 1 == count_ ? "LAST" : "MID";
        return fmt::format("PARTIAL_WIDTH_{}_{}", side, place);
    }
    std::uint32_t width(const char* side, std::uint32_t i) const {
        return pdp_.values().size(fmt::format("D_PARTIAL_WIDTH_{}", side), field(side, i));
    }

    /// After the first slice each one starts kernel - stride columns early, or late when negative.
    PdpPart part(std::uint32_t i, std::uint32_t begin, std::uint32_t out_begin,
                 const Extent& columns) {
        const std::int64_t overlap =
            i == 0 ? 0 : std::int64_t{pooling_.kernel_width} - pooling_.stride_x;
        const std::int64_t columns_in = overlap + width("IN", i);
        if (columns_in < 1 || overlap > begin) {
            const std::string in_field = field("IN", i);
            pdp_.refuse({"D_PARTIAL_WIDTH_IN", in_field}, "too narrow for kernel and stride",
                        "make the slice wider");
            return {};
        }
        const Extent extent{{i == 0 ? columns.pad_before : 0U,
                             static_cast<std::uint32_t>(columns_in),
                             i + 1 == count_ ? columns.pad_after : 0U}};
        const std::string out_field = field("OUT", i);
        check_axis(pdp_, extent, {"D_PARTIAL_WIDTH_OUT", out_field}, pooling_.kernel_width,
                   pooling_.stride_x);
        return {static_cast<std::uint32_t>(begin - overlap), extent.size, extent.pad_before,
                out_begin, width("OUT", i)};
    }

    RegisterDecoder& pdp_;
    const PdpPooling& pooling_;
    std::uint32_t count_;
};

void check_line_buffer(RegisterDecoder& pdp, const PdpPooling& pooling, const PdpConfig& config) {
    const std::uint32_t room = line_buffer_columns(pooling, config);
    for (const PdpPart& part : pooling.parts) {
        pdp.refuse_unless(
            part.out_width <= room, pooling.parts.size() == 1 ? out_width_field : split_field,
            fmt::format("the line buffer holds {} columns of output, but a slice has {}", room,
                        part.out_width),
            "split the width (D_OPERATION_MODE_CFG.SPLIT_NUM)");
    }
}

void decode_parts(RegisterDecoder& pdp, bool from_memory, const PdpConfig& config, PdpJob& job) {
    PdpPooling& pooling = job.pooling;
    const Extent columns = decode_extent(pdp, "PAD_LEFT", job.input.width, "PAD_RIGHT");
    const Extent rows = decode_extent(pdp, "PAD_TOP", job.input.height, "PAD_BOTTOM");
    check_axis(pdp, rows, out_height_field, pooling.kernel_height, pooling.stride_y);
    pooling.parts = Slices(pdp, pooling).all(columns, from_memory);
    check_line_buffer(pdp, pooling, config);
}

/// The read DMA's own copies of what both units need.
void check_rdma(RegisterDecoder& rdma, const RegisterDecoder& pdp) {
    for (const FieldName& name : {FieldName{"D_DATA_CUBE_IN_WIDTH", "CUBE_IN_WIDTH"},
                                  FieldName{"D_DATA_CUBE_IN_HEIGHT", "CUBE_IN_HEIGHT"},
                                  FieldName{"D_DATA_CUBE_IN_CHANNEL", "CUBE_IN_CHANNEL"},
                                  split_field, FieldName{"D_DATA_FORMAT", "INPUT_DATA"}}) {
        rdma.require_same(pdp.values(), name);
    }
    if (pdp.values().field(split_field.register_name, split_field.field_name) == 0) {
        return;
    }
    for (const FieldName& name : {FieldName{"D_PARTIAL_WIDTH_IN", "PARTIAL_WIDTH_IN_FIRST"},
                                  FieldName{"D_PARTIAL_WIDTH_IN", "PARTIAL_WIDTH_IN_LAST"},
                                  FieldName{"D_PARTIAL_WIDTH_IN", "PARTIAL_WIDTH_IN_MID"},
                                  FieldName{"D_POOLING_KERNEL_CFG", "KERNEL_WIDTH"},
                                  FieldName{"D_POOLING_KERNEL_CFG", "KERNEL_STRIDE_WIDTH"}}) {
        rdma.require_same(pdp.values(), name);
    }
}

// --- from a job to its registers ----------------------------------------------------------------

/// First, last and middle slice of a split; the columns that a slice shares with the previous one
/// do not count as its input. `side`: IN or OUT.
void encode_slices(RegisterEncoder& registers, const std::string& side, const PdpPooling& pooling) {
    const auto& parts = pooling.parts;
    if (parts.size() < 2) {
        return;
    }
    const std::int64_t overlap = std::int64_t{pooling.kernel_width} - pooling.stride_x;
    const auto encode = [&](const char* place, std::size_t i) {
        const std::int64_t own = side == "OUT" ? std::int64_t{parts[i].out_width}
                                 : i == 0      ? std::int64_t{parts[i].in_width}
                                               : parts[i].in_width - overlap;
        registers.size("D_PARTIAL_WIDTH_" + side, "PARTIAL_WIDTH_" + side + "_" + place,
                       static_cast<std::uint64_t>(own));
    };
    encode("FIRST", 0);
    encode("LAST", parts.size() - 1);
    if (parts.size() > 2) {
        encode("MID", 1);
    }
}

/// Padding on the left and, as far as the windows reach beyond the input, on the right and below.
void encode_padding(RegisterEncoder& registers, const PdpJob& job) {
    const PdpPooling& pooling = job.pooling;
    const auto beyond = [](std::uint32_t reached, std::uint32_t size) {
        return reached > size ? reached - size : 0;
    };
    const std::uint32_t columns = (job.output.width - 1) * pooling.stride_x + pooling.kernel_width;
    const std::uint32_t rows = (job.output.height - 1) * pooling.stride_y + pooling.kernel_height;
    const std::uint32_t left = pooling.parts.front().pad_left;
    registers.field("D_POOLING_PADDING_CFG", "PAD_LEFT", left);
    registers.field("D_POOLING_PADDING_CFG", "PAD_RIGHT", beyond(columns, left + job.input.width));
    registers.field("D_POOLING_PADDING_CFG", "PAD_BOTTOM",
                    beyond(rows, pooling.pad_top + job.input.height));
}

RegisterValues encode_rdma(const PdpJob& job) {
    RegisterEncoder registers(pdp_rdma_block);
    const PdpPooling& pooling = job.pooling;
    describe_input(registers, job.input);
    registers.cube("SRC", *job.source);
    encode_slices(registers, "IN", pooling);
    registers.flag("D_FLYING_MODE", "FLYING_MODE", true);
    registers.inverse_flag("D_SRC_RAM_CFG", "SRC_RAM_TYPE", job.source_in_sram);
    registers.field("D_DATA_FORMAT", "INPUT_DATA", pooling.precision);
    registers.size(split_field.register_name, split_field.field_name, pooling.parts.size());
    registers.size("D_POOLING_KERNEL_CFG", "KERNEL_WIDTH", pooling.kernel_width);
    registers.size("D_POOLING_KERNEL_CFG", "KERNEL_STRIDE_WIDTH", pooling.stride_x);
    registers.field("D_POOLING_PADDING_CFG", "PAD_WIDTH", pooling.parts.front().pad_left);
    registers.flag("D_PERF_ENABLE", "DMA_EN", job.count_stalls);
    return registers.values();
}

}  // namespace

constinit const RegisterBlock pdp_block{"NVDLA_PDP", 0xb000, pdp_rows};
constinit const RegisterBlock pdp_rdma_block{"NVDLA_PDP_RDMA", 0xa000, pdp_rdma_rows};

std::uint32_t line_buffer_columns(const PdpPooling& pooling, const PdpConfig& config) {
    std::uint32_t ways = 1;  // banks are shared by a power-of-two number of lines
    while (ways < buffered_lines(pooling.kernel_height, pooling.stride_y)) {
        ways *= 2U;
    }
    return std::max(1U, config.line_buffer_banks / ways) * config.line_buffer_bank_atoms;
}

std::optional<PdpJob> decode_pdp(const RegisterValues& pdp_values,
                                 const RegisterValues& rdma_values, const PdpConfig& config,
                                 const DatapathConfig& datapath, Diagnostics& findings) {
    if (!config.present) {
        refuse_unit("NVDLA_PDP", "this NPU has no PDP", "choose a preset with pdp.present = true",
                    findings);
        return std::nullopt;
    }
    RegisterDecoder pdp(pdp_values, findings);
    RegisterDecoder rdma(rdma_values, findings);
    PdpJob job;
    bool from_memory = false;
    describe_input(pdp, job.input);
    describe_output(pdp, job.output);
    pdp.precision({"D_DATA_FORMAT", "INPUT_DATA"}, datapath, job.pooling.precision);
    pdp.refuse_unless(job.input.channels == job.output.channels,
                      {"D_DATA_CUBE_OUT_CHANNEL", "CUBE_OUT_CHANNEL"},
                      fmt::format("the number of input channels is {} ({})", job.input.channels,
                                  spelled(pdp.unit(), "D_DATA_CUBE_IN_CHANNEL")),
                      "pooling keeps the channels");
    job.pooling.output = job.output;
    describe_pooling(pdp, job.pooling);
    pdp.flag("D_OPERATION_MODE_CFG", "FLYING_MODE", from_memory);
    decode_parts(pdp, from_memory, config, job);
    const Bytes element(bytes_of(job.pooling.precision));
    job.destination = decode_cube(pdp, "DST", job.output, datapath.memory_atom, element);
    pdp.inverse_flag("D_DST_RAM_CFG", "DST_RAM_TYPE", job.destination_in_sram);
    pdp.flag("D_PERF_ENABLE", "DMA_EN", job.count_stalls);
    if (from_memory) {
        check_rdma(rdma, pdp);
        job.source = decode_cube(rdma, "SRC", job.input, datapath.memory_atom, element);
        pdp.flag("D_NAN_FLUSH_TO_ZERO", "NAN_TO_ZERO", job.pooling.nan_to_zero);
        job.pooling.nan_to_zero &= job.pooling.precision == Precision::Fp16;
        rdma.inverse_flag("D_SRC_RAM_CFG", "SRC_RAM_TYPE", job.source_in_sram);
    }
    return unless_refused(std::move(job), findings);
}

std::vector<RegisterValues> encode_pdp(const PdpJob& job) {
    std::vector<RegisterValues> blocks;
    if (!job.flying()) {
        blocks.push_back(encode_rdma(job));
    }
    RegisterEncoder registers(pdp_block);
    describe_input(registers, job.input);
    describe_output(registers, job.output);
    describe_pooling(registers, job.pooling);
    encode_padding(registers, job);
    encode_slices(registers, "IN", job.pooling);
    encode_slices(registers, "OUT", job.pooling);
    if (job.source) {
        registers.cube("SRC", *job.source);
    }
    registers.cube("DST", job.destination);
    registers.flag("D_OPERATION_MODE_CFG", "FLYING_MODE", !job.flying());
    registers.size(split_field.register_name, split_field.field_name, job.pooling.parts.size());
    registers.flag("D_NAN_FLUSH_TO_ZERO", "NAN_TO_ZERO", job.pooling.nan_to_zero);
    registers.inverse_flag("D_DST_RAM_CFG", "DST_RAM_TYPE", job.destination_in_sram);
    registers.field("D_DATA_FORMAT", "INPUT_DATA", job.pooling.precision);
    registers.flag("D_PERF_ENABLE", "DMA_EN", job.count_stalls);
    blocks.push_back(registers.values());
    return blocks;
}

std::optional<Diagnostic> lines_left(const PdpJob& job, const std::string& name) {
    const std::uint32_t pooled = job.lines_pooled();
    if (pooled == job.input.height) {
        return std::nullopt;
    }
    Diagnostic finding;
    finding.severity = Severity::Warning;
    finding.id = "lines_left";
    finding.unit = "NVDLA_PDP";
    finding.register_name = spelled("NVDLA_PDP", "D_DATA_CUBE_IN_HEIGHT");
    finding.operation = name;
    finding.sentence = fmt::format(
        "{} is {:#x}, {} lines, but the last window, number {} ({} is {:#x}), ends at line {}: the "
        "PDP stops at its last result and processes the remaining lines, {} in all, with the other "
        "group's registers",
        finding.register_name, job.input.height - 1, job.input.height, job.output.height,
        spelled("NVDLA_PDP", "D_DATA_CUBE_OUT_HEIGHT"), job.output.height - 1, pooled,
        job.input.height - pooled);
    finding.remedy = fmt::format(
        "set the height to {} in NVDLA_PDP and NVDLA_PDP_RDMA (or the SDP)", pooled - 1);
    return finding;
}

std::vector<SurfaceUse> surfaces_of(const PdpJob& job) {
    std::vector<SurfaceUse> uses;
    if (job.source) {
        uses.push_back(source_use("NVDLA_PDP_RDMA", *job.source));
    }
    uses.push_back(result_use("NVDLA_PDP", job.destination));
    return uses;
}

}  // namespace npuscope
