// SPDX-License-Identifier: Apache-2.0
#include "models/conv/conv_checks.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <tuple>

#include "models/conv/conv_check_list.h"
#include "models/layout/alignment.h"

namespace npuscope {

namespace {

std::uint64_t number(Precision precision) { return static_cast<std::uint64_t>(precision); }

void check_modes(const ConvParts& parts, Checks& checks) {
    const CdmaJob& cdma = parts.cdma;
    const CscJob& csc = parts.csc;
    const auto pixel = [](ConvMode mode) { return std::uint64_t{mode == ConvMode::Image}; };
    const auto winograd = [](ConvMode mode) { return std::uint64_t{mode == ConvMode::Winograd}; };
    const Said mode{csc_unit, "D_MISC_CFG", "CONV_MODE", winograd(csc.mode)};
    checks.agree({cdma_unit, "D_MISC_CFG", "CONV_MODE", winograd(cdma.mode)}, mode);
    checks.agree(mode, {cacc_unit, "D_MISC_CFG", "CONV_MODE", parts.cacc.winograd});
    checks.agree({cdma_unit, "D_DATAIN_FORMAT", "DATAIN_FORMAT", pixel(cdma.mode)},
                 {csc_unit, "D_DATAIN_FORMAT", "DATAIN_FORMAT", pixel(csc.mode)});
    const Said precision{cdma_unit, "D_MISC_CFG", "PROC_PRECISION", number(cdma.precision)};
    checks.agree(precision, {csc_unit, "D_MISC_CFG", "PROC_PRECISION", number(csc.precision)});
    for (std::size_t half = 0; half < parts.cmac.size(); ++half) {
        const std::string_view cmac_unit = half == 0 ? "NVDLA_CMAC_A" : "NVDLA_CMAC_B";
        checks.agree(precision, {cmac_unit, "D_MISC_CFG", "PROC_PRECISION",
                                 number(parts.cmac[half].precision)});
        checks.agree(mode, {cmac_unit, "D_MISC_CFG", "CONV_MODE", parts.cmac[half].winograd});
    }
    const Said batches{csc_unit, "D_BATCH_NUMBER", "BATCHES + 1", csc.batches};
    checks.agree({cdma_unit, "D_BATCH_NUMBER", "BATCHES + 1", cdma.batches}, batches);
    checks.agree(batches, {cacc_unit, "D_BATCH_NUMBER", "BATCHES + 1", parts.cacc.batches});
    checks.expect(csc.batches == 1 || csc.mode == ConvMode::Direct, batches,
                  "but only direct convolution takes several batches");
    checks.agree(precision,
                 {cacc_unit, "D_MISC_CFG", "PROC_PRECISION", number(parts.cacc.precision)});
}

void check_reuse(const ConvParts& parts, Checks& checks) {
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

void check_input(const ConvParts& parts, const ConvFeatures& features, Checks& checks) {
    const Shape& csc = parts.csc.input;
    Shape cdma = parts.cdma.input;
    std::array<std::string_view, 4> said{"D_DATAIN_SIZE_0", "DATAIN_WIDTH + 1", "DATAIN_HEIGHT + 1",
                                         "DATAIN_CHANNEL + 1"};
    std::uint32_t channels = cdma.channels;
    if (parts.cdma.mode == ConvMode::Winograd) {
        const WinogradInput& extended = parts.cdma.winograd;
        cdma = {cdma.channels, extended.extended_height, extended.extended_width};
        said = {"D_DATAIN_SIZE_EXT_0", "DATAIN_WIDTH_EXT + 1", "DATAIN_HEIGHT_EXT + 1",
                "channels behind the extension"};
        const std::uint32_t atom = features.datapath.atom_channels(parts.cdma.precision);
        channels = static_cast<std::uint32_t>(round_up(channels, atom)) * extended.stride_y *
                   extended.stride_x;
    }
    checks.agree({cdma_unit, said[0], said[1], cdma.width},
                 {csc_unit, "D_DATAIN_SIZE_EXT_0", "DATAIN_WIDTH_EXT + 1", csc.width});
    // with data of the operation before, the input has more lines than are fetched
    if (!parts.csc.reuse.data_reuse || csc.height < cdma.height) {
        checks.agree({cdma_unit, said[0], said[2], cdma.height},
                     {csc_unit, "D_DATAIN_SIZE_EXT_0", "DATAIN_HEIGHT_EXT + 1", csc.height});
    }
    checks.agree({cdma_unit, "D_DATAIN_SIZE_1", said[3], channels},
                 {csc_unit, "D_DATAIN_SIZE_EXT_1", "DATAIN_CHANNEL_EXT + 1", csc.channels});
    checks.agree({cdma_unit, "D_ENTRY_PER_SLICE", "ENTRIES + 1", parts.cdma.entries_per_slice},
                 {csc_unit, "D_ENTRY_PER_SLICE", "ENTRIES + 1", parts.csc.entries_per_slice});
}

void check_compression(const ConvJob& job, Checks& checks) {
    const CdmaJob& cdma = job.parts.cdma;
    const CscJob& csc = job.parts.csc;
    checks.agree({cdma_unit, "D_WEIGHT_FORMAT", "WEIGHT_FORMAT", cdma.compression.has_value()},
                 {csc_unit, "D_WEIGHT_FORMAT", "WEIGHT_FORMAT", csc.compressed});
    if (!cdma.compression) {
        return;
    }
    const Said mask{cdma_unit, "D_WMB_BYTES", "WMB_BYTES", cdma.compression->mask_bytes.value};
    checks.agree(mask, {csc_unit, "D_WMB_BYTES", "WMB_BYTES", csc.mask_bytes.value});
}

void check_weights(const ConvJob& job, Checks& checks) {
    const CdmaJob& cdma = job.parts.cdma;
    const CscJob& csc = job.parts.csc;
    const Said kernel{cdma_unit, "D_WEIGHT_SIZE_0", "BYTE_PER_KERNEL + 1",
                      cdma.bytes_per_kernel.value};
    checks.expect(cdma.bytes_per_kernel == job.weights.kernel_bytes(), kernel,
                  fmt::format("but NVDLA_CSC.D_WEIGHT_SIZE_EXT_0_0 and _1_0 describe kernels of "
                              "{} bytes",
                              job.weights.kernel_bytes().value));
    checks.agree({cdma_unit, "D_WEIGHT_SIZE_1", "WEIGHT_KERNEL + 1", cdma.kernels},
                 {csc_unit, "D_WEIGHT_SIZE_EXT_1", "WEIGHT_KERNEL + 1", csc.kernels.kernels});
    const Said bytes{cdma_unit, "D_WEIGHT_BYTES", "WEIGHT_BYTES", cdma.weight_bytes.value};
    checks.agree(bytes, {csc_unit, "D_WEIGHT_BYTES", "WEIGHT_BYTES", csc.weight_bytes.value});
    checks.expect(cdma.compression || cdma.weight_bytes >= job.weights.used_bytes(), bytes,
                  fmt::format("but the kernels need {} bytes ({} with their zeros)",
                              job.weights.used_bytes().value, job.weights.stored_bytes().value));
}

void check_output(const ConvParts& parts, Checks& checks) {
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
    const Said atomics{csc_unit, "D_ATOMICS", "ATOMICS + 1", parts.csc.atomics};
    checks.expect(
        parts.csc.atomics == outputs, atomics,
        fmt::format("but the output has {} x {} elements a kernel", csc.width, csc.height));
}

void check_buffer(const ConvParts& parts, const ConvFeatures& features, Checks& checks) {
    const BankSplit& banks = parts.cdma.banks;
    const BankSplit& csc = parts.csc.banks;
    checks.agree({cdma_unit, "D_BANK", "DATA_BANK + 1", banks.data},
                 {csc_unit, "D_BANK", "DATA_BANK + 1", csc.data});
    checks.agree({cdma_unit, "D_BANK", "WEIGHT_BANK + 1", banks.weight},
                 {csc_unit, "D_BANK", "WEIGHT_BANK + 1", csc.weight});
    const Said sum{cdma_unit, "D_BANK", "data and weight banks together",
                   banks.data + banks.weight};
    const std::uint32_t mask_banks = parts.cdma.compression ? 1 : 0;
    checks.expect(sum.value + mask_banks <= features.cbuf_banks, sum,
                  fmt::format("but the buffer has {}{}", features.cbuf_banks,
                              mask_banks > 0 ? ", and the mask takes the last one" : ""));
    const std::uint32_t entries = entries_of_slice(parts.cdma, features);
    checks.advise(parts.cdma.entries_per_slice >= entries,
                  {cdma_unit, "D_ENTRY_PER_SLICE", "ENTRIES + 1", parts.cdma.entries_per_slice},
                  fmt::format("but a line of the input takes {}", entries));
    const std::uint32_t lines = parts.csc.input.height * parts.csc.batches;
    checks.advise(parts.csc.release_slices <= lines,
                  {csc_unit, "D_RELEASE", "RLS_SLICES + 1", parts.csc.release_slices},
                  fmt::format("but the input has {} lines", lines));
}

}  // namespace

std::vector<Diagnostic> contradictions(const ConvJob& job, const ConvFeatures& features) {
    Checks checks;
    const ConvParts& parts = job.parts;
    check_modes(parts, checks);
    check_reuse(parts, checks);
    check_input(parts, features, checks);
    check_weights(job, checks);
    check_compression(job, checks);
    check_output(parts, checks);
    check_buffer(parts, features, checks);
    if (parts.cdma.mode == parts.csc.mode) {
        check_input_mode(job, checks);
    }
    return checks.take();
}

}  // namespace npuscope
