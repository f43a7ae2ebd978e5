// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "models/base/rule_ids.h"
#include "models/conv/conv_registers.h"
#include "models/conv/csc_math.h"
#include "models/conv/register_claims.h"
#include "models/layout/alignment.h"

namespace npuscope {

namespace {

std::uint64_t number(Precision precision) { return static_cast<std::uint64_t>(precision); }

void check_modes(const ConvParts& parts, ClaimChecks& checks) {
    const CdmaJob& cdma = parts.cdma;
    const CscJob& csc = parts.csc;
    const auto pixel = [](ConvMode mode) { return std::uint64_t{mode == ConvMode::Image}; };
    const auto winograd = [](ConvMode mode) { return std::uint64_t{mode == ConvMode::Winograd}; };
    const RegisterClaim mode{csc_unit, "D_MISC_CFG", "CONV_MODE", winograd(csc.mode)};
    checks.agree({cdma_unit, "D_MISC_CFG", "CONV_MODE", winograd(cdma.mode)}, mode);
    checks.agree(mode, {cacc_unit, "D_MISC_CFG", "CONV_MODE", parts.cacc.winograd});
    checks.agree({cdma_unit, "D_DATAIN_FORMAT", "DATAIN_FORMAT", pixel(cdma.mode)},
                 {csc_unit, "D_DATAIN_FORMAT", "DATAIN_FORMAT", pixel(csc.mode)});
    const RegisterClaim precision{cdma_unit, "D_MISC_CFG", "PROC_PRECISION",
                                  number(cdma.precision)};
    checks.agree(precision, {csc_unit, "D_MISC_CFG", "PROC_PRECISION", number(csc.precision)});
    for (std::size_t half = 0; half < parts.cmac.size(); ++half) {
        const std::string_view cmac_unit = half == 0 ? "NVDLA_CMAC_A" : "NVDLA_CMAC_B";
        checks.agree(precision, {cmac_unit, "D_MISC_CFG", "PROC_PRECISION",
                                 number(parts.cmac[half].precision)});
        checks.agree(mode, {cmac_unit, "D_MISC_CFG", "CONV_MODE", parts.cmac[half].winograd});
    }
    const RegisterClaim batches{csc_unit, "D_BATCH_NUMBER", "BATCHES + 1", csc.batches};
    checks.agree({cdma_unit, "D_BATCH_NUMBER", "BATCHES + 1", cdma.batches}, batches);
    checks.agree(batches, {cacc_unit, "D_BATCH_NUMBER", "BATCHES + 1", parts.cacc.batches});
    checks.expect(csc.batches == 1 || csc.mode == ConvMode::Direct, batches,
                  "but only direct convolution takes several batches", "set BATCHES to 0");
    checks.agree(precision,
                 {cacc_unit, "D_MISC_CFG", "PROC_PRECISION", number(parts.cacc.precision)});
}

void check_reuse(const ConvParts& parts, ClaimChecks& checks) {
    const BufferReuse& cdma = parts.cdma.reuse;
    const BufferReuse& csc = parts.csc.reuse;
    const std::array rows{
        std::tuple{"DATA_REUSE", cdma.data_reuse, csc.data_reuse},
        std::tuple{"WEIGHT_REUSE", cdma.weight_reuse, csc.weight_reuse},
        std::tuple{"SKIP_DATA_RLS", cdma.skip_data_release, csc.skip_data_release},
        std::tuple{"SKIP_WEIGHT_RLS", cdma.skip_weight_release, csc.skip_weight_release}};
    for (const auto& [field, first, second] : rows) {
        checks.agree({cdma_unit, "D_MISC_CFG", field, first},
                     {csc_unit, "D_MISC_CFG", field, second});
    }
}

void check_input(const ConvParts& parts, const ConvFeatures& features, ClaimChecks& checks) {
    const Shape& csc = parts.csc.input;
    Shape cdma = parts.cdma.input;
    std::array<std::string_view, 4> said{"D_DATAIN_SIZE_0", "DATAIN_WIDTH + 1", "DATAIN_HEIGHT + 1",
                                         "DATAIN_CHANNEL + 1"};
    std::uint32_t channels = cdma.channels;
    if (parts.cdma.mode == ConvMode::Winograd) {
        const WinogradInput& extended = parts.cdma.winograd;
        cdma = {cdma.channels, extended.extended_height, extended.extended_width};
        said = {"D_DATAIN_SIZE_EXT_0", "DATAIN_WIDTH_EXT + 1", "DATAIN_HEIGHT_EXT + 1",
                "channels after the extension"};
        const std::uint32_t atom = features.datapath.atom_channels(parts.cdma.precision);
        channels = static_cast<std::uint32_t>(round_up(channels, atom)) * extended.stride_y *
                   extended.stride_x;
    }
    checks.agree({cdma_unit, said[0], said[1], cdma.width},
                 {csc_unit, "D_DATAIN_SIZE_EXT_0", "DATAIN_WIDTH_EXT + 1", csc.width});
    // with data of the previous operation, the input has more lines than are fetched
    if (!parts.csc.reuse.data_reuse || csc.height < cdma.height) {
        checks.agree({cdma_unit, said[0], said[2], cdma.height},
                     {csc_unit, "D_DATAIN_SIZE_EXT_0", "DATAIN_HEIGHT_EXT + 1", csc.height});
    }
    checks.agree({cdma_unit, "D_DATAIN_SIZE_1", said[3], channels},
                 {csc_unit, "D_DATAIN_SIZE_EXT_1", "DATAIN_CHANNEL_EXT + 1", csc.channels});
    checks.agree({cdma_unit, "D_ENTRY_PER_SLICE", "ENTRIES + 1", parts.cdma.entries_per_slice},
                 {csc_unit, "D_ENTRY_PER_SLICE", "ENTRIES + 1", parts.csc.entries_per_slice});
}

void check_compression(const ConvJob& job, ClaimChecks& checks) {
    const CdmaJob& cdma = job.parts.cdma;
    const CscJob& csc = job.parts.csc;
    checks.agree({cdma_unit, "D_WEIGHT_FORMAT", "WEIGHT_FORMAT", cdma.compression.has_value()},
                 {csc_unit, "D_WEIGHT_FORMAT", "WEIGHT_FORMAT", csc.compressed});
    if (!cdma.compression) {
        return;
    }
    const RegisterClaim mask{cdma_unit, "D_WMB_BYTES", "WMB_BYTES",
                             cdma.compression->mask_bytes.value};
    checks.agree(mask, {csc_unit, "D_WMB_BYTES", "WMB_BYTES", csc.mask_bytes.value});
}

void check_weights(const ConvJob& job, ClaimChecks& checks) {
    const CdmaJob& cdma = job.parts.cdma;
    const CscJob& csc = job.parts.csc;
    const RegisterClaim kernel{cdma_unit, "D_WEIGHT_SIZE_0", "BYTE_PER_KERNEL + 1",
                               cdma.bytes_per_kernel.value};
    checks.expect(
        cdma.bytes_per_kernel == job.weights.kernel_bytes(), kernel,
        fmt::format(
            "but {} describe kernels of {} byte{}",
            names_of(csc_unit, "D_WEIGHT_SIZE_EXT_0", "D_WEIGHT_SIZE_EXT_1", "D_POST_Y_EXTENSION"),
            job.weights.kernel_bytes().value, job.weights.kernel_bytes() == Bytes(1) ? "" : "s"),
        fmt::format("set BYTE_PER_KERNEL to {}, or correct the kernel's size",
                    job.weights.kernel_bytes().value - 1));
    checks.agree({cdma_unit, "D_WEIGHT_SIZE_1", "WEIGHT_KERNEL + 1", cdma.kernels},
                 {csc_unit, "D_WEIGHT_SIZE_EXT_1", "WEIGHT_KERNEL + 1", csc.kernels.kernels});
    const RegisterClaim bytes{cdma_unit, "D_WEIGHT_BYTES", "WEIGHT_BYTES", cdma.weight_bytes.value};
    checks.agree(bytes, {csc_unit, "D_WEIGHT_BYTES", "WEIGHT_BYTES", csc.weight_bytes.value});
    checks.expect(cdma.compression || cdma.weight_bytes >= job.weights.used_bytes(), bytes,
                  fmt::format("but the kernels of {} need {} bytes ({} with padding)",
                              names_of(csc_unit, "D_WEIGHT_SIZE_EXT_0", "D_WEIGHT_SIZE_EXT_1"),
                              job.weights.used_bytes().value, job.weights.stored_bytes().value),
                  fmt::format("set WEIGHT_BYTES to {}, or correct the kernels' size or number",
                              job.weights.stored_bytes().value));
}

void check_output(const ConvParts& parts, ClaimChecks& checks) {
    const Shape& csc = parts.csc.output;
    const Shape& cacc = parts.cacc.output;
    checks.agree({csc_unit, "D_DATAOUT_SIZE_0", "DATAOUT_WIDTH + 1", csc.width},
                 {cacc_unit, "D_DATAOUT_SIZE_0", "DATAOUT_WIDTH + 1", cacc.width});
    checks.agree({csc_unit, "D_DATAOUT_SIZE_0", "DATAOUT_HEIGHT + 1", csc.height},
                 {cacc_unit, "D_DATAOUT_SIZE_0", "DATAOUT_HEIGHT + 1", cacc.height});
    checks.agree({csc_unit, "D_DATAOUT_SIZE_1", "DATAOUT_CHANNEL + 1", csc.channels},
                 {cacc_unit, "D_DATAOUT_SIZE_1", "DATAOUT_CHANNEL + 1", cacc.channels});
    checks.agree({csc_unit, "D_DATAOUT_SIZE_1", "DATAOUT_CHANNEL + 1", csc.channels},
                 {csc_unit, "D_WEIGHT_SIZE_EXT_1", "WEIGHT_KERNEL + 1", parts.csc.kernels.kernels});
    const std::uint64_t outputs = std::uint64_t{csc.width} * csc.height;
    const RegisterClaim atomics{csc_unit, "D_ATOMICS", "ATOMICS + 1", parts.csc.atomics};
    checks.expect(parts.csc.atomics == outputs, atomics,
                  fmt::format("but the output has {} x {} elements per kernel ({}, {}, {})",
                              csc.width, csc.height, spelled(csc_unit, "D_DATAOUT_SIZE_0"),
                              spelled(cacc_unit, "D_DATAOUT_SIZE_0"),
                              names_of("NVDLA_SDP", "D_DATA_CUBE_WIDTH", "D_DATA_CUBE_HEIGHT")),
                  fmt::format("set ATOMICS to {}, or correct the output's size", outputs - 1));
}

void check_buffer(const ConvParts& parts, const ConvFeatures& features, ClaimChecks& checks) {
    const BankSplit& banks = parts.cdma.banks;
    const BankSplit& csc = parts.csc.banks;
    checks.agree({cdma_unit, "D_BANK", "DATA_BANK + 1", banks.data},
                 {csc_unit, "D_BANK", "DATA_BANK + 1", csc.data});
    checks.agree({cdma_unit, "D_BANK", "WEIGHT_BANK + 1", banks.weight},
                 {csc_unit, "D_BANK", "WEIGHT_BANK + 1", csc.weight});
    const RegisterClaim sum{cdma_unit, "D_BANK", "DATA_BANK + WEIGHT_BANK + 2",
                            banks.data + banks.weight};
    const std::uint32_t mask_banks = parts.cdma.compression ? 1 : 0;
    checks.expect(sum.value + mask_banks <= features.cbuf_banks, sum,
                  fmt::format("but the buffer has {} banks{}", features.cbuf_banks,
                              mask_banks > 0 ? ", and the mask takes the last one" : ""),
                  "lower DATA_BANK or WEIGHT_BANK");
    const std::uint32_t entries = entries_of_slice(parts.cdma, features);
    checks.advise(parts.cdma.entries_per_slice == entries,
                  {cdma_unit, "D_ENTRY_PER_SLICE", "ENTRIES + 1", parts.cdma.entries_per_slice},
                  fmt::format("but a line of the input needs {} entries ({})", entries,
                              names_of(cdma_unit, "D_DATAIN_SIZE_0", "D_DATAIN_SIZE_1")),
                  fmt::format("set ENTRIES to {}", entries - 1));
    const std::uint32_t lines = parts.csc.input.height * parts.csc.batches;
    checks.advise(parts.csc.release_slices <= lines,
                  {csc_unit, "D_RELEASE", "RLS_SLICES + 1", parts.csc.release_slices},
                  fmt::format("but the input has {} line{} ({}, {})", lines, lines == 1 ? "" : "s",
                              spelled(csc_unit, "D_DATAIN_SIZE_EXT_0"),
                              spelled(cdma_unit, "D_DATAIN_SIZE_0")),
                  fmt::format("set RLS_SLICES to {}, or less", lines - 1));
}

// --- what each input mode requires of its registers ---------------------------------------------

void check_feature(const ConvParts& parts, ClaimChecks& checks) {
    const CdmaJob& cdma = parts.cdma;
    const CscJob& csc = parts.csc;
    const FeatureCube& cube = cdma.feature;
    checks.agree({csc_unit, "D_WEIGHT_SIZE_EXT_1", "WEIGHT_CHANNEL_EXT + 1", csc.kernels.channels},
                 {csc_unit, "D_DATAIN_SIZE_EXT_1", "DATAIN_CHANNEL_EXT + 1", csc.input.channels});
    checks.expect(csc.row_group == 1,
                  {csc_unit, "D_POST_Y_EXTENSION", "rows per step", csc.row_group},
                  "but only image input uses channel extension", "write 0 to the register");
    const bool surfaces_agree = !cdma.surface_packed || cube.surface_packed();
    // if both strides contradict their PACKED bits, the line stride is the cause of the surface mismatch
    checks.expect(
        !cdma.line_packed || cube.line_packed(),
        {cdma_unit, "D_LINE_STRIDE", "LINE_STRIDE", cube.line_stride.value},
        fmt::format("but a line has {} bytes ({}) and {} says LINE_PACKED", cube.line_bytes().value,
                    spelled(cdma_unit, "D_DATAIN_SIZE_0"), spelled(cdma_unit, "D_DAIN_MAP")),
        fmt::format("set LINE_STRIDE to {:#x}, or clear LINE_PACKED", cube.line_bytes().value));
    // source: nv_full C model; no program that hardware ran has it otherwise
    checks.advise(cdma.line_packed || !cube.line_packed(),
                  {cdma_unit, "D_DAIN_MAP", "LINE_PACKED", cdma.line_packed},
                  fmt::format("but lines of {} bytes ({}) follow each other without gaps ({})",
                              cube.line_bytes().value, spelled(cdma_unit, "D_DATAIN_SIZE_0"),
                              spelled(cdma_unit, "D_LINE_STRIDE")),
                  "set LINE_PACKED to 1");
    checks.expect(
        surfaces_agree, {cdma_unit, "D_SURF_STRIDE", "SURF_STRIDE", cube.surface_stride.value},
        fmt::format("but a surface of {} line{} has {} bytes ({}) and {} says SURF_PACKED",
                    cube.lines_of_batch(), cube.lines_of_batch() == 1 ? "" : "s",
                    (cube.line_stride * cube.lines_of_batch()).value,
                    names_of(cdma_unit, "D_DATAIN_SIZE_0", "D_LINE_STRIDE"),
                    spelled(cdma_unit, "D_DAIN_MAP")),
        fmt::format("set SURF_STRIDE to {:#x}, or clear SURF_PACKED",
                    (cube.line_stride * cube.lines_of_batch()).value));
}

void check_winograd(const ConvParts& parts, ClaimChecks& checks) {
    const CdmaJob& cdma = parts.cdma;
    const CscJob& csc = parts.csc;
    checks.expect(
        csc.kernels.rows == 4 && csc.kernels.columns == 4,
        {csc_unit, "D_WEIGHT_SIZE_EXT_0", "WEIGHT_WIDTH_EXT + 1", csc.kernels.columns},
        fmt::format("with {} rows, but transformed kernels have 4 x 4 elements", csc.kernels.rows),
        "set both sizes to 3 (4 rows and 4 columns), and load transformed kernels");
    checks.expect(
        csc.stride_x == 1 && csc.stride_y == 1,
        {csc_unit, "D_CONV_STRIDE_EXT", "CONV_X_STRIDE_EXT + 1", csc.stride_x},
        "but must be 1: the DMA converts strides into channels (NVDLA_CDMA.D_CONV_STRIDE_0)",
        "write 0 to the register");
    checks.expect(csc.dilation_x == 1 && csc.dilation_y == 1,
                  {csc_unit, "D_DILATION_EXT", "X_DILATION_EXT + 1", csc.dilation_x},
                  "but must be 1: Winograd kernels are not dilated", "write 0 to the register");
    const WinogradInput& extended = cdma.winograd;
    const std::uint32_t width = cdma.input.width + cdma.pad_left + cdma.pad_right;
    const std::uint32_t height = cdma.input.height + extended.pad_top + extended.pad_bottom;
    checks.expect(
        width == extended.extended_width * extended.stride_x && width % 4 == 0 &&
            extended.extended_width % 4 == 0,
        {cdma_unit, "D_DATAIN_SIZE_EXT_0", "DATAIN_WIDTH_EXT + 1", extended.extended_width},
        fmt::format("but {} padded columns at stride {} must give a multiple of four", width,
                    extended.stride_x),
        "correct PAD_LEFT, PAD_RIGHT, stride or DATAIN_WIDTH_EXT");
    checks.expect(
        height == extended.extended_height * extended.stride_y && extended.extended_height % 4 == 0,
        {cdma_unit, "D_DATAIN_SIZE_EXT_0", "DATAIN_HEIGHT_EXT + 1", extended.extended_height},
        fmt::format("but {} padded lines at stride {} must give a multiple of four", height,
                    extended.stride_y),
        "correct PAD_TOP, PAD_BOTTOM, stride or DATAIN_HEIGHT_EXT");
    checks.expect(csc.output.width % 4 == 0 && csc.output.height % 4 == 0,
                  {csc_unit, "D_DATAOUT_SIZE_0", "DATAOUT_WIDTH + 1", csc.output.width},
                  fmt::format("with {} lines, but Winograd produces 4 x 4 outputs at once: both "
                              "must be multiples of four",
                              csc.output.height),
                  "round the output's size up to multiples of four");
    checks.expect(
        csc.output.width + 2 <= extended.extended_width &&
            csc.output.height + 2 <= extended.extended_height,
        {csc_unit, "D_DATAOUT_SIZE_0", "DATAOUT_WIDTH + 1", csc.output.width},
        fmt::format("with {} lines, but the extended input yields only {} x {}", csc.output.height,
                    extended.extended_width - 2, extended.extended_height - 2),
        "correct the output's size, or pad the input");
}

void check_image(const ConvJob& job, const ConvFeatures& features, ClaimChecks& checks) {
    const CdmaJob& cdma = job.parts.cdma;
    const CscJob& csc = job.parts.csc;
    const RegisterClaim mean{cdma_unit, "D_MEAN_FORMAT", "MEAN_FORMAT", cdma.conversion.use_mean};
    checks.advise(mean.value == 0 || cdma.conversion.enabled, mean,
                  "but the conversion that subtracts means is off (D_CVT_CFG, CVT_EN)",
                  "set CVT_EN to 1, or MEAN_FORMAT to 0");
    checks.advise(mean.value == 0 || cdma.in_precision != Precision::Fp16, mean,
                  "but no mean is subtracted from fp16 elements", "set MEAN_FORMAT to 0");
    checks.agree({cdma_unit, "D_ZERO_PADDING_VALUE", "PAD_VALUE", cdma.pad_value},
                 {csc_unit, "D_ZERO_PADDING_VALUE", "PAD_VALUE", csc.pad_value});
    checks.expect(csc.kernels.columns == 1,
                  {csc_unit, "D_WEIGHT_SIZE_EXT_0", "WEIGHT_WIDTH_EXT + 1", csc.kernels.columns},
                  "but must be 1: the columns of image kernels are channels",
                  "set WEIGHT_WIDTH_EXT to 0, and WEIGHT_CHANNEL_EXT to columns x channels - 1");
    checks.expect(csc.kernels.channels % csc.input.channels == 0,
                  {csc_unit, "D_WEIGHT_SIZE_EXT_1", "WEIGHT_CHANNEL_EXT + 1", csc.kernels.channels},
                  fmt::format("not a multiple of the {} channels of a pixel", csc.input.channels),
                  "set WEIGHT_CHANNEL_EXT to columns x channels - 1");
    // source: NVDLA format page, "Channel Post-Extension"; NVDLA compiler, limits
    checks.expect(
        csc.row_group == 1 || csc.kernels.channels * csc.row_group <= features.datapath.atomic_c,
        {csc_unit, "D_POST_Y_EXTENSION", "rows taken at once", csc.row_group},
        fmt::format("but kernels have {} channels after channel pre-extension ({}), more than {}",
                    csc.kernels.channels, spelled(csc_unit, "D_WEIGHT_SIZE_EXT_1"),
                    features.datapath.atomic_c / csc.row_group),
        "take fewer rows at once", rule_ids::post_extension_channels);
    const std::uint32_t need = reach(job.convolution.out_width, csc.stride_x, job.kernels.columns);
    const std::uint32_t stored = cdma.input.width + cdma.pad_left + cdma.pad_right;
    checks.expect(
        need <= stored, {csc_unit, "D_DATAOUT_SIZE_0", "DATAOUT_WIDTH + 1", csc.output.width},
        fmt::format("which needs {} columns, but {} provide {} (window size: {}, stride: {})", need,
                    names_of(cdma_unit, "D_DATAIN_SIZE_0", "D_ZERO_PADDING"), stored,
                    spelled(csc_unit, "D_WEIGHT_SIZE_EXT_1"),
                    spelled(csc_unit, "D_CONV_STRIDE_EXT")),
        remedy_of_windows);
    checks.advise(
        need > stored || stored - need < csc.stride_x || stored == cdma.input.width,
        {csc_unit, "D_DATAOUT_SIZE_0", "DATAOUT_WIDTH + 1", csc.output.width},
        fmt::format(
            "which needs {} column{}, but {} provide {} (window size: {}, stride: {})", need,
            need == 1 ? "" : "s", names_of(cdma_unit, "D_DATAIN_SIZE_0", "D_ZERO_PADDING"), stored,
            spelled(csc_unit, "D_WEIGHT_SIZE_EXT_1"), spelled(csc_unit, "D_CONV_STRIDE_EXT")),
        remedy_of_windows);
}

/// What the modes require of the input: feature data, Winograd, images.
void check_input_mode(const ConvJob& job, const ConvFeatures& features, ClaimChecks& checks) {
    const ConvParts& parts = job.parts;
    if (parts.cdma.mode == ConvMode::Image) {
        check_image(job, features, checks);
        return;
    }
    check_feature(parts, checks);
    if (parts.cdma.mode == ConvMode::Winograd) {
        check_winograd(parts, checks);
    }
}

/// At NVDLA_CSC.D_WEIGHT_SIZE_EXT_1.
Diagnostic miscount_finding(const ConvJob& job, const MiscountedImage& image) {
    Diagnostic finding;
    finding.severity = Severity::Warning;
    finding.id = "image_miscounted";
    finding.unit = "NVDLA_CSC";
    finding.register_name = spelled("NVDLA_CSC", "D_WEIGHT_SIZE_EXT_1");
    finding.sentence = fmt::format(
        "{} gives kernel rows of {} bytes ({} blocks of {} in the MAC cells), and {} output rows "
        "of {}: the sequencer miscounts these blocks, so outputs from column {} on use wrong "
        "pixels from block {} on",
        finding.register_name, image.walk.row_bytes, image.walk.blocks(), image.walk.width,
        spelled("NVDLA_CSC", "D_DATAOUT_SIZE_0"), job.output().width, image.first.column,
        image.first.block);
    const std::uint32_t columns = columns_to_add(image.walk, image.row, job.input().channels);
    finding.remedy = fmt::format(
        "add {} column{} of zeros to the kernels (rows of {} bytes) and to PAD_RIGHT of {}",
        columns, columns == 1 ? "" : "s", image.walk.row_bytes + columns * job.input().channels,
        spelled("NVDLA_CDMA", "D_ZERO_PADDING"));
    return finding;
}

}  // namespace

std::vector<Diagnostic> launch_findings(const ConvJob& job, const CscConfig& config,
                                        const DatapathConfig& datapath, Bytes entry) {
    const auto image = miscounted_image(job, config, datapath, entry);
    return image ? std::vector{miscount_finding(job, *image)} : std::vector<Diagnostic>{};
}

std::uint32_t reached_columns(const CscJob& csc) {
    return reach(csc.output.width, csc.stride_x, dilated_span(csc.kernels.columns, csc.dilation_x));
}

std::uint32_t reached_lines(const CscJob& csc) {
    return reach(csc.output.height, csc.stride_y, dilated_span(csc.kernels.rows, csc.dilation_y));
}

std::vector<Diagnostic> window_findings(const ConvJob& job, const RegisterValues& cdma) {
    const CscJob& csc = job.parts.csc;
    if (csc.mode == ConvMode::Winograd) {
        return {};
    }
    ClaimChecks checks;
    const auto same = [&](std::string_view register_name, std::string_view field,
                          std::string_view csc_register, std::uint32_t plus, std::uint32_t value) {
        const std::uint32_t said = cdma.field(register_name, field) + plus;
        const RegisterClaim own{csc_unit, csc_register, field, value};
        if (said != value) {
            checks.advise(false, own,
                          fmt::format("but {} says {}", spelled(cdma_unit, register_name), said),
                          remedy_of_two);
        }
    };
    same("D_CONV_STRIDE", "CONV_X_STRIDE", "D_CONV_STRIDE_EXT", 1, csc.stride_x);
    same("D_CONV_STRIDE", "CONV_Y_STRIDE", "D_CONV_STRIDE_EXT", 1, csc.stride_y);
    same("D_ZERO_PADDING", "PAD_TOP", "D_ZERO_PADDING", 0, csc.pad_top);
    const auto inside = [&](const RegisterClaim& output, std::uint32_t need, std::uint32_t before,
                            std::uint32_t size, std::uint32_t stride, std::string_view field,
                            const char* what) {
        const std::uint32_t after = cdma.field("D_ZERO_PADDING", field);
        const std::uint32_t all = before + size + after;
        checks.advise(
            need <= all && all - need < stride, output,
            fmt::format(
                "whose windows span {} {}{}, but the input has {}, with {} of padding before "
                "({}) and {} after ({} {}); window size is set by {}, stride by {}",
                need, what, need == 1 ? "" : "s", size, before, spelled(csc_unit, "D_ZERO_PADDING"),
                after, spelled(cdma_unit, "D_ZERO_PADDING"), field,
                names_of(csc_unit, "D_WEIGHT_SIZE_EXT_0", "D_DILATION_EXT"),
                spelled(csc_unit, "D_CONV_STRIDE_EXT")),
            remedy_of_windows);
    };
    if (csc.mode == ConvMode::Direct) {
        same("D_ZERO_PADDING", "PAD_LEFT", "D_ZERO_PADDING", 0, csc.pad_left);
        same("D_ZERO_PADDING_VALUE", "PAD_VALUE", "D_ZERO_PADDING_VALUE", 0, csc.pad_value);
        inside({csc_unit, "D_DATAOUT_SIZE_0", "DATAOUT_WIDTH + 1", csc.output.width},
               reached_columns(csc), csc.pad_left, csc.input.width, csc.stride_x, "PAD_RIGHT",
               "column");
    }
    inside({csc_unit, "D_DATAOUT_SIZE_0", "DATAOUT_HEIGHT + 1", csc.output.height},
           reached_lines(csc), csc.pad_top, csc.input.height, csc.stride_y, "PAD_BOTTOM", "line");
    return checks.take();
}

std::vector<Diagnostic> contradictions(const ConvJob& job, const ConvFeatures& features) {
    ClaimChecks checks;
    const ConvParts& parts = job.parts;
    check_modes(parts, checks);
    check_reuse(parts, checks);
    check_input(parts, features, checks);
    check_weights(job, checks);
    check_compression(job, checks);
    check_output(parts, checks);
    check_buffer(parts, features, checks);
    if (parts.cdma.mode == parts.csc.mode) {
        check_input_mode(job, features, checks);
    }
    return checks.take();
}

}  // namespace npuscope
