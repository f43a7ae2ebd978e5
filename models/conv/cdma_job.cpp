// SPDX-License-Identifier: Apache-2.0
#include "models/conv/cdma_job.h"

#include <fmt/format.h>

#include "models/base/error.h"
#include "models/conv/conv_registers.h"
#include "models/layout/alignment.h"
#include "models/layout/precision_table.h"
#include "models/layout/surface_limit.h"

namespace npuscope {

namespace {

void require_aligned(const RegisterValues& registers, std::string_view register_name,
                     const AlignmentNeed& need) {
    require_aligned({registers.block().name, register_name, registers.raw(register_name)}, need);
}

FeatureCube read_feature(const RegisterValues& registers, const CdmaJob& job,
                         const ConvFeatures& features) {
    const Bytes atom = features.datapath.memory_atom;
    require_aligned(registers, "D_DAIN_ADDR_LOW_0", {DataKind::Feature, AlignedPart::Start, atom});
    require_aligned(registers, "D_LINE_STRIDE", {DataKind::Feature, AlignedPart::LineStride, atom});
    require_aligned(registers, "D_SURF_STRIDE",
                    {DataKind::Feature, AlignedPart::SurfaceStride, atom});
    FeatureCube cube{read_address(registers, "D_DAIN_ADDR_HIGH_0", "D_DAIN_ADDR_LOW_0"),
                     Bytes(registers.raw("D_LINE_STRIDE")),
                     Bytes(registers.raw("D_SURF_STRIDE")),
                     job.input,
                     atom,
                     Bytes(bytes_of(job.in_precision))};
    if (job.batches > 1) {
        require_aligned(registers, "D_BATCH_STRIDE",
                        {DataKind::Feature, AlignedPart::SurfaceStride, atom});
        cube.batch_lines = job.input.height;
        cube.batch_stride = Bytes(registers.raw("D_BATCH_STRIDE"));
        cube.shape.height *= job.batches;
    }
    require_surface(registers, "D_DATAIN_SIZE_0", {cube.lines(), cube.line_bytes()});
    return cube;
}

/// What a format hands on before any conversion.
Precision format_precision(const PixelFormat& format) {
    if (format.floating) {
        return Precision::Fp16;
    }
    return format.code_bits == 8 ? Precision::Int8 : Precision::Int16;
}

const PixelFormat& read_format(const RegisterValues& registers, const CdmaJob& job,
                               const ConvFeatures& features) {
    const std::uint32_t code = registers.field("D_DATAIN_FORMAT", "PIXEL_FORMAT");
    const PixelFormat* format = find_pixel_format(code);
    if (format == nullptr) {
        refuse(registers, "D_DATAIN_FORMAT", fmt::format("pixel format {} is", code),
               "use a code of the format page's pixel formats, e.g. 0 (T_R8) or 12 (T_A8B8G8R8)");
    }
    const Precision precision = format_precision(*format);
    if (!features.datapath.supports(precision)) {
        refuse(registers, "D_DATAIN_FORMAT",
               fmt::format("pixel format {} ({}) is", format->name,
                           format->floating ? "fp16" : "16-bit elements"),
               "use a format of 8-bit components");
    }
    if (registers.field("D_DATAIN_FORMAT", "PIXEL_MAPPING") != 0) {
        refuse(registers, "D_DATAIN_FORMAT", "PIXEL_MAPPING 1 (block linear) is",
               "store the image line by line and use PIXEL_MAPPING 0 (pitch linear)");
    }
    if (job.input.channels != format->channels) {
        throw ConfigError(
            fmt::format("{} describes {} channels, but {} selects {} with {}",
                        spelled(registers.block().name, "D_DATAIN_SIZE_1"), job.input.channels,
                        spelled(registers.block().name, "D_DATAIN_FORMAT"), format->name,
                        format->channels),
            fmt::format("set DATAIN_CHANNEL to {}", format->channels - 1));
    }
    if (job.in_precision != precision) {
        throw ConfigError(
            fmt::format("{} says IN_PRECISION {}, but {} selects {}, whose elements are {}",
                        spelled(registers.block().name, "D_MISC_CFG"),
                        precision_name(job.in_precision),
                        spelled(registers.block().name, "D_DATAIN_FORMAT"), format->name,
                        precision_name(precision)),
            fmt::format("set IN_PRECISION to {}", static_cast<unsigned>(precision)));
    }
    return *format;
}

/// What no hardware does: offsets in lines are for other mappings, reserved lines for nothing.
/// source: nv_full RTL, assertions of NV_NVDLA_CDMA_IMG_{ctrl,sg}.v; nothing reads D_RESERVED_*
void refuse_unread_fields(const RegisterValues& registers) {
    const auto expect_zero = [&](std::string_view register_name, std::string_view field,
                                 const std::string& remedy) {
        const std::uint32_t value = registers.field(register_name, field);
        if (value != 0) {
            refuse(registers, register_name, fmt::format("{} {} is", field, value), remedy);
        }
    };
    expect_zero("D_PIXEL_OFFSET", "PIXEL_Y_OFFSET",
                "program 0, and advance the start address by whole lines");
    for (const std::string_view field : {"RSV_PER_LINE", "RSV_PER_UV_LINE"}) {
        expect_zero("D_RESERVED_X_CFG", field, "program 0: no hardware reads it");
    }
    for (const std::string_view field : {"RSV_HEIGHT", "RSV_Y_INDEX"}) {
        expect_zero("D_RESERVED_Y_CFG", field, "program 0: no hardware reads it");
    }
}

PixelSurface read_pixels(const RegisterValues& registers, const CdmaJob& job,
                         const ConvFeatures& features) {
    const Bytes atom = features.datapath.memory_atom;
    refuse_unread_fields(registers);
    PixelSurface pixels;
    pixels.format = &read_format(registers, job, features);
    pixels.atom = atom;
    pixels.height = job.input.height;
    pixels.width = job.input.width;
    pixels.x_offset = registers.field("D_PIXEL_OFFSET", "PIXEL_X_OFFSET");
    require_surface(registers, "D_DATAIN_SIZE_0",
                    {pixels.height, Bytes(4) * bytes_of(job.precision) * pixels.width});
    const AlignmentNeed start{DataKind::Pixels, AlignedPart::Start, atom};
    const AlignmentNeed stride{DataKind::Pixels, AlignedPart::LineStride, atom};
    require_aligned(registers, "D_DAIN_ADDR_LOW_0", start);
    require_aligned(registers, "D_LINE_STRIDE", stride);
    pixels.base[0] = read_address(registers, "D_DAIN_ADDR_HIGH_0", "D_DAIN_ADDR_LOW_0");
    pixels.line_stride[0] = Bytes(registers.raw("D_LINE_STRIDE"));
    if (pixels.format->planes == 2) {
        require_aligned(registers, "D_DAIN_ADDR_LOW_1", start);
        require_aligned(registers, "D_LINE_UV_STRIDE", stride);
        pixels.base[1] = read_address(registers, "D_DAIN_ADDR_HIGH_1", "D_DAIN_ADDR_LOW_1");
        pixels.line_stride[1] = Bytes(registers.raw("D_LINE_UV_STRIDE"));
    }
    const std::uint64_t limit = atom / pixels.format->pixel_bytes(0);
    if (pixels.x_offset >= limit) {
        throw ConfigError(
            fmt::format("{}: X offset {} is not below {}, the pixels of one atom",
                        spelled(registers.block().name, "D_PIXEL_OFFSET"), pixels.x_offset, limit),
            "advance the start address by whole atoms instead");
    }
    return pixels;
}

InputConversion read_conversion(const RegisterValues& registers, ConvMode mode) {
    const auto mean = [&](std::string_view name, std::string_view field) {
        return static_cast<std::int16_t>(registers.signed_field(name, field));
    };
    InputConversion conversion;
    conversion.enabled = registers.field("D_CVT_CFG", "CVT_EN") != 0;
    conversion.truncate = registers.field("D_CVT_CFG", "CVT_TRUNCATE");
    conversion.offset = mean("D_CVT_OFFSET", "CVT_OFFSET");
    conversion.scale = mean("D_CVT_SCALE", "CVT_SCALE");
    if (mode == ConvMode::Image) {
        conversion.use_mean = registers.field("D_MEAN_FORMAT", "MEAN_FORMAT") != 0;
        conversion.mean = {mean("D_MEAN_GLOBAL_0", "MEAN_RY"), mean("D_MEAN_GLOBAL_0", "MEAN_GU"),
                           mean("D_MEAN_GLOBAL_1", "MEAN_BV"), mean("D_MEAN_GLOBAL_1", "MEAN_AX")};
        conversion.signed_input = registers.field("D_DATAIN_FORMAT", "PIXEL_SIGN_OVERRIDE") != 0;
    }
    return conversion;
}

void read_weights(const RegisterValues& registers, const ConvFeatures& features, CdmaJob& job) {
    const Bytes atom = features.datapath.memory_atom;
    require_aligned(registers, "D_WEIGHT_ADDR_LOW", {DataKind::Weights, AlignedPart::Start, atom});
    job.weight_address = read_address(registers, "D_WEIGHT_ADDR_HIGH", "D_WEIGHT_ADDR_LOW");
    job.weight_bytes = Bytes(registers.raw("D_WEIGHT_BYTES"));
    job.bytes_per_kernel = Bytes(registers.size("D_WEIGHT_SIZE_0", "BYTE_PER_KERNEL"));
    job.kernels = registers.size("D_WEIGHT_SIZE_1", "WEIGHT_KERNEL");
    require_surface(registers, "D_WEIGHT_SIZE_1", {job.kernels, job.bytes_per_kernel});
    // whole entries without the zeros behind them work as well; source: nv_small RTL
    const std::uint64_t used = (job.bytes_per_kernel * job.kernels).value;
    if (job.weight_bytes.value != round_up(used, features.cbuf_entry.value)) {
        require_aligned(registers, "D_WEIGHT_BYTES", {DataKind::Weights, AlignedPart::Size, atom});
    }
    if (read_compressed(registers, features)) {
        const AlignmentNeed start{DataKind::Weights, AlignedPart::Start, atom};
        require_aligned(registers, "D_WMB_ADDR_LOW", start);
        require_aligned(registers, "D_WGS_ADDR_LOW", start);
        require_aligned(registers, "D_WMB_BYTES", {DataKind::Weights, AlignedPart::Size, atom});
        job.compression = {read_address(registers, "D_WMB_ADDR_HIGH", "D_WMB_ADDR_LOW"),
                           Bytes(registers.raw("D_WMB_BYTES")),
                           read_address(registers, "D_WGS_ADDR_HIGH", "D_WGS_ADDR_LOW")};
    }
}

/// Padding, and what a mode inserts of it.
void read_padding(const RegisterValues& registers, CdmaJob& job) {
    job.pad_left = registers.field("D_ZERO_PADDING", "PAD_LEFT");
    job.pad_right = registers.field("D_ZERO_PADDING", "PAD_RIGHT");
    job.pad_value =
        static_cast<std::uint16_t>(registers.field("D_ZERO_PADDING_VALUE", "PAD_VALUE"));
}

WinogradInput read_winograd_input(const RegisterValues& registers) {
    return {registers.field("D_ZERO_PADDING", "PAD_TOP"),
            registers.field("D_ZERO_PADDING", "PAD_BOTTOM"),
            registers.size("D_CONV_STRIDE", "CONV_Y_STRIDE"),
            registers.size("D_CONV_STRIDE", "CONV_X_STRIDE"),
            registers.size("D_DATAIN_SIZE_EXT_0", "DATAIN_HEIGHT_EXT"),
            registers.size("D_DATAIN_SIZE_EXT_0", "DATAIN_WIDTH_EXT")};
}

/// Which types the conversion may lead from and to.
void require_precisions(const RegisterValues& registers, const CdmaJob& job) {
    const std::string name = spelled(registers.block().name, "D_MISC_CFG");
    ConvertedInput input = feature_input(job.in_precision);
    if (job.mode == ConvMode::Image) {
        input = job.in_precision == Precision::Fp16 ? ConvertedInput::FloatImage
                                                    : ConvertedInput::IntegerImage;
    }
    require_valid(precision_cell(ConvertingUnit::Convolution, input, job.precision), name);
    if (job.in_precision != job.precision && !job.conversion.enabled) {
        throw ConfigError(
            fmt::format("{} says IN_PRECISION {} and PROC_PRECISION {}, but {} leaves the "
                        "conversion off",
                        name, precision_name(job.in_precision), precision_name(job.precision),
                        spelled(registers.block().name, "D_CVT_CFG")),
            "set CVT_EN");
    }
}

/// True for the SRAM behind the secondary port.
bool read_ram_type(const RegisterValues& registers, std::string_view register_name,
                   std::string_view field_name, const ConvFeatures& features) {
    const bool secondary = registers.field(register_name, field_name) == 0;
    if (secondary && !features.secondary_port) {
        refuse(registers, register_name, "the secondary memory port is",
               "use the primary port (MCIF, 1)");
    }
    return secondary;
}

}  // namespace

CdmaJob cdma_job(const RegisterValues& registers, const ConvFeatures& features) {
    CdmaJob job;
    job.mode = read_mode(registers, features);
    job.batches = read_batches(registers, features);
    job.in_precision = read_precision(registers, "IN_PRECISION", features.datapath);
    job.precision = read_precision(registers, "PROC_PRECISION", features.datapath);
    job.reuse = read_reuse(registers);
    job.input = {registers.size("D_DATAIN_SIZE_1", "DATAIN_CHANNEL"),
                 registers.size("D_DATAIN_SIZE_0", "DATAIN_HEIGHT"),
                 registers.size("D_DATAIN_SIZE_0", "DATAIN_WIDTH")};
    job.conversion = read_conversion(registers, job.mode);
    require_precisions(registers, job);
    job.flush_nan = registers.field("D_NAN_FLUSH_TO_ZERO", "NAN_TO_ZERO") != 0;
    job.count_performance = registers.field("D_PERF_ENABLE", "DMA_EN") != 0;
    job.entries_per_slice = registers.size("D_ENTRY_PER_SLICE", "ENTRIES");
    job.banks = read_banks(registers);
    job.data_in_secondary =
        read_ram_type(registers, "D_DAIN_RAM_TYPE", "DATAIN_RAM_TYPE", features);
    job.weight_in_secondary =
        read_ram_type(registers, "D_WEIGHT_RAM_TYPE", "WEIGHT_RAM_TYPE", features);
    read_weights(registers, features, job);
    if (job.mode != ConvMode::Direct) {
        read_padding(registers, job);
    }
    if (job.mode == ConvMode::Image) {
        job.pixels = read_pixels(registers, job, features);
        job.lines_per_fetch = registers.size("D_FETCH_GRAIN", "GRAINS");
        return job;
    }
    job.feature = read_feature(registers, job, features);
    job.line_packed = registers.field("D_DAIN_MAP", "LINE_PACKED") != 0;
    job.surface_packed = registers.field("D_DAIN_MAP", "SURF_PACKED") != 0;
    if (job.mode == ConvMode::Winograd) {
        job.winograd = read_winograd_input(registers);
        return job;
    }
    job.lines_per_fetch = job.line_packed ? registers.size("D_FETCH_GRAIN", "GRAINS") : 1;
    return job;
}

}  // namespace npuscope
