// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "models/base/check.h"
#include "sim/compile/nvdla/to_registers.h"

namespace npuscope {
namespace {

void write_mode(RegisterImage& image, bool winograd) {
    image
        .whole("D_MISC_CFG", 0)  // int8
        .flag("D_MISC_CFG", "CONV_MODE", winograd);
}

void write_reuse(RegisterImage& image, const BufferReuse& reuse) {
    image.flag("D_MISC_CFG", "DATA_REUSE", reuse.data_reuse)
        .flag("D_MISC_CFG", "WEIGHT_REUSE", reuse.weight_reuse)
        .flag("D_MISC_CFG", "SKIP_DATA_RLS", reuse.skip_data_release)
        .flag("D_MISC_CFG", "SKIP_WEIGHT_RLS", reuse.skip_weight_release);
}

void write_banks(RegisterImage& image, const BankSplit& banks) {
    image.size("D_BANK", "DATA_BANK", banks.data).size("D_BANK", "WEIGHT_BANK", banks.weight);
}

/// Padding behind the input, which follows from the output's size.
std::uint32_t padding_behind(std::uint32_t reached, std::uint32_t before, std::uint32_t size) {
    return reached > before + size ? reached - before - size : 0;
}

void write_features(RegisterImage& image, const CdmaJob& cdma) {
    image.whole("D_DATAIN_FORMAT", 0)
        .field("D_DAIN_ADDR_HIGH_0", "DATAIN_ADDR_HIGH_0", cdma.feature.base.value >> 32U)
        .field("D_DAIN_ADDR_LOW_0", "DATAIN_ADDR_LOW_0", cdma.feature.base.value & 0xffffffffU)
        .field("D_LINE_STRIDE", "LINE_STRIDE", cdma.feature.line_stride.value)
        .field("D_SURF_STRIDE", "SURF_STRIDE", cdma.feature.surface_stride.value)
        .flag("D_DAIN_MAP", "LINE_PACKED", cdma.line_packed)
        .flag("D_DAIN_MAP", "SURF_PACKED", cdma.surface_packed);
}

void write_pixels(RegisterImage& image, const CdmaJob& cdma) {
    const PixelSurface& pixels = cdma.pixels;
    image.field("D_DATAIN_FORMAT", "DATAIN_FORMAT", 1)
        .field("D_DATAIN_FORMAT", "PIXEL_FORMAT", pixels.format->code)
        .flag("D_DATAIN_FORMAT", "PIXEL_SIGN_OVERRIDE", cdma.conversion.signed_input)
        .field("D_DAIN_ADDR_HIGH_0", "DATAIN_ADDR_HIGH_0", pixels.base[0].value >> 32U)
        .field("D_DAIN_ADDR_LOW_0", "DATAIN_ADDR_LOW_0", pixels.base[0].value & 0xffffffffU)
        .field("D_LINE_STRIDE", "LINE_STRIDE", pixels.line_stride[0].value)
        .field("D_PIXEL_OFFSET", "PIXEL_X_OFFSET", pixels.x_offset);
    if (pixels.format->planes == 2) {
        image.field("D_DAIN_ADDR_HIGH_1", "DATAIN_ADDR_HIGH_1", pixels.base[1].value >> 32U)
            .field("D_DAIN_ADDR_LOW_1", "DATAIN_ADDR_LOW_1", pixels.base[1].value & 0xffffffffU)
            .field("D_LINE_UV_STRIDE", "UV_LINE_STRIDE", pixels.line_stride[1].value);
    }
}

void write_input(RegisterImage& image, const CdmaJob& cdma) {
    if (cdma.mode == ConvMode::Image) {
        write_pixels(image, cdma);
    } else {
        write_features(image, cdma);
    }
    const Shape extended = cdma.mode == ConvMode::Winograd ? Shape{0, cdma.winograd.extended_height,
                                                                   cdma.winograd.extended_width}
                                                           : cdma.input;
    image.size("D_DATAIN_SIZE_0", "DATAIN_WIDTH", cdma.input.width)
        .size("D_DATAIN_SIZE_0", "DATAIN_HEIGHT", cdma.input.height)
        .size("D_DATAIN_SIZE_1", "DATAIN_CHANNEL", cdma.input.channels)
        .size("D_DATAIN_SIZE_EXT_0", "DATAIN_WIDTH_EXT", extended.width)
        .size("D_DATAIN_SIZE_EXT_0", "DATAIN_HEIGHT_EXT", extended.height)
        .flag("D_DAIN_RAM_TYPE", "DATAIN_RAM_TYPE", !cdma.data_in_secondary)
        .size("D_ENTRY_PER_SLICE", "ENTRIES", cdma.entries_per_slice)
        .size("D_FETCH_GRAIN", "GRAINS", cdma.lines_per_fetch);
}

void write_weights(RegisterImage& image, const CdmaJob& cdma) {
    image.flag("D_WEIGHT_FORMAT", "WEIGHT_FORMAT", cdma.compression.has_value())
        .size("D_WEIGHT_SIZE_0", "BYTE_PER_KERNEL", cdma.bytes_per_kernel.value)
        .size("D_WEIGHT_SIZE_1", "WEIGHT_KERNEL", cdma.kernels)
        .flag("D_WEIGHT_RAM_TYPE", "WEIGHT_RAM_TYPE", !cdma.weight_in_secondary)
        .address("WEIGHT_ADDR", cdma.weight_address)
        .only("WEIGHT_BYTES", cdma.weight_bytes.value);
    if (cdma.compression) {
        image.address("WMB_ADDR", cdma.compression->mask)
            .only("WMB_BYTES", cdma.compression->mask_bytes.value)
            .address("WGS_ADDR", cdma.compression->sizes);
    }
}

/// Padding on all sides: of features on the right and below as far as windows reach.
void write_padding(RegisterImage& image, const CdmaJob& cdma, const CscJob& csc) {
    const std::uint32_t columns =
        reach(csc.output.width, csc.stride_x, dilated_span(csc.kernels.columns, csc.dilation_x));
    const std::uint32_t rows =
        reach(csc.output.height, csc.stride_y, dilated_span(csc.kernels.rows, csc.dilation_y));
    const bool winograd = cdma.mode == ConvMode::Winograd;
    const std::uint32_t right = cdma.mode != ConvMode::Direct
                                    ? cdma.pad_right
                                    : padding_behind(columns, csc.pad_left, csc.input.width);
    const std::uint32_t below =
        winograd ? cdma.winograd.pad_bottom : padding_behind(rows, csc.pad_top, csc.input.height);
    image.field("D_ZERO_PADDING", "PAD_LEFT", winograd ? cdma.pad_left : csc.pad_left)
        .field("D_ZERO_PADDING", "PAD_TOP", winograd ? cdma.winograd.pad_top : csc.pad_top)
        .field("D_ZERO_PADDING", "PAD_RIGHT", right)
        .field("D_ZERO_PADDING", "PAD_BOTTOM", below)
        .field("D_ZERO_PADDING_VALUE", "PAD_VALUE", csc.pad_value);
}

RegisterImage cdma_registers(const CdmaJob& cdma, const CscJob& csc) {
    NPU_CHECK(cdma.precision == Precision::Int8, "registers are written for int8 alone");
    RegisterImage image("NVDLA_CDMA");
    write_mode(image, cdma.mode == ConvMode::Winograd);
    write_reuse(image, cdma.reuse);
    write_input(image, cdma);
    write_weights(image, cdma);
    image.flag("D_CVT_CFG", "CVT_EN", cdma.conversion.enabled)
        .field("D_CVT_CFG", "CVT_TRUNCATE", cdma.conversion.truncate)
        .signed_field("D_CVT_OFFSET", "CVT_OFFSET", cdma.conversion.offset)
        .signed_field("D_CVT_SCALE", "CVT_SCALE", cdma.conversion.scale)
        .size("D_CONV_STRIDE", "CONV_X_STRIDE", csc.stride_x)
        .size("D_CONV_STRIDE", "CONV_Y_STRIDE", csc.stride_y);
    write_padding(image, cdma, csc);
    write_banks(image, cdma.banks);
    return image;
}

/// 1, 2 and 4 rows at once are coded 0, 1 and 2.
std::uint32_t row_group_code(const CscJob& csc) { return csc.row_group / 2; }

RegisterImage csc_registers(const CscJob& csc) {
    RegisterImage image("NVDLA_CSC");
    write_mode(image, csc.mode == ConvMode::Winograd);
    write_reuse(image, csc.reuse);
    image.flag("D_DATAIN_FORMAT", "DATAIN_FORMAT", csc.mode == ConvMode::Image)
        .field("D_POST_Y_EXTENSION", "Y_EXTENSION", row_group_code(csc))
        .flag("D_WEIGHT_FORMAT", "WEIGHT_FORMAT", csc.compressed)
        .only("WMB_BYTES", csc.mask_bytes.value)
        .size("D_DATAIN_SIZE_EXT_0", "DATAIN_WIDTH_EXT", csc.input.width)
        .size("D_DATAIN_SIZE_EXT_0", "DATAIN_HEIGHT_EXT", csc.input.height)
        .size("D_DATAIN_SIZE_EXT_1", "DATAIN_CHANNEL_EXT", csc.input.channels)
        .size("D_ENTRY_PER_SLICE", "ENTRIES", csc.entries_per_slice)
        .size("D_WEIGHT_SIZE_EXT_0", "WEIGHT_WIDTH_EXT", csc.kernels.columns)
        .size("D_WEIGHT_SIZE_EXT_0", "WEIGHT_HEIGHT_EXT", csc.kernels.rows)
        .size("D_WEIGHT_SIZE_EXT_1", "WEIGHT_CHANNEL_EXT", csc.kernels.channels)
        .size("D_WEIGHT_SIZE_EXT_1", "WEIGHT_KERNEL", csc.kernels.kernels)
        .only("WEIGHT_BYTES", csc.weight_bytes.value)
        .size("D_DATAOUT_SIZE_0", "DATAOUT_WIDTH", csc.output.width)
        .size("D_DATAOUT_SIZE_0", "DATAOUT_HEIGHT", csc.output.height)
        .size("D_DATAOUT_SIZE_1", "DATAOUT_CHANNEL", csc.output.channels)
        .size("D_ATOMICS", "ATOMICS", csc.atomics)
        .size("D_RELEASE", "RLS_SLICES", csc.release_slices)
        .size("D_CONV_STRIDE_EXT", "CONV_X_STRIDE_EXT", csc.stride_x)
        .size("D_CONV_STRIDE_EXT", "CONV_Y_STRIDE_EXT", csc.stride_y)
        .size("D_DILATION_EXT", "X_DILATION_EXT", csc.dilation_x)
        .size("D_DILATION_EXT", "Y_DILATION_EXT", csc.dilation_y)
        .field("D_ZERO_PADDING", "PAD_LEFT", csc.pad_left)
        .field("D_ZERO_PADDING", "PAD_TOP", csc.pad_top)
        .field("D_ZERO_PADDING_VALUE", "PAD_VALUE", csc.pad_value);
    image.field("D_PRA_CFG", "PRA_TRUNCATE", csc.patch_truncate);
    write_banks(image, csc.banks);
    return image;
}

RegisterImage cacc_registers(const CaccJob& cacc, const FeatureCube& output) {
    RegisterImage image("NVDLA_CACC");
    write_mode(image, cacc.winograd);
    image.size("D_DATAOUT_SIZE_0", "DATAOUT_WIDTH", cacc.output.width)
        .size("D_DATAOUT_SIZE_0", "DATAOUT_HEIGHT", cacc.output.height)
        .size("D_DATAOUT_SIZE_1", "DATAOUT_CHANNEL", cacc.output.channels)
        .only("DATAOUT_ADDR", output.base.value & 0xffffffffU)
        .only("LINE_STRIDE", output.line_stride.value)
        .only("SURF_STRIDE", output.surface_stride.value)
        .flag("D_DATAOUT_MAP", "LINE_PACKED", cacc.line_packed)
        .flag("D_DATAOUT_MAP", "SURF_PACKED", cacc.surface_packed)
        .field("D_CLIP_CFG", "CLIP_TRUNCATE", cacc.clip_truncate);
    return image;
}

RegisterImage cmac_registers(std::string_view block, const CmacJob& cmac) {
    RegisterImage image(block);
    write_mode(image, cmac.winograd);
    return image;
}

}  // namespace

std::vector<RegisterImage> conv_registers(const ConvParts& parts, const FeatureCube& output) {
    return {cacc_registers(parts.cacc, output), cmac_registers("NVDLA_CMAC_A", parts.cmac[0]),
            cmac_registers("NVDLA_CMAC_B", parts.cmac[1]), csc_registers(parts.csc),
            cdma_registers(parts.cdma, parts.csc)};
}

}  // namespace npuscope
