// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/synthetic_values.h"

#include "models/arith/round.h"

namespace npuscope {

LayerValues layer_values(const Network& network, const LayerShapes& shapes, std::size_t layer) {
    const Layer& of = network.layers[layer];
    return {
        network.seed,
        layer,
        {of.kernels, shapes.input.channels / of.groups, shapes.window.rows, shapes.window.columns},
        of.zeros.value_or(network.zeros)};
}

void fill_bias(const BiasShape& shape, std::span<std::uint8_t> bytes, const LayerValues& values,
               std::int16_t limit) {
    const std::size_t lanes = std::size_t{shape.atoms} * shape.channels_per_atom;
    NPU_CHECK(bytes.size() >= 2 * lanes, "the image is smaller than the biases");
    std::uint32_t channel = 0;
    for (std::size_t i = 0; i < lanes; ++i) {
        const bool used = i % shape.channels_per_atom < shape.lanes && channel < shape.channels;
        const auto value = static_cast<int>(
            shift_right_round(used ? values.bias(channel++, limit) : 0, shape.down));
        bytes[2 * i] = static_cast<std::uint8_t>(value & 0xff);
        bytes[2 * i + 1] = static_cast<std::uint8_t>(value >> 8 & 0xff);
    }
}

}  // namespace npuscope
