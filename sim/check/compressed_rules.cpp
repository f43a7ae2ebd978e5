// SPDX-License-Identifier: Apache-2.0
#include "sim/check/compressed_rules.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

namespace npuscope {
namespace {

/// Findings of the codec by the register that a driver corrects, and how.
struct Correction {
    std::string_view id;
    const char* register_name;
    const char* remedy;
};

constexpr std::array corrections{
    Correction{"weight_bytes_mismatch", "D_WEIGHT_BYTES", "program the bytes of the kept values"},
    Correction{"wmb_bytes_mismatch", "D_WMB_BYTES", "program the bytes of the whole mask"},
    Correction{"wgs_mismatch", "D_WGS_ADDR_LOW",
               "compress the weights again, or correct the address"},
    Correction{"stored_zero", "D_WEIGHT_ADDR_LOW",
               "leave the zero out and clear its mask bit, or correct the address"}};

Diagnostic with_remedy(Diagnostic finding) {
    for (const Correction& correction : corrections) {
        if (correction.id == finding.id) {
            finding.register_name = spelled("NVDLA_CDMA", correction.register_name);
            finding.remedy = correction.remedy;
        }
    }
    return finding;
}

/// Nothing where mask or sizes are not known; where values are not, they are not judged.
std::vector<Diagnostic> findings_of(const CompressedUse& use, const ReadImage& read) {
    const WeightLayout& layout = use.layout;
    const auto mask = read({use.places.mask, used_mask_bytes(layout)});
    const auto size_bytes = read({use.places.sizes, Bytes(4) * layout.groups()});
    if (!mask || !size_bytes) {
        return {};  // reported as bytes that are never loaded
    }
    std::vector<std::uint32_t> sizes(layout.groups());
    std::memcpy(sizes.data(), size_bytes->data(), size_bytes->size());
    const std::uint64_t kept = CompressedGroups(layout, *mask).weight_bytes();
    std::optional<std::vector<std::uint8_t>> values = std::vector<std::uint8_t>{};
    if (kept > 0) {
        values = read({use.places.values, Bytes(kept)});
    }
    if (!values) {
        values = std::vector<std::uint8_t>(kept, 1);
    }
    const DecompressedWeights weights = decompress_weights(layout, {*values, *mask, sizes});
    return compression_findings(layout, *mask, weights.faults, use.places);
}

/// Ones among the bits of `mask` from `begin` on, lowest bit of each byte first.
bool any_one(const std::vector<std::uint8_t>& mask, std::uint64_t begin) {
    for (std::uint64_t bit = begin; bit < 8 * mask.size(); ++bit) {
        if (mask_bit(mask, bit)) {
            return true;
        }
    }
    return false;
}

}  // namespace

Diagnostic image_finding(const PlacedSurface& surface, const char* id, const std::string& message,
                         const char* register_name, const std::string& remedy) {
    Diagnostic finding;
    finding.id = id;
    finding.sentence = message;
    finding.address = surface.described.address;
    finding.unit = surface.registers.unit;
    finding.surface = surface.described.name;
    if (*register_name != '\0') {
        finding.register_name = spelled(surface.registers.unit, register_name);
    }
    finding.remedy = remedy;
    return finding;
}

void check_compressed(const PlacedCompression& surfaces, const ReadImage& read,
                      DiagnosticLog& log) {
    const WeightLayout& layout = *surfaces.weights.weights;
    const auto mask = read({surfaces.mask.described.address, surfaces.mask.needed});
    if (!mask) {
        return;
    }
    const Bytes stored = stored_weight_bytes(CompressedGroups(layout, *mask).weight_bytes());
    const CompressedUse use{
        layout,
        {surfaces.weights.described.address, surfaces.weights.described.bytes.value_or(stored),
         surfaces.mask.described.address, stored_mask_bytes(layout),
         surfaces.sizes.described.address}};
    for (Diagnostic& finding : findings_of(use, read)) {
        const PlacedSurface& surface =
            finding.id == "wgs_mismatch" ? surfaces.sizes : surfaces.weights;
        Diagnostic one = with_remedy(std::move(finding));
        one.unit = surface.registers.unit;
        one.surface = surface.described.name;
        if (one.id == "weight_bytes_mismatch") {
            one.id = "size_mismatch";
            one.remedy = fmt::format("program {}", stored.value);
        }
        log.add(std::move(one));
    }
    if (any_one(*mask, mask_bits(layout))) {
        log.add(image_finding(
            surfaces.mask, "wmb_mismatch",
            fmt::format("'{}' has ones after its last element", surfaces.mask.described.name),
            "D_WMB_ADDR_LOW", "fill the mask up with zeros"));
    }
}

void check_compressed(const CheckedOperation& operation, const MemoryRules& memory,
                      DiagnosticLog& log) {
    if (!operation.compressed) {
        return;
    }
    const auto read = [&](const ByteRun& run) { return memory.contents(run); };
    for (Diagnostic& finding : findings_of(*operation.compressed, read)) {
        finding.unit = "NVDLA_CDMA";
        finding.operation = operation.name;
        finding.place = operation.place;
        log.add(with_remedy(std::move(finding)));
    }
}

}  // namespace npuscope
