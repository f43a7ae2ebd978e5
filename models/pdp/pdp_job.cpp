// SPDX-License-Identifier: Apache-2.0
#include "models/pdp/pdp_job.h"

#include <algorithm>

#include "models/layout/precision_reading.h"
#include "models/pdp/pdp_timing.h"

namespace npuscope {
namespace {

constexpr std::uint32_t kLargestKernel = 8;  // source: NVDLA_PDP.rdl, KERNEL_WIDTH_8
constexpr FieldName kSplitNumber{"D_OPERATION_MODE_CFG", "SPLIT_NUM"};
constexpr FieldName kOutWidth{"D_DATA_CUBE_OUT_WIDTH", "CUBE_OUT_WIDTH"};
constexpr FieldName kOutHeight{"D_DATA_CUBE_OUT_HEIGHT", "CUBE_OUT_HEIGHT"};

PoolingMethod read_method(const RegisterValues& pdp) {
    constexpr FieldName kMethod{"D_OPERATION_MODE_CFG", "POOLING_METHOD"};
    switch (pdp.field(kMethod.register_name, kMethod.field_name)) {
        case 0:
            return PoolingMethod::Average;
        case 1:
            return PoolingMethod::Max;
        case 2:
            return PoolingMethod::Min;
        default:
            refuse(pdp, kMethod, "no such pooling method", "0 average, 1 max, 2 min");
    }
}

std::uint32_t read_kernel(const RegisterValues& pdp, std::string_view field) {
    const FieldName name{"D_POOLING_KERNEL_CFG", field};
    const std::uint32_t kernel = pdp.size(name.register_name, name.field_name);
    if (kernel > kLargestKernel) {
        refuse(pdp, name, "the kernel is larger than 8", "pool in several passes");
    }
    return kernel;
}

Shape read_shape(const RegisterValues& pdp, std::string_view side) {
    const auto size = [&](std::string_view axis) {
        const std::string field = fmt::format("CUBE_{}_{}", side, axis);
        return pdp.size("D_DATA_" + field, field);
    };
    return {size("CHANNEL"), size("HEIGHT"), size("WIDTH")};
}

std::uint32_t read_padding(const RegisterValues& pdp, std::string_view field) {
    return pdp.field("D_POOLING_PADDING_CFG", field);
}

PdpPooling read_pooling(const RegisterValues& pdp) {
    PdpPooling pooling;
    pooling.method = read_method(pdp);
    pooling.kernel_width = read_kernel(pdp, "KERNEL_WIDTH");
    pooling.kernel_height = read_kernel(pdp, "KERNEL_HEIGHT");
    pooling.stride_x = pdp.size("D_POOLING_KERNEL_CFG", "KERNEL_STRIDE_WIDTH");
    pooling.stride_y = pdp.size("D_POOLING_KERNEL_CFG", "KERNEL_STRIDE_HEIGHT");
    pooling.pad_top = read_padding(pdp, "PAD_TOP");
    pooling.output = read_shape(pdp, "OUT");
    if (pooling.method == PoolingMethod::Average) {
        pooling.recip_width = pdp.field("D_RECIP_KERNEL_WIDTH", "RECIP_KERNEL_WIDTH");
        pooling.recip_height = pdp.field("D_RECIP_KERNEL_HEIGHT", "RECIP_KERNEL_HEIGHT");
        for (std::size_t n = 1; n < pooling.pad_value.size(); ++n) {
            pooling.pad_value[n] = pdp.signed_field(
                fmt::format("D_POOLING_PADDING_VALUE_{}_CFG", n), fmt::format("PAD_VALUE_{}X", n));
        }
    }
    return pooling;
}

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

/// Along one axis: the windows are as many as `outputs`, and none lies in the padding altogether.
void check_axis(const RegisterValues& pdp, const Extent& extent, const FieldName& outputs,
                std::uint32_t kernel, std::uint32_t stride) {
    const std::uint32_t programmed = pdp.size(outputs.register_name, outputs.field_name);
    const std::uint32_t fitting = extent.outputs(kernel, stride);
    if (programmed != fitting) {
        refuse(pdp, outputs,
               fmt::format("{} windows of {} with stride {} fit into {} + {} + {}", fitting, kernel,
                           stride, extent.pad_before, extent.size, extent.pad_after),
               fitting == 0 ? "add padding or take a smaller kernel"
                            : fmt::format("program {}", fitting - 1U));
    }
    if (!extent.all_real(programmed, kernel, stride)) {
        refuse(pdp, outputs, "a window lies in the padding altogether",
               "padding must be smaller than the kernel");
    }
}

/// The slices of a split: their widths as programmed, first, middle and last.
class Slices {
 public:
    Slices(const RegisterValues& pdp, const PdpPooling& pooling)
        : pdp_(pdp),
          pooling_(pooling),
          count_(pdp.size(kSplitNumber.register_name, kSplitNumber.field_name)) {}

    std::vector<PdpPart> all(const Extent& columns) const {
        if (count_ == 1) {
            check_axis(pdp_, columns, kOutWidth, pooling_.kernel_width, pooling_.stride_x);
            return {{0, columns.size, columns.pad_before, 0, pooling_.output.width}};
        }
        std::vector<PdpPart> parts;
        std::uint32_t begin = 0;
        std::uint32_t out_begin = 0;
        for (std::uint32_t i = 0; i < count_; ++i) {
            parts.push_back(part(i, begin, out_begin, columns));
            begin += pdp_.size("D_PARTIAL_WIDTH_IN", std::string("PARTIAL_WIDTH_IN_") + place(i));
            out_begin += parts.back().out_width;
        }
        if (begin != columns.size || out_begin != pooling_.output.width) {
            refuse(pdp_, kSplitNumber,
                   fmt::format("the slices add up to {} columns in and {} out, not {} and {}",
                               begin, out_begin, columns.size, pooling_.output.width),
                   "make D_PARTIAL_WIDTH_IN and D_PARTIAL_WIDTH_OUT cover the cubes");
        }
        return parts;
    }

 private:
    const char* place(std::uint32_t i) const {
        return i == 0 ? "FIRST" : (i + 1 == count_ ? "LAST" : "MID");
    }

    /// Behind the first slice each one starts kernel - stride columns early, or late when negative.
    PdpPart part(std::uint32_t i, std::uint32_t begin, std::uint32_t out_begin,
                 const Extent& columns) const {
        const std::string in_field = std::string("PARTIAL_WIDTH_IN_") + place(i);
        const std::string out_field = std::string("PARTIAL_WIDTH_OUT_") + place(i);
        const std::int64_t overlap =
            i == 0 ? 0 : std::int64_t{pooling_.kernel_width} - pooling_.stride_x;
        const std::int64_t width = overlap + pdp_.size("D_PARTIAL_WIDTH_IN", in_field);
        if (width < 1 || overlap > begin) {
            refuse(pdp_, {"D_PARTIAL_WIDTH_IN", in_field}, "too narrow for kernel and stride",
                   "make the slice wider");
        }
        const Extent extent{i == 0 ? columns.pad_before : 0U, static_cast<std::uint32_t>(width),
                            i + 1 == count_ ? columns.pad_after : 0U};
        check_axis(pdp_, extent, {"D_PARTIAL_WIDTH_OUT", out_field}, pooling_.kernel_width,
                   pooling_.stride_x);
        return {static_cast<std::uint32_t>(begin - overlap), extent.size, extent.pad_before,
                out_begin, pdp_.size("D_PARTIAL_WIDTH_OUT", out_field)};
    }

    const RegisterValues& pdp_;
    const PdpPooling& pooling_;
    std::uint32_t count_;
};

void check_line_buffer(const RegisterValues& pdp, const PdpPooling& pooling,
                       const PdpConfig& config) {
    const std::uint32_t room = line_buffer_columns(pooling, config);
    for (const PdpPart& part : pooling.parts) {
        if (part.out_width > room) {
            refuse(pdp, pooling.parts.size() == 1 ? kOutWidth : kSplitNumber,
                   fmt::format("the line buffer holds {} columns of output, a slice has {}", room,
                               part.out_width),
                   "split the width (D_OPERATION_MODE_CFG.SPLIT_NUM)");
        }
    }
}

void check_shapes(const RegisterValues& pdp, const PdpJob& job) {
    if (job.input.channels != job.output.channels) {
        refuse(pdp, {"D_DATA_CUBE_OUT_CHANNEL", "CUBE_OUT_CHANNEL"},
               fmt::format("the input has {} channels", job.input.channels),
               "pooling keeps the channels");
    }
}

/// The read DMA's own copies of what both units need.
void check_rdma(const RegisterValues& pdp, const RegisterValues& rdma) {
    for (const FieldName& name : {FieldName{"D_DATA_CUBE_IN_WIDTH", "CUBE_IN_WIDTH"},
                                  FieldName{"D_DATA_CUBE_IN_HEIGHT", "CUBE_IN_HEIGHT"},
                                  FieldName{"D_DATA_CUBE_IN_CHANNEL", "CUBE_IN_CHANNEL"},
                                  kSplitNumber, FieldName{"D_DATA_FORMAT", "INPUT_DATA"}}) {
        require_same(rdma, pdp, name);
    }
    if (pdp.field(kSplitNumber.register_name, kSplitNumber.field_name) == 0) {
        return;
    }
    for (const FieldName& name : {FieldName{"D_PARTIAL_WIDTH_IN", "PARTIAL_WIDTH_IN_FIRST"},
                                  FieldName{"D_PARTIAL_WIDTH_IN", "PARTIAL_WIDTH_IN_LAST"},
                                  FieldName{"D_PARTIAL_WIDTH_IN", "PARTIAL_WIDTH_IN_MID"},
                                  FieldName{"D_POOLING_KERNEL_CFG", "KERNEL_WIDTH"},
                                  FieldName{"D_POOLING_KERNEL_CFG", "KERNEL_STRIDE_WIDTH"}}) {
        require_same(rdma, pdp, name);
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

PdpJob PdpJob::from_registers(const RegisterValues& pdp, const RegisterValues& rdma,
                              const PdpConfig& config, const DatapathConfig& datapath) {
    if (!config.present) {
        throw ConfigError("this NPU has no PDP", "choose a preset with pdp.present = true");
    }
    PdpJob job;
    job.input = read_shape(pdp, "IN");
    job.output = read_shape(pdp, "OUT");
    const Precision precision =
        read_precision(pdp, {"D_DATA_FORMAT", "INPUT_DATA"}, datapath, "PDP");
    check_shapes(pdp, job);
    job.pooling = read_pooling(pdp);
    job.pooling.precision = precision;
    const Bytes element(bytes_of(job.pooling.precision));
    const Extent columns{read_padding(pdp, "PAD_LEFT"), job.input.width,
                         read_padding(pdp, "PAD_RIGHT")};
    const Extent rows{read_padding(pdp, "PAD_TOP"), job.input.height,
                      read_padding(pdp, "PAD_BOTTOM")};
    check_axis(pdp, rows, kOutHeight, job.pooling.kernel_height, job.pooling.stride_y);
    job.pooling.parts = Slices(pdp, job.pooling).all(columns);
    check_line_buffer(pdp, job.pooling, config);
    job.destination = read_cube(pdp, "DST", job.output, datapath.memory_atom, element);
    job.destination_in_sram = pdp.field("D_DST_RAM_CFG", "DST_RAM_TYPE") == 0;
    job.count_stalls = pdp.field("D_PERF_ENABLE", "DMA_EN") != 0;
    if (pdp.field("D_OPERATION_MODE_CFG", "FLYING_MODE") != 0) {
        check_rdma(pdp, rdma);
        job.source = read_cube(rdma, "SRC", job.input, datapath.memory_atom, element);
        job.pooling.nan_to_zero = job.pooling.precision == Precision::Fp16 &&
                                  pdp.field("D_NAN_FLUSH_TO_ZERO", "NAN_TO_ZERO") != 0;
        job.source_in_sram = rdma.field("D_SRC_RAM_CFG", "SRC_RAM_TYPE") == 0;
    }
    return job;
}

}  // namespace npuscope
