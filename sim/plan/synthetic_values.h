// SPDX-License-Identifier: Apache-2.0
// Made-up weights, biases and images, written straight into the bytes that memory will hold. The
// same seed and stream give the same bytes on every machine.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "models/data/weight_layout.h"

namespace npuscope {

/// One sequence of random numbers: a network's seed and the number of its image.
struct RandomStream {
    std::uint64_t seed = 1;
    std::uint64_t stream = 0;
};

/// Every byte uniform.
void fill_random(std::span<std::uint8_t> bytes, RandomStream stream);

/// Which weights of a kernel are not zero.
using WeightMask = std::function<bool(std::uint32_t kernel, std::uint32_t channel)>;

/// Random weights in the layout's order, zeros behind them. Without a mask none is forced to zero.
void fill_weights(const WeightLayout& layout, std::span<std::uint8_t> bytes, RandomStream stream,
                  const WeightMask& mask = {});

/// Little-endian 16-bit biases in [-limit, limit], for channels of whole atoms; lanes not in use
/// are zero.
struct BiasShape {
    std::uint32_t atoms = 0;
    std::uint32_t channels_per_atom = 8;
    std::uint32_t lanes = 8;
    std::uint32_t channels = 0;  ///< of the layer, lanes not in use left out
};
void fill_bias(const BiasShape& shape, std::span<std::uint8_t> bytes, RandomStream stream,
               std::int16_t limit);

}  // namespace npuscope
