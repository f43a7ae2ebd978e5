// SPDX-License-Identifier: Apache-2.0
#include "models/layout/weight_codec.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "models/base/check.h"

namespace npuscope {

namespace {

constexpr std::uint64_t surface_multiple = 128;  // source: format page, 128-byte alignment

std::uint64_t elements_of_group(const WeightLayout& layout, std::uint32_t group) {
    return layout.group_bytes(group) / layout.element;
}

/// Set bits from `begin` up to `end`.
std::uint64_t count_bits(std::span<const std::uint8_t> mask, std::uint64_t begin,
                         std::uint64_t end) {
    std::uint64_t count = 0;
    for (; begin < end && begin % 8 != 0; ++begin) {
        count += mask_bit(mask, begin) ? 1U : 0U;
    }
    for (; begin + 8 <= end; begin += 8) {
        count += static_cast<std::uint64_t>(std::popcount(mask[begin / 8]));
    }
    for (; begin < end; ++begin) {
        count += mask_bit(mask, begin) ? 1U : 0U;
    }
    return count;
}

bool all_zero(const std::uint8_t* bytes, std::size_t count) {
    return std::all_of(bytes, bytes + count, [](std::uint8_t byte) { return byte == 0; });
}

}  // namespace

std::uint64_t mask_bits(const WeightLayout& layout) { return layout.used_bytes() / layout.element; }
Bytes used_mask_bytes(const WeightLayout& layout) { return Bytes(divide_up(mask_bits(layout), 8)); }
Bytes stored_mask_bytes(const WeightLayout& layout) {
    return Bytes(round_up(used_mask_bytes(layout).value, surface_multiple));
}
Bytes stored_weight_bytes(std::uint64_t used) { return Bytes(round_up(used, surface_multiple)); }

CompressedWeights compress_weights(const WeightLayout& layout,
                                   std::span<const std::uint8_t> stored) {
    NPU_CHECK(stored.size() >= layout.used_bytes().value, "the image does not cover the weights");
    const std::size_t element = layout.element.value;
    CompressedWeights result;
    result.mask.resize(stored_mask_bytes(layout).value, 0);
    std::uint64_t bit = 0;
    for (std::uint32_t group = 0; group < layout.groups(); ++group) {
        const std::size_t before = result.weights.size();
        const std::uint64_t end = bit + elements_of_group(layout, group);
        for (; bit < end; ++bit) {
            const std::uint8_t* from = stored.data() + bit * element;
            if (!all_zero(from, element)) {
                result.mask[bit / 8] |= static_cast<std::uint8_t>(1U << (bit % 8));
                result.weights.insert(result.weights.end(), from, from + element);
            }
        }
        result.sizes.push_back(static_cast<std::uint32_t>(result.weights.size() - before));
    }
    result.weights.resize(stored_weight_bytes(result.weights.size()).value, 0);
    return result;
}

CompressedGroups::CompressedGroups(const WeightLayout& layout, std::span<const std::uint8_t> mask) {
    NPU_CHECK(mask.size() >= used_mask_bytes(layout).value, "the mask does not cover the weights");
    std::uint64_t bit = 0;
    std::uint64_t bytes = 0;
    for (std::uint32_t group = 0; group < layout.groups(); ++group) {
        const std::uint64_t end = bit + elements_of_group(layout, group);
        bytes += count_bits(mask, bit, end) * layout.element.value;
        bit = end;
        weight_ends.push_back(bytes);
        mask_ends.push_back(bit);
    }
}

DecompressedWeights decompress_weights(const WeightLayout& layout,
                                       const CompressedSurfaces& surfaces) {
    const CompressedGroups groups(layout, surfaces.mask);
    NPU_CHECK(surfaces.weights.size() >= groups.weight_bytes(), "values are missing");
    NPU_CHECK(surfaces.sizes.size() >= layout.groups(), "sizes of groups are missing");
    const std::size_t element = layout.element.value;
    DecompressedWeights result;
    result.stored.resize(layout.used_bytes().value, 0);
    std::uint64_t bit = 0;
    const std::uint8_t* from = surfaces.weights.data();
    for (std::uint32_t group = 0; group < layout.groups(); ++group) {
        const std::uint64_t counted = groups.group_bytes(group);
        if (surfaces.sizes[group] != counted) {
            result.faults.push_back({.kind = CompressionFault::Kind::GroupSize,
                                     .group = group,
                                     .offset = Bytes(4) * group,
                                     .said = surfaces.sizes[group],
                                     .counted = counted});
        }
        std::uint64_t zeros = 0;
        for (; bit < groups.mask_ends[group]; ++bit) {
            if (!mask_bit(surfaces.mask, bit)) {
                continue;
            }
            if (all_zero(from, element) && ++zeros == 1) {
                const auto offset = static_cast<std::uint64_t>(from - surfaces.weights.data());
                result.faults.push_back({.kind = CompressionFault::Kind::StoredZero,
                                         .group = group,
                                         .kernel = kernel_of_element(layout, bit),
                                         .offset = Bytes(offset)});
            }
            std::memcpy(result.stored.data() + bit * element, from, element);
            from += element;
        }
        if (zeros > 0) {
            result.faults.back().counted = zeros;
        }
    }
    return result;
}

}  // namespace npuscope
