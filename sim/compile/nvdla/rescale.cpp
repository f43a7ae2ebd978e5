// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/rescale.h"

#include <algorithm>
#include <cmath>

#include "models/base/check.h"

namespace npuscope {
namespace {

constexpr double weight_spread = 74.0;  // uniform over int8
constexpr double input_spread = 28.0;   // a rectified result of the layer before
constexpr double result_spread = 32.0;
constexpr double residual_weight = 0.75;
constexpr double largest_bias = 4096.0;
constexpr int scale_bits = 14;

unsigned whole_shift(double value) {
    return static_cast<unsigned>(std::clamp(std::lround(std::log2(value)), 0L, 24L));
}

}  // namespace

Rescale rescale_sum(std::uint64_t products, std::uint32_t zeros) {
    const std::uint64_t counting = products * (100 - zeros) / 100;
    const double spread = weight_spread * input_spread *
                          std::sqrt(static_cast<double>(std::max<std::uint64_t>(counting, 1)));
    const double ratio = result_spread / spread;
    const int shift = scale_bits - static_cast<int>(std::ceil(std::log2(ratio)));
    Rescale rescale;
    rescale.convertor.scale = static_cast<std::int16_t>(std::lround(std::ldexp(ratio, shift)) - 1);
    rescale.convertor.shift = static_cast<unsigned>(shift);
    rescale.residual_shift = whole_shift(residual_weight / ratio);
    const double bias = spread / 2;
    rescale.bias_shift = bias > largest_bias ? whole_shift(bias / largest_bias) : 0;
    rescale.bias_limit = static_cast<std::int16_t>(std::min(bias, largest_bias));
    return rescale;
}

Rescale rescale_given(const LayerNumbers& numbers) {
    const auto& factors = numbers.factor;
    NPU_CHECK(!factors.empty(), "a model's convolution has factors");
    Rescale rescale;
    rescale.convertor = numbers.convertor;
    rescale.residual_shift = numbers.residual_shift;
    rescale.bias_shift = numbers.bias_shift;
    rescale.factor_per_kernel = std::ranges::any_of(
        factors, [&](std::int16_t factor) { return factor != factors.front(); });
    rescale.factor = factors.front();
    rescale.has_rest = !numbers.rest.empty();
    rescale.least = numbers.least;
    rescale.least_shift = numbers.least_shift;
    return rescale;
}

Rescale smaller(Rescale rescale, unsigned bits) {
    rescale.convertor.shift -= bits;
    rescale.residual_shift -= bits;
    rescale.bias_down = bits - std::min(bits, rescale.bias_shift);
    rescale.bias_shift -= bits - rescale.bias_down;
    return rescale;
}

Conversion rescale_add() { return {.offset = 0, .scale = 3, .shift = 2}; }

}  // namespace npuscope
