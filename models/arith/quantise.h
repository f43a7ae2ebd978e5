// SPDX-License-Identifier: Apache-2.0
// Kneron's conversion between float and fixed point:
//
//     factor = scale * 2^radix     fixed = clip(round_half_even(float * factor))
//     float = fixed / factor       in float32
//
// The radix may be negative. One factor for the tensor, or one for each index of an axis. The
// vendor's C readers multiply in float32, its Python helper in float64: ties then differ by one, so
// it is selectable here. Limits: -128 to 127, -32768 to 32766 (bit 0 of 16 bits is never kept).
// Dropping bit 0 for 16-bit formats is the layout's task, not this file's.
// source: Kneron page "Convert ONNX & NPU Data"; rounding and limits: both public helpers
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace npuscope {

/// source: Kneron's C helper; the Python helper clips to 32767 and then clears bit 0: the same
/// bytes
template <class T>
inline constexpr int largest_fixed = sizeof(T) == 1 ? 127 : 32766;

enum class QuantiseMath : std::uint8_t { Float32, Float64 };

/// One factor for each of `scale`; a single radix serves all scales and vice versa. Empty where the
/// lengths do not match.
std::vector<float> quantise_factors(std::span<const float> scale, std::span<const int> radix);

/// values.size() values with one factor. T: std::int8_t, std::int16_t or float (rounded, not
/// clipped). Returns false where a value is not a number; its fixed value is then 0.
template <class T>
bool quantise(std::span<const float> values, float factor, QuantiseMath math, T* fixed);
/// Element i uses factors[i].
template <class T>
bool quantise_each(std::span<const float> values, std::span<const float> factors, QuantiseMath math,
                   T* fixed);

template <class T>
void dequantise(std::span<const T> fixed, float factor, float* values);
template <class T>
void dequantise_each(std::span<const T> fixed, std::span<const float> factors, float* values);

}  // namespace npuscope
