// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/synthetic_values.h"

#include "models/arith/fixed_point.h"

namespace npuscope {
namespace {

/// Whether lane `i` of a row of operands belongs to a channel; channels are used up in order.
bool is_used(const BiasShape& shape, std::size_t i, std::uint32_t channel) {
    return i % shape.channels_per_atom < shape.lanes && channel < shape.channels;
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
    if (!network.numbers.empty()) {
        return {network.numbers[layer], kernels};
    }
    return {network.seed, layer, kernels, of.zeros.value_or(network.zeros)};
}

void fill_operands(const BiasShape& shape, std::span<std::uint8_t> bytes,
                   std::span<const std::int16_t> biases, std::span<const std::int16_t> factors) {
    const std::size_t lanes = std::size_t{shape.atoms} * shape.channels_per_atom;
    const std::size_t each = factors.empty() ? 2 : 4;
    NPU_CHECK(bytes.size() >= each * lanes, "the image is smaller than the biases");
    std::ranges::fill(bytes, std::uint8_t{0});
    std::uint32_t channel = 0;
    for (std::size_t i = 0; i < lanes; ++i) {
        if (is_used(shape, i, channel)) {
            store_int16(bytes.subspan(each * i), biases[channel]);
            if (!factors.empty()) {
                store_int16(bytes.subspan(each * i + 2), factors[channel]);
            }
            ++channel;
        }
    }
}

void fill_bias(const BiasShape& shape, std::span<std::uint8_t> bytes, const LayerValues& values,
               std::int16_t limit) {
    const std::size_t lanes = std::size_t{shape.atoms} * shape.channels_per_atom;
    NPU_CHECK(bytes.size() >= 2 * lanes, "the image is smaller than the biases");
    std::uint32_t channel = 0;
    for (std::size_t i = 0; i < lanes; ++i) {
        const bool used = is_used(shape, i, channel);
        const auto value = shift_right_round(used ? values.bias(channel++, limit) : 0, shape.down);
        store_int16(bytes.subspan(2 * i), static_cast<int>(value));
    }
}

}  // namespace npuscope
