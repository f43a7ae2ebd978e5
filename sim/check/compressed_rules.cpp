// SPDX-License-Identifier: Apache-2.0
#include "sim/check/compressed_rules.h"

#include <fmt/format.h>

namespace npuscope {
namespace {

/// Ones among bits [begin, end) of a mask, lowest bit of each byte first.
std::uint64_t ones(const std::vector<std::uint8_t>& mask, std::uint64_t begin, std::uint64_t end) {
    std::uint64_t count = 0;
    for (std::uint64_t bit = begin; bit < end; ++bit) {
        count += std::uint32_t{mask[bit / 8]} >> (bit % 8) & 1U;
    }
    return count;
}

std::uint32_t word(const std::vector<std::uint8_t>& bytes, std::size_t index) {
    std::uint32_t value = 0;
    for (std::size_t i = 4; i-- > 0;) {
        value = value << 8U | bytes[4 * index + i];
    }
    return value;
}

}  // namespace

Found image_found(const PlacedSurface& surface, const char* kind, const std::string& message,
                  const char* register_name, const std::string& remedy) {
    Found found;
    found.finding.kind = kind;
    found.finding.message = message;
    found.finding.address = surface.described.address;
    found.finding.unit = surface.registers.unit;
    found.finding.surface = surface.described.name;
    if (*register_name != '\0') {
        found.register_name = spelled(surface.registers.unit, register_name);
    }
    found.remedy = remedy;
    return found;
}

void check_compressed(const CompressedWeights& surfaces, const ReadImage& read, FoundList& found) {
    const WeightLayout& layout = *surfaces.weights.weights;
    const std::uint64_t element = layout.element.value;
    const auto mask = read({surfaces.mask.described.address, surfaces.mask.needed});
    const auto sizes = read({surfaces.sizes.described.address, surfaces.sizes.needed});
    if (!mask || !sizes) {
        return;  // told of as bytes that nobody loads
    }
    std::uint64_t begin = 0;
    std::uint64_t kept = 0;
    for (std::uint32_t group = 0; group < layout.groups(); ++group) {
        const std::uint64_t end = begin + layout.group_bytes(group).value / element;
        const std::uint64_t bytes = ones(*mask, begin, end) * element;
        if (word(*sizes, group) != bytes) {
            Found one = image_found(
                surfaces.sizes, "wgs_mismatch",
                fmt::format("group {} of '{}' has {} bytes of non-zero values by its mask '{}', "
                            "but '{}' says {}",
                            group, surfaces.weights.described.name, bytes,
                            surfaces.mask.described.name, surfaces.sizes.described.name,
                            word(*sizes, group)),
                "D_WGS_ADDR_LOW", "compress the weights anew, or mend the address");
            one.finding.address = surfaces.sizes.described.address + Bytes(4 * group);
            found.add(std::move(one));
        }
        begin = end;
        kept += bytes;
    }
    if (ones(*mask, begin, 8 * mask->size()) != 0) {
        found.add(image_found(
            surfaces.mask, "wmb_mismatch",
            fmt::format("'{}' has ones behind its last element", surfaces.mask.described.name),
            "D_WMB_ADDR_LOW", "fill the mask up with zeros"));
    }
    const Bytes stored(round_up(kept, 128));
    if (const auto said = surfaces.weights.described.bytes; said && *said != stored) {
        found.add(image_found(
            surfaces.weights, "size_mismatch",
            fmt::format("'{}' has {} bytes of non-zero values by its mask, {} with their zeros, "
                        "but {} bytes are given",
                        surfaces.weights.described.name, kept, stored.value, said->value),
            "D_WEIGHT_BYTES", fmt::format("program {}", stored.value)));
    }
}

}  // namespace npuscope
