// SPDX-License-Identifier: Apache-2.0
#include "models/conv/conv_findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/layout/alignment.h"

namespace npuscope {

std::uint64_t delivered_atoms(const ConvJob& job) {
    return std::uint64_t{job.output().width} * job.output().height * job.batches() *
           job.weights.groups();
}

Diagnostic ends_meet(const ConvJob& job, const std::string& what) {
    const std::uint32_t groups = job.weights.groups();
    Diagnostic finding;
    finding.severity = Severity::Warning;
    finding.id = "ends_meet";
    finding.unit = "NVDLA_CACC";
    finding.register_name = spelled("NVDLA_CACC", "D_DATAOUT_SIZE_0");
    finding.sentence = fmt::format(
        "the last atom of this convolution, number {} ({} is {:#x}, {} kernel group{}), {}",
        delivered_atoms(job), finding.register_name,
        (job.output().height - 1) << 16U | (job.output().width - 1), groups, groups == 1 ? "" : "s",
        what);
    finding.remedy =
        "wait for the previous convolution's interrupt (from its SDP or PDP) before enabling this "
        "one, or make it deliver as many atoms as the buffer holds";
    return finding;
}

namespace {

/// A surface without any value may still be programmed as one block of zeros.
constexpr Bytes empty_block(128);  // source: nv_full's vectors

/// `register_name`: the register to correct according to `remedy`.
Diagnostic finding(const char* kind, const char* surface, Address address,
                   const char* register_name, const char* remedy, std::string message) {
    return {.id = kind,
            .sentence = std::move(message),
            .remedy = remedy,
            .address = address,
            .unit = "cdma",
            .register_name = spelled("NVDLA_CDMA", register_name),
            .surface = surface};
}

/// `kernel group 1 (kernels 16 to 31)`.
std::string group_text(const WeightLayout& layout, std::uint32_t group) {
    const std::uint64_t first = std::uint64_t{group} * layout.group_kernels;
    const std::uint64_t last =
        std::min<std::uint64_t>(first + layout.group_kernels, layout.shape.kernels) - 1;
    return first == last ? fmt::format("kernel group {} (kernel {})", group, first)
                         : fmt::format("kernel group {} (kernels {} to {})", group, first, last);
}

/// `kernel 17 (kernel group 1)`.
std::string kernel_text(const WeightLayout& layout, std::uint32_t kernel) {
    return fmt::format("kernel {} (kernel group {})", kernel, kernel / layout.group_kernels);
}

/// The element whose value is number `count` among the stored ones.
std::uint64_t element_of_value(std::span<const std::uint8_t> mask, std::uint64_t count) {
    std::uint64_t bit = 0;
    for (;; ++bit) {
        if (mask_bit(mask, bit) && count-- == 0) {
            return bit;
        }
    }
}

Diagnostic of_fault(const WeightLayout& layout, const CompressionFault& fault,
                    const CompressedPlaces& places) {
    if (fault.kind == CompressionFault::Kind::GroupSize) {
        const Address at = places.sizes + fault.offset;
        return finding(
            "wgs_mismatch", "WGS", at, "D_WGS_ADDR_LOW",
            "recompress the weights, or correct this address or that of the mask "
            "(NVDLA_CDMA.D_WMB_ADDR_LOW_0)",
            fmt::format("WGS has {} byte{} for {} at {}, but the group's mask selects {}",
                        fault.said, fault.said == 1 ? "" : "s", group_text(layout, fault.group),
                        to_hex(at), fault.counted));
    }
    const Address at = places.values + fault.offset;
    const std::string others =
        fault.counted > 1 ? fmt::format(" (so {} {} more in its group)",
                                        fault.counted == 2 ? "is" : "are", fault.counted - 1)
                          : "";
    return finding("stored_zero", "weights", at, "D_WEIGHT_ADDR_LOW",
                   "leave the zero out and clear its mask bit, or correct the address",
                   fmt::format("a stored value of {} at {} is 0 although its mask bit is 1{}",
                               kernel_text(layout, fault.kernel), to_hex(at), others));
}

/// `cut off at kernel 17 (kernel group 1), 0x80001080`, or where the contents end. `position`: of
/// an element in the order of the mask.
std::string cut_text(const WeightLayout& layout, std::uint64_t position, bool missing,
                     Address address) {
    return fmt::format("{} {}, {}", missing ? "cut off at" : "the contents end with",
                       kernel_text(layout, kernel_of_element(layout, position)), to_hex(address));
}

/// The contents of a surface, as counted by its register and its mask.
struct SurfaceBytes {
    std::uint64_t used;
    Bytes stored;  ///< zeros at the end included
    Bytes said;
    Address base;

    bool missing() const { return said.value < used; }
    Address cut() const { return base + (missing() ? said : Bytes(used)); }
};

void check_values(const WeightLayout& layout, std::span<const std::uint8_t> mask,
                  const CompressedPlaces& places, std::vector<Diagnostic>& found) {
    const std::uint64_t used = CompressedGroups(layout, mask).weight_bytes();
    const SurfaceBytes bytes{used, stored_weight_bytes(used), places.value_bytes, places.values};
    if (bytes.said == bytes.stored || (used == 0 && bytes.said == empty_block)) {
        return;
    }
    const std::uint64_t element = layout.element.value;
    const std::uint64_t last = used == 0 ? 0 : used / element - 1;
    const std::uint64_t value = bytes.missing() ? bytes.said.value / element : last;
    const std::uint64_t position = used == 0 ? 0 : element_of_value(mask, value);
    found.push_back(finding(
        "weight_bytes_mismatch", "weights", bytes.cut(), "D_WEIGHT_BYTES",
        "program the size of the stored values",
        fmt::format("{} gives {} bytes of values, but the mask selects {} ({} with padding): {}",
                    spelled("NVDLA_CDMA", "D_WEIGHT_BYTES"), bytes.said.value, used,
                    bytes.stored.value, cut_text(layout, position, bytes.missing(), bytes.cut()))));
}

void check_mask(const WeightLayout& layout, const CompressedPlaces& places,
                std::vector<Diagnostic>& found) {
    const SurfaceBytes bytes{used_mask_bytes(layout).value, stored_mask_bytes(layout),
                             places.mask_bytes, places.mask};
    if (bytes.said == bytes.stored) {
        return;
    }
    const std::uint64_t position = bytes.missing() ? 8 * bytes.said.value : mask_bits(layout) - 1;
    found.push_back(finding(
        "wmb_bytes_mismatch", "WMB", bytes.cut(), "D_WMB_BYTES",
        "program the size of the whole mask",
        fmt::format(
            "{} gives {} bytes of mask, but the mask of {} kernel{} needs {} ({} with padding): {}",
            spelled("NVDLA_CDMA", "D_WMB_BYTES"), bytes.said.value, layout.shape.kernels,
            layout.shape.kernels == 1 ? "" : "s", bytes.used, bytes.stored.value,
            cut_text(layout, position, bytes.missing(), bytes.cut()))));
}

}  // namespace

CompressedPlaces compressed_places(const CdmaJob& job) {
    return {job.weight_address, job.weight_bytes, job.compression->mask,
            job.compression->mask_bytes, job.compression->sizes};
}

std::vector<Diagnostic> compression_findings(const WeightLayout& layout,
                                             std::span<const std::uint8_t> mask,
                                             std::span<const CompressionFault> faults,
                                             const CompressedPlaces& places) {
    std::vector<Diagnostic> found;
    check_values(layout, mask, places, found);
    check_mask(layout, places, found);
    for (const CompressionFault& fault : faults) {
        found.push_back(of_fault(layout, fault, places));
    }
    return found;
}

}  // namespace npuscope
