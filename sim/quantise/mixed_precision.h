// SPDX-License-Identifier: Apache-2.0
// More signal to noise than the best single way to quantise a model gives. First, which numbers the
// integers of a tensor cover is chosen for each tensor alone, by what the outputs become. Then
// layers whose quantisation costs the outputs most stay floats, on the host, one after the other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/quantise/quantise_way.h"
#include "sim/quantise/signal_to_noise.h"

namespace npuscope {

/// A layer that stays floats.
struct LeftLayer {
    std::string layer;       ///< name of its node
    std::string op;          ///< its operator
    std::uint64_t macs = 0;  ///< that the host computes
};

/// What a model is quantised and measured with.
struct CalibrationCases {
    const std::vector<Case>& all;
    const std::vector<Case>& few;  ///< biases are corrected with
    bool correct_biases = true;
};

struct MixedModel {
    Places places;
    QuantisedGraph model;
    std::vector<LeftLayer> left{};  ///< in the order of the graph
    std::size_t chosen = 0;         ///< tensors whose numbers were chosen for them alone
};

/// Quantised in that way, with biases corrected.
MixedModel quantise_with(const QuantiseWay& way, const CalibrationCases& cases);

/// Goes on from a way until the worst input has `target` decibels at the outputs, which floats alone
/// reach in the end. `methods`: for single tensors; of one, nothing is chosen for them. Runs the
/// model on the host as often as a bound on its multiplications allows, and once for each layer.
MixedModel reach_decibels(const QuantiseWay& way, const CalibrationCases& cases,
                          const std::vector<RangeMethod>& methods, double target);

}  // namespace npuscope
