// SPDX-License-Identifier: Apache-2.0
// How far a model of integers is from the model of floats that it was made of: the power of what a
// tensor should hold over the power of the difference, in decibels.
#pragma once

#include <string>
#include <vector>

#include "sim/quantise/calibration.h"
#include "sim/quantise/insert_quantisers.h"

namespace npuscope {

struct NoiseRow {
    std::string tensor;  ///< of the model of floats
    std::string layer;   ///< node that gives it; empty: an input
    double decibels = 0;
    bool is_output = false;
};

/// Of tensors that are integers in `model`, in the order of the graph, and then of outputs. Runs the
/// cases on the host.
std::vector<NoiseRow> signal_to_noise(const Graph& graph, const QuantisedGraph& model,
                                      const std::vector<Case>& cases);
/// Of one tensor.
double decibels_between(const GraphValue& wanted, const GraphValue& found);
/// The least of the outputs.
double output_decibels(const std::vector<NoiseRow>& rows);

}  // namespace npuscope
