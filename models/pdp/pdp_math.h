// SPDX-License-Identifier: Apache-2.0
// Pooling of one cube: int8 bit-exact to nv_small's RTL, including its narrow wires, int16 and fp16
// to nv_full's C model. Tensors hold whole atoms of channels: pad lanes are pooled like any other.
// Average: first each line of a window is summed, with the pad value of its missing columns (11
// bits), then the lines, with that of the missing rows times the kernel's width (14 bits). The sum
// goes through two multiplications, recip_width and recip_height over 65536, each rounded half away
// from zero to 11 and then 8 bits without saturation (int16: 32 and then 16). Max and min ignore
// padding. fp16: pool_floats.
// source: nv_small RTL, NV_NVDLA_PDP_CORE_{unit1d,cal1d,cal2d}.v
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/layout/precision.h"
#include "models/layout/tensor.h"

namespace npuscope {

enum class PoolingMethod { Average, Max, Min };

/// A vertical slice of the cube that is pooled by itself; without split there is one.
struct PdpPart {
    std::uint32_t in_begin = 0;  ///< first input column
    std::uint32_t in_width = 0;
    std::uint32_t pad_left = 0;
    std::uint32_t out_begin = 0;  ///< first output column
    std::uint32_t out_width = 0;

    bool operator==(const PdpPart&) const = default;
};

struct PdpPooling {
    PoolingMethod method = PoolingMethod::Max;
    std::uint32_t kernel_width = 1;
    std::uint32_t kernel_height = 1;
    std::uint32_t stride_x = 1;
    std::uint32_t stride_y = 1;
    std::uint32_t pad_top = 0;
    std::uint32_t recip_width = 0;            ///< about 65536 / kernel_width, 17 bits
    std::uint32_t recip_height = 0;           ///< about 65536 / kernel_height, 17 bits
    std::array<std::int32_t, 8> pad_value{};  ///< [n] is for n missing elements, n = 1..7
    Precision precision = Precision::Int8;
    bool nan_to_zero = false;  ///< fp16: for elements from memory
    std::vector<PdpPart> parts;
    Shape output;  ///< channels are those of the input

    bool operator==(const PdpPooling&) const = default;
};

/// Every window must hold at least one real row and column (PdpJob checks that). Two bytes: int16,
/// or fp16 where the pooling says so.
Tensor<std::int8_t> compute_pdp(const PdpPooling& pooling, const Tensor<std::int8_t>& input);
Tensor<std::int16_t> compute_pdp(const PdpPooling& pooling, const Tensor<std::int16_t>& input);
ElementTensor compute_pdp(const PdpPooling& pooling, const ElementTensor& input);

/// One output of an average from its window's sum, pad values included (15 bits).
std::int8_t pdp_average(std::int32_t sum, std::uint32_t recip_width, std::uint32_t recip_height);
/// The same for int16, on wide wires.
std::int16_t pdp_average_int16(std::int32_t sum, std::uint32_t recip_width,
                               std::uint32_t recip_height);

// Pooling in fp16. Max and min compare bit patterns, including infinities. Averages are summed in
// fp17: along a line from its first element, then the lines from the first, each step rounded; the
// contribution of missing elements is added last. An infinity counts as the largest fp17. The sum
// is multiplied by the two reciprocals, which are fp17 codes, and narrowed. Within a line the first
// NaN wins, among lines the last one's. source: nv_full C model, compared by running

Tensor<std::int16_t> pool_floats(const PdpPooling& pooling, const Tensor<std::int16_t>& input);

/// The value of an fp17 code: 1 sign bit, 6 exponent bits, 10 mantissa bits; higher bits are
/// ignored.
float fp17_of_code(std::uint32_t code);

}  // namespace npuscope
