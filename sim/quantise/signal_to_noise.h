// SPDX-License-Identifier: Apache-2.0
// How far a model of integers is from the model of floats that it was made of: the power of what a
// tensor should hold over the power of the difference, in decibels.
#pragma once

#include <cstddef>
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

struct Noise {
    /// Over all cases: of tensors that are integers, in the order of the graph, and then of outputs.
    std::vector<NoiseRow> rows;
    /// Of each case, the least of its outputs, in decibels.
    std::vector<double> by_case;
};

/// Of what `model` makes of `graph`. Runs the cases on the host.
Noise signal_to_noise(const Graph& graph, const QuantisedGraph& model,
                      const std::vector<Case>& cases);
/// Of one tensor.
double decibels_between(const GraphValue& wanted, const GraphValue& found);
/// The least of the outputs.
double output_decibels(const std::vector<NoiseRow>& rows);
/// The least of the cases; there is one at least.
double worst_decibels(const Noise& noise);

/// The outputs of a model of floats, which others are compared with.
class WantedOutputs {
 public:
    /// Runs the cases on the host. `graph` and `cases` outlive it.
    WantedOutputs(const Graph& graph, const std::vector<Case>& cases);
    /// Of what `model` makes of a case: the least of the outputs, in decibels.
    double decibels(const Graph& model, std::size_t index) const;

 private:
    const Graph& graph_;
    const std::vector<Case>& cases_;
    std::vector<std::vector<GraphValue>> outputs_;  ///< by case
};

}  // namespace npuscope
