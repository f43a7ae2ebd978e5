// SPDX-License-Identifier: Apache-2.0
#include "models/cdma/cdma_job.h"

#include <fmt/format.h>

#include "models/base/error.h"
#include "models/data/alignment.h"
#include "models/data/conv_registers.h"

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
    return {read_address(registers, "D_DAIN_ADDR_HIGH_0", "D_DAIN_ADDR_LOW_0"),
            Bytes(registers.raw("D_LINE_STRIDE")),
            Bytes(registers.raw("D_SURF_STRIDE")),
            job.input,
            atom,
            Bytes(1)};
}

const PixelFormat& read_format(const RegisterValues& registers, const Shape& input) {
    const std::uint32_t code = registers.field("D_DATAIN_FORMAT", "PIXEL_FORMAT");
    const PixelFormat* format = find_pixel_format(code);
    if (format == nullptr) {
        refuse(registers, "D_DATAIN_FORMAT", fmt::format("pixel format {} is", code));
    }
    if (format->code_bits != 8) {
        refuse(registers, "D_DATAIN_FORMAT",
               fmt::format("pixel format {} (16-bit elements) is", format->name),
               "use a format of 8-bit components");
    }
    if (registers.field("D_DATAIN_FORMAT", "PIXEL_MAPPING") != 0) {
        refuse(registers, "D_DATAIN_FORMAT", "a pixel mapping other than pitch linear is");
    }
    if (input.channels != format->channels) {
        throw ConfigError(
            fmt::format("{} describes {} channels, but {} selects {} with {}",
                        spelled(registers.block().name, "D_DATAIN_SIZE_1"), input.channels,
                        spelled(registers.block().name, "D_DATAIN_FORMAT"), format->name,
                        format->channels),
            fmt::format("set DATAIN_CHANNEL to {}", format->channels - 1));
    }
    return *format;
}

PixelSurface read_pixels(const RegisterValues& registers, const CdmaJob& job,
                         const ConvFeatures& features) {
    const Bytes atom = features.datapath.memory_atom;
    PixelSurface pixels;
    pixels.format = &read_format(registers, job.input);
    pixels.atom = atom;
    pixels.height = job.input.height;
    pixels.width = job.input.width;
    pixels.x_offset = registers.field("D_PIXEL_OFFSET", "PIXEL_X_OFFSET");
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
    refuse_compression(registers);
    require_aligned(registers, "D_WEIGHT_ADDR_LOW", {DataKind::Weights, AlignedPart::Start, atom});
    require_aligned(registers, "D_WEIGHT_BYTES", {DataKind::Weights, AlignedPart::Size, atom});
    job.weight_address = read_address(registers, "D_WEIGHT_ADDR_HIGH", "D_WEIGHT_ADDR_LOW");
    job.weight_bytes = Bytes(registers.raw("D_WEIGHT_BYTES"));
    job.bytes_per_kernel = Bytes(registers.size("D_WEIGHT_SIZE_0", "BYTE_PER_KERNEL"));
    job.kernels = registers.size("D_WEIGHT_SIZE_1", "WEIGHT_KERNEL");
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
    refuse_winograd(registers);
    refuse_batches(registers);
    CdmaJob job;
    job.mode = read_mode(registers);
    job.in_precision = read_precision(registers, "IN_PRECISION");
    job.precision = read_precision(registers, "PROC_PRECISION");
    job.reuse = read_reuse(registers);
    job.input = {registers.size("D_DATAIN_SIZE_1", "DATAIN_CHANNEL"),
                 registers.size("D_DATAIN_SIZE_0", "DATAIN_HEIGHT"),
                 registers.size("D_DATAIN_SIZE_0", "DATAIN_WIDTH")};
    job.conversion = read_conversion(registers, job.mode);
    job.entries_per_slice = registers.size("D_ENTRY_PER_SLICE", "ENTRIES");
    job.banks = read_banks(registers);
    job.data_in_secondary =
        read_ram_type(registers, "D_DAIN_RAM_TYPE", "DATAIN_RAM_TYPE", features);
    job.weight_in_secondary =
        read_ram_type(registers, "D_WEIGHT_RAM_TYPE", "WEIGHT_RAM_TYPE", features);
    read_weights(registers, features, job);
    if (job.mode == ConvMode::Direct) {
        job.feature = read_feature(registers, job, features);
        job.line_packed = registers.field("D_DAIN_MAP", "LINE_PACKED") != 0;
        job.surface_packed = registers.field("D_DAIN_MAP", "SURF_PACKED") != 0;
        job.lines_per_fetch = job.line_packed ? registers.size("D_FETCH_GRAIN", "GRAINS") : 1;
    } else {
        job.pixels = read_pixels(registers, job, features);
        job.pad_left = registers.field("D_ZERO_PADDING", "PAD_LEFT");
        job.pad_right = registers.field("D_ZERO_PADDING", "PAD_RIGHT");
        job.pad_value =
            static_cast<std::uint16_t>(registers.field("D_ZERO_PADDING_VALUE", "PAD_VALUE"));
        job.lines_per_fetch = registers.size("D_FETCH_GRAIN", "GRAINS");
    }
    return job;
}

}  // namespace npuscope
