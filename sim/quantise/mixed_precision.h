// SPDX-License-Identifier: Apache-2.0
// Improves the signal-to-noise ratio beyond the best uniform quantisation of a model. First, the
// range of each tensor's integers is chosen individually, by its effect on the outputs. Then layers
// whose quantisation costs most at the outputs stay in float on the host, one by one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/quantise/quantise_way.h"
#include "sim/quantise/signal_to_noise.h"

namespace npuscope {

/// A layer that stays in float.
struct LeftLayer {
    std::string layer;       ///< name of its node
    std::string op;          ///< its operator
    std::uint64_t macs = 0;  ///< computed by the host
};

/// Inputs used for quantisation and for measurement.
struct CalibrationCases {
    const std::vector<Case>& all;
    const std::vector<Case>& few;  ///< for bias correction
    bool correct_biases = true;
};

struct MixedModel {
    Places places;
    QuantisedGraph model;
    std::vector<LeftLayer> left{};  ///< in the order of the graph
    std::size_t chosen = 0;         ///< tensors with an individually chosen range
};

/// Quantised in this way, with corrected biases.
MixedModel quantise_with(const QuantiseWay& way, const CalibrationCases& cases);

/// Continues from a way until the worst input reaches `target` decibels at the outputs, which float
/// layers eventually ensure. `methods`: for single tensors; if there is only one, none is chosen.
/// Runs the model on the host within a bound on its MACs, and once for each layer.
MixedModel reach_decibels(const QuantiseWay& way, const CalibrationCases& cases,
                          const std::vector<RangeMethod>& methods, double target);

}  // namespace npuscope
