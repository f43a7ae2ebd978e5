// SPDX-License-Identifier: Apache-2.0
#include "sim/check/compressed_rules.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

namespace npuscope {
namespace {

/// Findings of the codec by the register that a driver mends, and what it does there.
struct Mending {
    std::string_view kind;
    const char* register_name;
    const char* remedy;
};

constexpr std::array mendings{
    Mending{"weight_bytes_mismatch", "D_WEIGHT_BYTES", "program the bytes of the kept values"},
    Mending{"wmb_bytes_mismatch", "D_WMB_BYTES", "program the bytes of the whole mask"},
    Mending{"wgs_mismatch", "D_WGS_ADDR_LOW", "compress the weights anew, or mend the address"},
    Mending{"stored_zero", "D_WEIGHT_ADDR_LOW",
            "leave the zero out and clear its mask bit, or mend the address"}};

Found found_of(Diagnostic finding) {
    Found found;
    for (const Mending& mending : mendings) {
        if (mending.kind == finding.id) {
            found.register_name = spelled("NVDLA_CDMA", mending.register_name);
            found.remedy = mending.remedy;
        }
    }
    found.finding = std::move(finding);
    return found;
}

/// Nothing where mask or sizes are not known; where values are not, they are not judged.
std::vector<Diagnostic> findings_of(const CompressedUse& use, const ReadImage& read) {
    const WeightLayout& layout = use.layout;
    const auto mask = read({use.places.mask, used_mask_bytes(layout)});
    const auto size_bytes = read({use.places.sizes, Bytes(4) * layout.groups()});
    if (!mask || !size_bytes) {
        return {};  // told of as bytes that nobody loads
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

Found image_found(const PlacedSurface& surface, const char* kind, const std::string& message,
                  const char* register_name, const std::string& remedy) {
    Found found;
    found.finding.id = kind;
    found.finding.sentence = message;
    found.finding.address = surface.described.address;
    found.finding.unit = surface.registers.unit;
    found.finding.surface = surface.described.name;
    if (*register_name != '\0') {
        found.register_name = spelled(surface.registers.unit, register_name);
    }
    found.remedy = remedy;
    return found;
}

void check_compressed(const PlacedCompression& surfaces, const ReadImage& read, FoundList& found) {
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
        Found one = found_of(std::move(finding));
        one.finding.unit = surface.registers.unit;
        one.finding.surface = surface.described.name;
        if (one.finding.id == "weight_bytes_mismatch") {
            one.finding.id = "size_mismatch";
            one.remedy = fmt::format("program {}", stored.value);
        }
        found.add(std::move(one));
    }
    if (any_one(*mask, mask_bits(layout))) {
        found.add(image_found(
            surfaces.mask, "wmb_mismatch",
            fmt::format("'{}' has ones behind its last element", surfaces.mask.described.name),
            "D_WMB_ADDR_LOW", "fill the mask up with zeros"));
    }
}

void check_compressed(const CheckedOperation& operation, const MemoryRules& memory,
                      FoundList& found) {
    if (!operation.compressed) {
        return;
    }
    const auto read = [&](const ByteRun& run) { return memory.contents(run); };
    for (Diagnostic& finding : findings_of(*operation.compressed, read)) {
        finding.unit = "NVDLA_CDMA";
        finding.operation = operation.name;
        finding.place = operation.place;
        found.add(found_of(std::move(finding)));
    }
}

}  // namespace npuscope
