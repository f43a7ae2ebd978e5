// SPDX-License-Identifier: Apache-2.0
// Weights of a convolution in memory, uncompressed.
//
//     kernel group -> channel cube -> row R -> column S -> kernel in group -> channel in cube
//     | k0 c0..7 | k1 c0..7 | ... | k7 c0..7 | next (r, s) ... | next cube ... | next group ...
//
// The last group and the last cube are just shorter, without padding between them. The very end is
// zero-padded to a multiple of 128 bytes. A group holds as many kernels as the MAC array has cells
// (half of them for two-byte weights), a cube as many channels as a cell has multipliers. Images:
// columns become channels first (c' = s * C + c, see extend_channels). Winograd: kernel group ->
// cube of 4 channels -> kernel -> row -> column -> channel in cube.
// source: NVDLA format page, "Basic Weight for Direct Convolution"; sizes: nv_small traces, CRC
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/base/quantity.h"
#include "models/layout/datapath.h"
#include "models/layout/tensor.h"

namespace npuscope {

struct WeightLayout {
    KernelShape shape;                ///< as stored: images have 1 column
    std::uint32_t group_kernels = 8;  ///< kernels of a full group
    std::uint32_t cube_channels = 8;  ///< channels of a full cube
    Bytes element{1};
    /// Channel post-extension of images: number of interleaved rows (1, 2 or 4).
    std::uint32_t row_group = 1;
    /// Transformed 4 x 4 kernels: a cube holds all their taps of a few channels.
    bool winograd = false;

    bool operator==(const WeightLayout&) const = default;

    std::uint32_t groups() const {
        return static_cast<std::uint32_t>(divide_up(shape.kernels, group_kernels));
    }
    std::uint32_t kernels_of_group(std::uint32_t group) const;
    Bytes kernel_bytes() const { return element * shape.channels * shape.rows * shape.columns; }
    Bytes group_bytes(std::uint32_t group) const {
        return kernel_bytes() * kernels_of_group(group);
    }
    /// From the first byte of the surface to the first byte of the group.
    Bytes group_offset(std::uint32_t group) const { return kernel_bytes() * group_kernels * group; }
    Bytes used_bytes() const { return kernel_bytes() * shape.kernels; }
    /// Including the zeros at the end: the register's value.
    Bytes stored_bytes() const {
        return Bytes(round_up(used_bytes().value, 128));  // source: format page, 128-byte alignment
    }
};

WeightLayout direct_weights(const KernelShape& shape, const DatapathConfig& datapath,
                            Bytes element = Bytes(1));
/// `shape` is the shape of transformed kernels: 4 x 4, channels extended.
WeightLayout winograd_weights(const KernelShape& shape, const DatapathConfig& datapath,
                              Bytes element);
/// The kernel that the element at `position` of the surface belongs to.
std::uint32_t kernel_of_element(const WeightLayout& layout, std::uint64_t position);

/// T is std::int8_t or std::int16_t, matching layout.element; `memory` covers used_bytes().
template <class T>
Kernels<T> decode_weights(const WeightLayout& layout, std::span<const std::uint8_t> memory);
/// Writes stored_bytes() bytes, including the zeros at the end.
template <class T>
void encode_weights(const WeightLayout& layout, const Kernels<T>& kernels,
                    std::span<std::uint8_t> memory);

/// Compressed weights: three surfaces instead of one.
///
///     WMB      one bit per element in the order of the uncompressed surface, 1 = stored;
///              bit i is bit (i mod 8) of byte (i / 8); runs on from group to group; zeros to 128 B
///     weights  the elements that are not 0, one after the other; runs on as well; zeros to 128 B
///     WGS      | bytes of group 0 | bytes of group 1 | ... |   uint32, little-endian
///
/// An fp16 element counts as zero by its bits: a negative zero is stored. Works for every weight
/// order (direct, image, Winograd, sets of a deconvolution) and both widths.
/// source: NVDLA format page, "Sparse Compression option"; positions across groups: nv_full C model
struct CompressedWeights {
    std::vector<std::uint8_t> weights;  ///< zero-padded to 128 bytes; empty: all weights are 0
    std::vector<std::uint8_t> mask;     ///< WMB, zero-padded to 128 bytes
    std::vector<std::uint32_t> sizes;   ///< WGS
};

/// The surfaces of `stored` bytes, at least layout.used_bytes() of them.
CompressedWeights compress_weights(const WeightLayout& layout,
                                   std::span<const std::uint8_t> stored);

/// How the surfaces of a layout are cut into kernel groups: bits of the mask, ends in bytes.
struct CompressedGroups {
    /// `mask` covers all elements. Uses only the mask, whatever the sizes say.
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
/// Stored bytes for `used` bytes of values, including the zeros at the end.
Bytes stored_weight_bytes(std::uint64_t used);

/// A contradiction between the surfaces.
struct CompressionFault {
    enum class Kind {
        GroupSize,   ///< WGS does not match the group's bits in the mask
        StoredZero,  ///< a value that the mask marks as not 0 is 0: the first of its group
    };
    Kind kind = Kind::GroupSize;
    std::uint32_t group = 0;
    std::uint32_t kernel = 0;   ///< StoredZero
    Bytes offset{};             ///< in the surface of the sizes, or of the values
    std::uint64_t said = 0;     ///< GroupSize: value in WGS
    std::uint64_t counted = 0;  ///< GroupSize: bytes by the mask; StoredZero: number of such values
};

/// The result of decompressing: layout.used_bytes() bytes, and the faults found.
struct DecompressedWeights {
    std::vector<std::uint8_t> stored;
    std::vector<CompressionFault> faults;
};

/// The surfaces as fetched: every value that the mask requires, and a size per group.
struct CompressedSurfaces {
    std::span<const std::uint8_t> weights;
    std::span<const std::uint8_t> mask;
    std::span<const std::uint32_t> sizes;
};

/// Where the surfaces contradict each other the mask decides, as in hardware.
DecompressedWeights decompress_weights(const WeightLayout& layout,
                                       const CompressedSurfaces& surfaces);

}  // namespace npuscope
