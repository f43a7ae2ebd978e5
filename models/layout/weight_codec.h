// SPDX-License-Identifier: Apache-2.0
// Compressed weights: three surfaces in place of one.
//
//     WMB      one bit an element in the order of the uncompressed surface, 1 = stored;
//              bit i is bit (i mod 8) of byte (i / 8); runs on from group to group; zeros to 128 B
//     weights  the elements that are not 0, one after the other; runs on likewise; zeros to 128 B
//     WGS      | bytes of group 0 | bytes of group 1 | ... |   uint32, little-endian
//
// An fp16 element counts as zero by its bits: a negative zero is stored. Works for every order of
// weights (direct, image, Winograd, sets of a deconvolution) and both widths.
// source: NVDLA format page, "Sparse Compression option"; positions across groups: nv_full C model
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/base/quantity.h"
#include "models/layout/weight_layout.h"

namespace npuscope {

struct CompressedWeights {
    std::vector<std::uint8_t> weights;  ///< zeros to 128 bytes included; empty: all weights are 0
    std::vector<std::uint8_t> mask;     ///< WMB, zeros to 128 bytes included
    std::vector<std::uint32_t> sizes;   ///< WGS
};

/// The surfaces of `stored` bytes, layout.used_bytes() of them at least.
CompressedWeights compress_weights(const WeightLayout& layout,
                                   std::span<const std::uint8_t> stored);

/// How the surfaces of a layout are cut into kernel groups: bits of the mask, ends in bytes.
struct CompressedGroups {
    /// `mask` covers all elements. By the mask alone, whatever the sizes say.
    CompressedGroups(const WeightLayout& layout, std::span<const std::uint8_t> mask);

    std::vector<std::uint64_t> weight_ends;  ///< bytes of values up to the end of each group
    std::vector<std::uint64_t> mask_ends;    ///< bits up to the end of each group

    std::uint64_t weight_bytes() const { return weight_ends.empty() ? 0 : weight_ends.back(); }
    std::uint64_t group_bytes(std::size_t group) const {
        return weight_ends[group] - (group == 0 ? 0 : weight_ends[group - 1]);
    }
};

/// Whether the element is stored.
inline bool mask_bit(std::span<const std::uint8_t> mask, std::uint64_t element) {
    return (std::uint32_t{mask[element / 8]} >> (element % 8) & 1U) != 0;
}
/// Bits, used bytes and stored bytes (multiples of 128) of the mask.
std::uint64_t mask_bits(const WeightLayout& layout);
Bytes used_mask_bytes(const WeightLayout& layout);
Bytes stored_mask_bytes(const WeightLayout& layout);
/// Stored bytes of `used` bytes of values, zeros at the end included.
Bytes stored_weight_bytes(std::uint64_t used);

/// Something that the surfaces contradict each other in.
struct CompressionFault {
    enum class Kind {
        GroupSize,   ///< WGS is not what the mask's bits of the group make
        StoredZero,  ///< a value that the mask says is not 0 is 0: the first of its group
    };
    Kind kind = Kind::GroupSize;
    std::uint32_t group = 0;
    std::uint32_t kernel = 0;   ///< StoredZero
    Bytes offset{};             ///< in the surface of the sizes, or of the values
    std::uint64_t said = 0;     ///< GroupSize: WGS
    std::uint64_t counted = 0;  ///< GroupSize: bytes by the mask; StoredZero: such values
};

/// What decompressing gives: layout.used_bytes() bytes, and what was wrong on the way.
struct DecompressedWeights {
    std::vector<std::uint8_t> stored;
    std::vector<CompressionFault> faults;
};

/// The surfaces as fetched: every value that the mask calls for, and a size for each group.
struct CompressedSurfaces {
    std::span<const std::uint8_t> weights;
    std::span<const std::uint8_t> mask;
    std::span<const std::uint32_t> sizes;
};

/// The mask decides where the surfaces contradict each other, as in hardware.
DecompressedWeights decompress_weights(const WeightLayout& layout,
                                       const CompressedSurfaces& surfaces);

}  // namespace npuscope
