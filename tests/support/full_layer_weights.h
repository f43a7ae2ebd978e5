// SPDX-License-Identifier: Apache-2.0
// Weights of a layer as they are in memory: every element's place follows from its kernel group,
// cube, tap and channel; then, where asked for, the three surfaces of compression.
// source: NVDLA format page, "Weight Format"
#pragma once

#include <cstdint>
#include <vector>

#include "tests/support/full_layer.h"

namespace npuscope {

struct StoredWeights {
    std::uint32_t kernel_bytes = 0;
    std::uint32_t weight_register = 0;  ///< D_WEIGHT_BYTES
    std::vector<std::uint8_t> weights;  ///< values, zeros to 128 bytes included
    std::vector<std::uint8_t> mask;     ///< compressed ones only
    std::vector<std::uint8_t> sizes;
};

StoredWeights store_weights(const oracle::FullLayer& layer, bool compressed);

}  // namespace npuscope
