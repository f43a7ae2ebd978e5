// SPDX-License-Identifier: Apache-2.0
// The numbers of a convolution or fully connected layer as a model brings them, in the integer
// sequence that models spell:
//
//     result = clip(floor((sum + bias) * scale / 2^shift)), to int8, from 0 on where the layer has a
//     relu
#pragma once

#include <cstdint>
#include <vector>

namespace npuscope {

struct LayerNumbers {
    std::vector<std::int8_t> weights;  ///< kernel, channel of its group, row, column
    std::vector<std::int32_t> bias;    ///< per kernel
    std::vector<std::int32_t> scale;   ///< per kernel, 0 or more
    std::uint32_t shift = 0;
    bool joins_unclipped = false;  ///< the add that reads it takes the result before it is clipped
};

}  // namespace npuscope
