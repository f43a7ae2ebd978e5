// SPDX-License-Identifier: Apache-2.0
#include "models/pdp/pdp_registers.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "models/layout/register_decoder.h"
#include "models/pdp/pdp_timing.h"

namespace npuscope {
namespace {

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
        visit.refuse_unless(code <= 2, method_field, "no such pooling method",
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

// --- what the sizes ask of each other -----------------------------------------------------------

/// Positions along one axis, padding included.
struct Extent {
    std::uint32_t pad_before = 0;
    std::uint32_t size = 0;
    std::uint32_t pad_after = 0;

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
    return {pdp.values().field("D_POOLING_PADDING_CFG", before), size,
            pdp.values().field("D_POOLING_PADDING_CFG", after)};
}

/// Along one axis: the windows are as many as `outputs`, and none lies in the padding altogether.
void check_axis(RegisterDecoder& pdp, const Extent& extent, const FieldName& outputs,
                std::uint32_t kernel, std::uint32_t stride) {
    const std::uint32_t programmed = pdp.values().size(outputs.register_name, outputs.field_name);
    const std::uint32_t fitting = extent.outputs(kernel, stride);
    pdp.refuse_unless(programmed == fitting, outputs,
                      fmt::format("{} windows of {} with stride {} fit into {} + {} + {}", fitting,
                                  kernel, stride, extent.pad_before, extent.size, extent.pad_after),
                      fitting == 0 ? "add padding or take a smaller kernel"
                                   : fmt::format("program {}", fitting - 1U));
    pdp.refuse_unless(extent.all_real(programmed, kernel, stride), outputs,
                      "a window lies in the padding altogether",
                      "padding must be smaller than the kernel");
}

/// The slices of a split: their widths as programmed, first, middle and last.
class Slices {
 public:
    Slices(RegisterDecoder& pdp, const PdpPooling& pooling)
        : pdp_(pdp),
          pooling_(pooling),
          count_(pdp.values().size(split_field.register_name, split_field.field_name)) {}

    std::vector<PdpPart> all(const Extent& columns) {
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
        const Extent extent{i == 0 ? columns.pad_before : 0U,
                            static_cast<std::uint32_t>(columns_in),
                            i + 1 == count_ ? columns.pad_after : 0U};
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
        pdp.refuse_unless(part.out_width <= room,
                          pooling.parts.size() == 1 ? out_width_field : split_field,
                          fmt::format("the line buffer holds {} columns of output, a slice has {}",
                                      room, part.out_width),
                          "split the width (D_OPERATION_MODE_CFG.SPLIT_NUM)");
    }
}

void decode_parts(RegisterDecoder& pdp, const PdpConfig& config, PdpJob& job) {
    PdpPooling& pooling = job.pooling;
    const Extent columns = decode_extent(pdp, "PAD_LEFT", job.input.width, "PAD_RIGHT");
    const Extent rows = decode_extent(pdp, "PAD_TOP", job.input.height, "PAD_BOTTOM");
    check_axis(pdp, rows, out_height_field, pooling.kernel_height, pooling.stride_y);
    pooling.parts = Slices(pdp, pooling).all(columns);
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

}  // namespace

std::uint32_t line_buffer_columns(const PdpPooling& pooling, const PdpConfig& config) {
    std::uint32_t ways = 1;  // banks are shared by a power of two of lines
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
    pdp.refuse_unless(
        job.input.channels == job.output.channels, {"D_DATA_CUBE_OUT_CHANNEL", "CUBE_OUT_CHANNEL"},
        fmt::format("the input has {} channels", job.input.channels), "pooling keeps the channels");
    job.pooling.output = job.output;
    describe_pooling(pdp, job.pooling);
    decode_parts(pdp, config, job);
    const Bytes element(bytes_of(job.pooling.precision));
    job.destination = decode_cube(pdp, "DST", job.output, datapath.memory_atom, element);
    pdp.inverse_flag("D_DST_RAM_CFG", "DST_RAM_TYPE", job.destination_in_sram);
    pdp.flag("D_PERF_ENABLE", "DMA_EN", job.count_stalls);
    pdp.flag("D_OPERATION_MODE_CFG", "FLYING_MODE", from_memory);
    if (from_memory) {
        check_rdma(rdma, pdp);
        job.source = decode_cube(rdma, "SRC", job.input, datapath.memory_atom, element);
        pdp.flag("D_NAN_FLUSH_TO_ZERO", "NAN_TO_ZERO", job.pooling.nan_to_zero);
        job.pooling.nan_to_zero &= job.pooling.precision == Precision::Fp16;
        rdma.inverse_flag("D_SRC_RAM_CFG", "SRC_RAM_TYPE", job.source_in_sram);
    }
    return unless_refused(std::move(job), findings);
}

}  // namespace npuscope
