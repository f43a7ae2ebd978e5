// SPDX-License-Identifier: Apache-2.0
#include "sim/check/bank_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "models/base/check.h"
#include "models/conv/conv_work.h"
#include "models/layout/alignment.h"
#include "models/npu/pipelines.h"

namespace npuscope {
namespace {

/// More entries of the convolution buffer than D_BANK gives to `field`.
Diagnostic too_few_banks(const char* field, const std::string& what, std::uint64_t needed,
                         std::uint32_t banks, const NpuConfig& npu) {
    const bool data = field == std::string_view("DATA_BANK");
    const char* const owner = data ? "data" : "weights";
    const std::uint64_t enough = divide_up(needed, npu.cbuf.bank_depth);
    const std::string remedy =
        enough < npu.cbuf.banks
            ? fmt::format("give at least {} of the banks to {}, in {} and {}", enough, owner,
                          spelled("NVDLA_CDMA", "D_BANK"), spelled("NVDLA_CSC", "D_BANK"))
            : fmt::format("split the operation by {}: the buffer has only {} banks",
                          data ? "lines" : "kernels", npu.cbuf.banks);
    return {.id = "banks_too_few",
            .sentence = fmt::format("{} gives {} bank{} of {} entries to {}, but {}",
                                    spelled("NVDLA_CDMA", "D_BANK"), banks, banks == 1 ? "" : "s",
                                    npu.cbuf.bank_depth, owner, what),
            .remedy = remedy,
            .unit = "NVDLA_CDMA",
            .register_name = spelled("NVDLA_CDMA", "D_BANK"),
            .field = field};
}

/// Where not even all banks would do and slices are longer than lines, that is the cause.
Diagnostic too_few_for_data(const std::string& what, std::uint64_t needed, const CdmaJob& cdma,
                            const NpuConfig& npu) {
    Diagnostic finding = too_few_banks("DATA_BANK", what, needed, cdma.banks.data, npu);
    const std::uint64_t entries = entries_of_slice(cdma, conv_features(npu));
    const bool fits_none = divide_up(needed, npu.cbuf.bank_depth) >= npu.cbuf.banks;
    if (fits_none && cdma.entries_per_slice > entries) {
        finding.register_name = spelled("NVDLA_CDMA", "D_ENTRY_PER_SLICE");
        finding.field = "ENTRIES";
        finding.remedy =
            fmt::format("set ENTRIES to {} in {} and {}: a line of the input takes {}", entries - 1,
                        finding.register_name, spelled("NVDLA_CSC", "D_ENTRY_PER_SLICE"),
                        entries == 1 ? "1 entry" : fmt::format("{} entries", entries));
    }
    return finding;
}

}  // namespace

std::optional<Diagnostic> too_few_data_banks(const ConvJob& job, const BufferStart& start,
                                             const NpuConfig& npu) {
    const CdmaJob& cdma = job.parts.cdma;
    const CscJob& csc = job.parts.csc;
    NPU_CHECK(npu.cbuf.bank_depth > 0, "a bank has entries");
    const std::uint64_t room = std::uint64_t{cdma.banks.data} * npu.cbuf.bank_depth;
    const std::uint64_t released = std::uint64_t{csc.release_slices} * cdma.entries_per_slice;
    if (released > room) {
        return too_few_for_data(
            fmt::format("{} slice{} of {} {} {} released at once ({}, {})", csc.release_slices,
                        csc.release_slices == 1 ? "" : "s", cdma.entries_per_slice,
                        cdma.entries_per_slice == 1 ? "entry" : "entries",
                        csc.release_slices == 1 ? "is" : "are", spelled("NVDLA_CSC", "D_RELEASE"),
                        spelled("NVDLA_CDMA", "D_ENTRY_PER_SLICE")),
            released, cdma, npu);
    }
    const std::uint64_t kept = std::uint64_t{start.kept_lines} * cdma.entries_per_slice;
    const std::uint64_t needed = start.data_reused ? 0 : entries_of_data(cdma) + kept;
    if (needed <= room) {
        return std::nullopt;
    }
    return too_few_for_data(
        fmt::format("the input takes {} entries, {} in each slice ({}), and stays "
                    "until the operation ends",
                    needed, cdma.entries_per_slice, spelled("NVDLA_CDMA", "D_ENTRY_PER_SLICE")),
        needed, cdma, npu);
}

std::optional<Diagnostic> too_few_weight_banks(const WeightLayout& layout, const WeightStore& store,
                                               const std::vector<std::uint64_t>& ends,
                                               const NpuConfig& npu) {
    BufferUse use;
    use.entry = npu.cbuf.bank_width;
    use.weight_ends = ends;
    std::uint64_t needed = 0;
    for (std::uint32_t group = 0; group < ends.size(); ++group) {
        const std::uint64_t own = use.weights(group);
        needed = store.all_stay ? needed + own : std::max(needed, own);
    }
    if (needed <= std::uint64_t{store.banks} * npu.cbuf.bank_depth) {
        return std::nullopt;
    }
    const std::string what =
        store.all_stay ? "the weights, all of which stay (SKIP_WEIGHT_RLS), take"
                       : fmt::format("a group of {} kernels takes", layout.kernels_of_group(0));
    return too_few_banks(
        "WEIGHT_BANK",
        fmt::format("{} {} entries of {} bytes", what, needed, npu.cbuf.bank_width.value), needed,
        store.banks, npu);
}

}  // namespace npuscope
