// SPDX-License-Identifier: Apache-2.0
// The numbers of one layer as a model brings them, in the form that the SDP takes: a feature map is
// stored as int8, each value less the map's zero, and
//
//     conv, fc   sum of weights and stored values
//                first stage:   + bias << bias_shift, x factor where there is no rest
//                second stage:  + rest, x factor; or not below `least` << `least_shift`;
//                               or + stored residual << residual_shift
//                convertor:     to what is stored of the result
//     add        second stage:  + constant, then the convertor
//
// Which stage has a ReLU says the layer. Empty vectors: the layer has none.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/arith/fixed_point.h"

namespace npuscope {

struct LayerNumbers {
    std::vector<std::int8_t> weights;  ///< kernel, channel of its group, row, column
    std::int8_t padding = 0;           ///< around the stored input
    std::vector<std::int16_t> bias;    ///< per kernel
    unsigned bias_shift = 0;
    std::vector<std::int16_t> rest;    ///< per kernel: what a bias beyond 16 bits lacks
    std::vector<std::int16_t> factor;  ///< per kernel, 0 or more
    std::optional<std::int16_t> least{};
    unsigned least_shift = 0;
    std::int16_t constant = 0;
    unsigned residual_shift = 0;
    Conversion convertor{};
    bool joins_unclipped = false;  ///< the add that reads it takes the result before it is clipped
};

}  // namespace npuscope
