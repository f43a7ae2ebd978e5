// SPDX-License-Identifier: Apache-2.0
// Surfaces of an NPU that keeps channels fastest and packs narrow weights:
//
//     feature map   H W C, one byte per element whatever its width (NHWC with a batch of 1)
//     weights       R S C K (HWIO), K fastest; 8, 4 or 2 bits each, the first in a byte's low bits,
//                   | w3 w2 w1 w0 | for 2 bits; two's complement; the last byte filled with 0
//     depth-wise    R S K
//     constants     per output channel: bias (4 bytes, low first), scale, shift
//
// source: layouts NHWC and HWIO from TI NNC for MCUs, User's Guide, diagnostics; how weights are
// packed into bytes and the format of the constant table are unknown: our assumption
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/layout/tensor.h"

namespace npuscope {

/// Bytes of this many packed weights.
std::size_t packed_bytes(std::size_t weights, unsigned bits);

/// Values of a map that fit 8 bits, signed or not, as bytes in H W C order, and back.
std::vector<std::uint8_t> store_map(const Tensor<std::int32_t>& map);
Tensor<std::int32_t> load_map(std::span<const std::uint8_t> bytes, const Shape& shape,
                              bool is_signed);

/// Kernels [k][c][r][s] of `bits` bits. NPU_CHECK that each weight fits.
std::vector<std::uint8_t> store_weights(const Kernels<std::int8_t>& kernels, unsigned bits);
Kernels<std::int8_t> load_weights(std::span<const std::uint8_t> bytes, const KernelShape& shape,
                                  unsigned bits);

}  // namespace npuscope
