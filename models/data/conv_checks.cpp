// SPDX-License-Identifier: Apache-2.0
#include "models/data/conv_checks.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "models/data/alignment.h"

namespace npuscope {

namespace {

/// A field of a register and what it says.
struct Said {
    std::string_view unit;
    std::string_view register_name;
    std::string_view field;
    std::uint64_t value;

    std::string text() const {
        return fmt::format("{} says {} = {}", spelled(unit, register_name), field, value);
    }
};

class Checks {
 public:
    /// Two units must have been told the same.
    void agree(const Said& first, const Said& second) {
        if (first.value != second.value) {
            add(Severity::Error, "register_mismatch", first,
                fmt::format("{}, {}", first.text(), second.text()));
        }
    }
    /// One register against what the rest of the job asks for.
    void expect(bool condition, const Said& said, const std::string& need) {
        if (!condition) {
            add(Severity::Error, "impossible_register", said,
                fmt::format("{}, {}", said.text(), need));
        }
    }
    /// The same where the job can be computed nevertheless.
    void advise(bool condition, const Said& said, const std::string& need) {
        if (!condition) {
            add(Severity::Warning, "suspicious_register", said,
                fmt::format("{}, {}", said.text(), need));
        }
    }
    std::vector<Finding> take() { return std::move(findings_); }

 private:
    void add(Severity severity, std::string kind, const Said& said, std::string message) {
        Finding finding;
        finding.severity = severity;
        finding.kind = std::move(kind);
        finding.message = std::move(message);
        finding.unit = said.unit;
        finding.surface = spelled(said.unit, said.register_name);
        findings_.push_back(std::move(finding));
    }

    std::vector<Finding> findings_;
};

constexpr std::string_view cdma_unit = "NVDLA_CDMA";
constexpr std::string_view csc_unit = "NVDLA_CSC";
constexpr std::string_view cacc_unit = "NVDLA_CACC";

std::uint64_t number(Precision precision) { return static_cast<std::uint64_t>(precision); }

void check_modes(const ConvParts& parts, Checks& checks) {
    const CdmaJob& cdma = parts.cdma;
    const CscJob& csc = parts.csc;
    const auto pixel = [](ConvMode mode) { return std::uint64_t{mode == ConvMode::Image}; };
    checks.agree({cdma_unit, "D_DATAIN_FORMAT", "DATAIN_FORMAT", pixel(cdma.mode)},
                 {csc_unit, "D_DATAIN_FORMAT", "DATAIN_FORMAT", pixel(csc.mode)});
    const Said precision{cdma_unit, "D_MISC_CFG", "PROC_PRECISION", number(cdma.precision)};
    checks.agree(precision, {csc_unit, "D_MISC_CFG", "PROC_PRECISION", number(csc.precision)});
    for (std::size_t half = 0; half < parts.cmac.size(); ++half) {
        checks.agree(precision, {half == 0 ? "NVDLA_CMAC_A" : "NVDLA_CMAC_B", "D_MISC_CFG",
                                 "PROC_PRECISION", number(parts.cmac[half].precision)});
    }
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

void check_input(const ConvParts& parts, Checks& checks) {
    const Shape& cdma = parts.cdma.input;
    const Shape& csc = parts.csc.input;
    checks.agree({cdma_unit, "D_DATAIN_SIZE_0", "DATAIN_WIDTH + 1", cdma.width},
                 {csc_unit, "D_DATAIN_SIZE_EXT_0", "DATAIN_WIDTH_EXT + 1", csc.width});
    checks.agree({cdma_unit, "D_DATAIN_SIZE_0", "DATAIN_HEIGHT + 1", cdma.height},
                 {csc_unit, "D_DATAIN_SIZE_EXT_0", "DATAIN_HEIGHT_EXT + 1", csc.height});
    checks.agree({cdma_unit, "D_DATAIN_SIZE_1", "DATAIN_CHANNEL + 1", cdma.channels},
                 {csc_unit, "D_DATAIN_SIZE_EXT_1", "DATAIN_CHANNEL_EXT + 1", csc.channels});
    checks.agree({cdma_unit, "D_ENTRY_PER_SLICE", "ENTRIES + 1", parts.cdma.entries_per_slice},
                 {csc_unit, "D_ENTRY_PER_SLICE", "ENTRIES + 1", parts.csc.entries_per_slice});
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
    checks.expect(cdma.weight_bytes >= job.weights.used_bytes(), bytes,
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
    checks.expect(sum.value <= features.cbuf_banks, sum,
                  fmt::format("but the buffer has {}", features.cbuf_banks));
    const std::uint32_t entries = entries_of_slice(parts.cdma, features);
    checks.advise(parts.cdma.entries_per_slice >= entries,
                  {cdma_unit, "D_ENTRY_PER_SLICE", "ENTRIES + 1", parts.cdma.entries_per_slice},
                  fmt::format("but a line of the input takes {}", entries));
    checks.advise(parts.csc.release_slices <= parts.csc.input.height,
                  {csc_unit, "D_RELEASE", "RLS_SLICES + 1", parts.csc.release_slices},
                  fmt::format("but the input has {} lines", parts.csc.input.height));
}

void check_direct(const ConvParts& parts, Checks& checks) {
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
                    cube.shape.height, (cube.line_stride * cube.shape.height).value));
}

void check_image(const ConvJob& job, Checks& checks) {
    const CdmaJob& cdma = job.parts.cdma;
    const CscJob& csc = job.parts.csc;
    checks.agree({cdma_unit, "D_ZERO_PADDING_VALUE", "PAD_VALUE", cdma.pad_value},
                 {csc_unit, "D_ZERO_PADDING_VALUE", "PAD_VALUE", csc.pad_value});
    checks.expect(csc.kernels.columns == 1,
                  {csc_unit, "D_WEIGHT_SIZE_EXT_0", "WEIGHT_WIDTH_EXT + 1", csc.kernels.columns},
                  "but the columns of image kernels are channels: 1");
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

std::vector<Finding> contradictions(const ConvJob& job, const ConvFeatures& features) {
    Checks checks;
    const ConvParts& parts = job.parts;
    check_modes(parts, checks);
    check_reuse(parts, checks);
    check_input(parts, checks);
    check_weights(job, checks);
    check_output(parts, checks);
    check_buffer(parts, features, checks);
    if (parts.cdma.mode == ConvMode::Direct && parts.csc.mode == ConvMode::Direct) {
        check_direct(parts, checks);
    }
    if (parts.cdma.mode == ConvMode::Image && parts.csc.mode == ConvMode::Image) {
        check_image(job, checks);
    }
    return checks.take();
}

}  // namespace npuscope
