// SPDX-License-Identifier: Apache-2.0
// Weights of a convolution in memory, uncompressed.
//
//     kernel group -> channel cube -> row R -> column S -> kernel in group -> channel in cube
//     | k0 c0..7 | k1 c0..7 | ... | k7 c0..7 | next (r, s) ... | next cube ... | next group ...
//
// The last group and the last cube are just shorter; nothing is padded between them. Zeros fill up
// to a multiple of 128 bytes at the very end. A group holds as many kernels as the MAC array has
// cells (half of them for two-byte weights), a cube as many channels as a cell has multipliers.
// Images: columns become channels first (c' = s * C + c, see image_weights.h).
// Winograd: kernel group -> cube of 4 channels -> kernel -> row -> column -> channel in cube.
// source: NVDLA format page, "Basic Weight for Direct Convolution"; sizes: nv_small traces, CRC
#pragma once

#include <cstdint>
#include <span>

#include "models/base/quantity.h"
#include "models/layout/datapath.h"
#include "models/layout/tensor.h"

namespace npuscope {

struct WeightLayout {
    KernelShape shape;                ///< as stored: images have 1 column
    std::uint32_t group_kernels = 8;  ///< kernels of a full group
    std::uint32_t cube_channels = 8;  ///< channels of a full cube
    Bytes element{1};
    /// Channel post-extension of images: rows that are interleaved (1, 2 or 4).
    std::uint32_t row_group = 1;
    /// Transformed kernels of 4 x 4: a cube holds all their taps of a few channels.
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
    /// With the zeros at the end: what the register counts.
    Bytes stored_bytes() const {
        return Bytes(round_up(used_bytes().value, 128));  // source: format page, 128-byte alignment
    }
};

WeightLayout direct_weights(const KernelShape& shape, const DatapathConfig& datapath,
                            Bytes element = Bytes(1));
/// `shape` is that of transformed kernels: 4 x 4, channels extended.
WeightLayout winograd_weights(const KernelShape& shape, const DatapathConfig& datapath,
                              Bytes element);
/// The kernel that the element at `position` of the surface belongs to.
std::uint32_t kernel_of_element(const WeightLayout& layout, std::uint64_t position);

/// T is std::int8_t or std::int16_t, as wide as layout.element; `memory` covers used_bytes().
template <class T>
Kernels<T> decode_weights(const WeightLayout& layout, std::span<const std::uint8_t> memory);
/// Writes stored_bytes() bytes, zeros at the end included.
template <class T>
void encode_weights(const WeightLayout& layout, const Kernels<T>& kernels,
                    std::span<std::uint8_t> memory);

}  // namespace npuscope
