// SPDX-License-Identifier: Apache-2.0
// What each mode of input asks of its registers.
#include "models/conv/conv_check_list.h"

namespace npuscope {

namespace {

void check_feature(const ConvParts& parts, Checks& checks) {
    const CdmaJob& cdma = parts.cdma;
    const CscJob& csc = parts.csc;
    const FeatureCube& cube = cdma.feature;
    checks.agree({csc_unit, "D_WEIGHT_SIZE_EXT_1", "WEIGHT_CHANNEL_EXT + 1", csc.kernels.channels},
                 {csc_unit, "D_DATAIN_SIZE_EXT_1", "DATAIN_CHANNEL_EXT + 1", csc.input.channels});
    checks.expect(csc.row_group == 1,
                  {csc_unit, "D_POST_Y_EXTENSION", "rows taken at once", csc.row_group},
                  "but only image input has its channels extended");
    checks.expect(!cdma.line_packed || cube.line_packed(),
                  {cdma_unit, "D_DAIN_MAP", "LINE_PACKED", cdma.line_packed},
                  fmt::format("but D_LINE_STRIDE is {} and a line has {} bytes",
                              cube.line_stride.value, cube.line_bytes().value));
    checks.expect(
        !cdma.surface_packed || cube.surface_packed(),
        {cdma_unit, "D_DAIN_MAP", "SURF_PACKED", cdma.surface_packed},
        fmt::format("but D_SURF_STRIDE is {} and {} lines have {} bytes", cube.surface_stride.value,
                    cube.lines_of_batch(), (cube.line_stride * cube.lines_of_batch()).value));
}

void check_winograd(const ConvParts& parts, Checks& checks) {
    const CdmaJob& cdma = parts.cdma;
    const CscJob& csc = parts.csc;
    checks.expect(
        csc.kernels.rows == 4 && csc.kernels.columns == 4,
        {csc_unit, "D_WEIGHT_SIZE_EXT_0", "WEIGHT_WIDTH_EXT + 1", csc.kernels.columns},
        fmt::format("and {} rows, but transformed kernels have 4 x 4 elements", csc.kernels.rows));
    checks.expect(
        csc.stride_x == 1 && csc.stride_y == 1,
        {csc_unit, "D_CONV_STRIDE_EXT", "CONV_X_STRIDE_EXT + 1", csc.stride_x},
        "but must be 1: the DMA has turned strides into channels (D_CONV_STRIDE of NVDLA_CDMA)");
    checks.expect(csc.dilation_x == 1 && csc.dilation_y == 1,
                  {csc_unit, "D_DILATION_EXT", "X_DILATION_EXT + 1", csc.dilation_x},
                  "but must be 1: Winograd kernels are not dilated");
    const WinogradInput& extended = cdma.winograd;
    const std::uint32_t width = cdma.input.width + cdma.pad_left + cdma.pad_right;
    const std::uint32_t height = cdma.input.height + extended.pad_top + extended.pad_bottom;
    checks.expect(
        width == extended.extended_width * extended.stride_x && width % 4 == 0 &&
            extended.extended_width % 4 == 0,
        {cdma_unit, "D_DATAIN_SIZE_EXT_0", "DATAIN_WIDTH_EXT + 1", extended.extended_width},
        fmt::format("but {} padded columns at stride {} must make a multiple of four", width,
                    extended.stride_x));
    checks.expect(
        height == extended.extended_height * extended.stride_y && extended.extended_height % 4 == 0,
        {cdma_unit, "D_DATAIN_SIZE_EXT_0", "DATAIN_HEIGHT_EXT + 1", extended.extended_height},
        fmt::format("but {} padded lines at stride {} must make a multiple of four", height,
                    extended.stride_y));
    checks.expect(csc.output.width % 4 == 0 && csc.output.height % 4 == 0,
                  {csc_unit, "D_DATAOUT_SIZE_0", "DATAOUT_WIDTH + 1", csc.output.width},
                  fmt::format("and {} lines, but Winograd makes 4 x 4 outputs at once: both must "
                              "be multiples of four",
                              csc.output.height));
    checks.expect(
        csc.output.width + 2 <= extended.extended_width &&
            csc.output.height + 2 <= extended.extended_height,
        {csc_unit, "D_DATAOUT_SIZE_0", "DATAOUT_WIDTH + 1", csc.output.width},
        fmt::format("times {} lines, but the extended input gives {} x {}", csc.output.height,
                    extended.extended_width - 2, extended.extended_height - 2));
}

void check_image(const ConvJob& job, Checks& checks) {
    const CdmaJob& cdma = job.parts.cdma;
    const CscJob& csc = job.parts.csc;
    const Said mean{cdma_unit, "D_MEAN_FORMAT", "MEAN_FORMAT", cdma.conversion.use_mean};
    checks.advise(mean.value == 0 || cdma.conversion.enabled, mean,
                  "but the conversion that subtracts means is off (D_CVT_CFG, CVT_EN)");
    checks.advise(mean.value == 0 || cdma.in_precision != Precision::Fp16, mean,
                  "but no mean is subtracted from fp16 elements");
    checks.agree({cdma_unit, "D_ZERO_PADDING_VALUE", "PAD_VALUE", cdma.pad_value},
                 {csc_unit, "D_ZERO_PADDING_VALUE", "PAD_VALUE", csc.pad_value});
    checks.expect(csc.kernels.columns == 1,
                  {csc_unit, "D_WEIGHT_SIZE_EXT_0", "WEIGHT_WIDTH_EXT + 1", csc.kernels.columns},
                  "but must be 1: the columns of image kernels are channels");
    checks.expect(
        csc.kernels.channels % csc.input.channels == 0,
        {csc_unit, "D_WEIGHT_SIZE_EXT_1", "WEIGHT_CHANNEL_EXT + 1", csc.kernels.channels},
        fmt::format("which is no whole number of pixels of {} channels", csc.input.channels));
    const std::uint32_t need = reach(job.convolution.out_width, csc.stride_x, job.kernels.columns);
    const std::uint32_t stored = cdma.input.width + cdma.pad_left + cdma.pad_right;
    checks.expect(need <= stored,
                  {csc_unit, "D_DATAOUT_SIZE_0", "DATAOUT_WIDTH + 1", csc.output.width},
                  fmt::format("which needs {} columns, but NVDLA_CDMA.D_DATAIN_SIZE_0_0 and "
                              "D_ZERO_PADDING_0 give {}",
                              need, stored));
}

}  // namespace

void check_input_mode(const ConvJob& job, Checks& checks) {
    const ConvParts& parts = job.parts;
    if (parts.cdma.mode == ConvMode::Image) {
        check_image(job, checks);
        return;
    }
    check_feature(parts, checks);
    if (parts.cdma.mode == ConvMode::Winograd) {
        check_winograd(parts, checks);
    }
}

}  // namespace npuscope
