// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/synthetic_values.h"

#include <cmath>

namespace npuscope {
namespace {

constexpr double weight_spread = 74.0;  // uniform over int8
constexpr double input_spread = 28.0;   // a rectified result of the preceding layer
constexpr double result_spread = 32.0;
constexpr double residual_weight = 0.75;
constexpr double largest_synthetic_bias = 4096.0;
constexpr int scale_bits = 14;

unsigned whole_shift(double value) {
    return static_cast<unsigned>(std::clamp(std::lround(std::log2(value)), 0L, 24L));
}

void store_int16(std::span<std::uint8_t> bytes, int value) {
    bytes[0] = static_cast<std::uint8_t>(value & 0xff);
    bytes[1] = static_cast<std::uint8_t>(value >> 8 & 0xff);
}

}  // namespace

LayerValues::LayerValues(const LayerNumbers& numbers, const KernelShape& kernels)
    : LayerValues(0, 0, kernels, 0) {
    given_ = &numbers;
    const auto zeros = static_cast<std::uint64_t>(
        std::count(numbers.weights.begin(), numbers.weights.end(), std::int8_t{0}));
    zeros_ = static_cast<std::uint32_t>(100 * zeros /
                                        std::max<std::uint64_t>(numbers.weights.size(), 1));
}

LayerValues layer_values(const Network& network, const LayerShapes& shapes, std::size_t layer) {
    const Layer& of = network.layers[layer];
    const KernelShape kernels{of.kernels, shapes.input.channels / of.groups, shapes.window.rows,
                              shapes.window.columns};
    if (const auto& given = network.layers[layer].numbers) {
        return {*given, kernels};
    }
    return {network.seed, layer, kernels, of.zeros.value_or(network.zeros)};
}

LayerNumbers LayerValues::synthetic_numbers(std::uint64_t products, unsigned smaller_by) const {
    const Rescale rescale = rescale_sum(products, zeros_);
    const unsigned lost = smaller_by - std::min(smaller_by, rescale.bias_shift);  // of the biases
    LayerNumbers numbers;
    numbers.convertor = rescale.convertor;
    numbers.convertor.shift -= smaller_by;
    numbers.residual_shift = rescale.residual_shift - smaller_by;
    numbers.bias_shift = rescale.bias_shift - (smaller_by - lost);
    for (std::uint32_t k = 0; k < kernels_.kernels; ++k) {
        const int value = bias(k, rescale.bias_limit);
        numbers.bias.push_back(static_cast<std::int16_t>(shift_right_round(value, lost)));
    }
    return numbers;
}

void fill_operands(const BiasShape& shape, std::span<std::uint8_t> bytes,
                   std::span<const std::int16_t> biases, std::span<const std::int16_t> factors) {
    const std::size_t lanes = std::size_t{shape.atoms} * shape.channels_per_atom;
    const std::size_t each = factors.empty() ? 2 : 4;
    NPU_CHECK(bytes.size() >= each * lanes, "the image is smaller than the biases");
    std::ranges::fill(bytes, std::uint8_t{0});
    std::uint32_t channel = 0;
    for (std::size_t i = 0; i < lanes && channel < shape.channels; ++i) {
        if (i % shape.channels_per_atom < shape.lanes) {
            store_int16(bytes.subspan(each * i), biases[channel]);
            if (!factors.empty()) {
                store_int16(bytes.subspan(each * i + 2), factors[channel]);
            }
            ++channel;
        }
    }
}

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
    rescale.bias_shift =
        bias > largest_synthetic_bias ? whole_shift(bias / largest_synthetic_bias) : 0;
    rescale.bias_limit = static_cast<std::int16_t>(std::min(bias, largest_synthetic_bias));
    return rescale;
}

Conversion rescale_mul() {
    constexpr unsigned shift = 6;  // a product of two random values has 13 bits
    return {0, 1, shift};
}

std::vector<std::int8_t> layer_table(const Network& network, std::size_t layer) {
    if (const auto& given = network.layers[layer].numbers) {
        return given->table;
    }
    std::vector<std::int8_t> table;
    for (int number = -128; number < 128; ++number) {
        table.push_back(static_cast<std::int8_t>(number < 0 ? number / 8 : number));
    }
    return table;
}

Conversion rescale_add() { return {.offset = 0, .scale = 3, .shift = 2}; }

}  // namespace npuscope
