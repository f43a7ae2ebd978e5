// SPDX-License-Identifier: Apache-2.0
// How far an integer model is from its float model: the power of a tensor's expected values over
// the power of the difference, in decibels.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/quantise/calibration.h"
#include "sim/quantise/insert_quantisers.h"

namespace npuscope {

/// The outputs whose decibels count: floats, or all if there are none. Integers beside them are
/// indices, such as the class of each pixel; the difference of two is no noise.
std::vector<std::string> measured_outputs(const Graph& graph);

/// Of equal tensors, whose ratio has no limit; no ratio is larger.
inline constexpr double equal_decibels = 200;

struct NoiseRow {
    std::string tensor;  ///< of the float model
    std::string layer;   ///< node that produces it; empty: an input
    double decibels = 0;
    bool is_output = false;
};

struct Noise {
    /// Over all cases: for integer tensors, in the order of the graph, and then for the outputs that
    /// are measured.
    std::vector<NoiseRow> rows;
    /// For each case, the minimum over its outputs, in decibels.
    std::vector<double> by_case;
};

/// Compares `model` with `graph`. Runs the cases on the host.
Noise signal_to_noise(const Graph& graph, const QuantisedGraph& model,
                      const std::vector<Case>& cases);
/// For one tensor.
double decibels_between(const GraphValue& wanted, const GraphValue& found);
/// The minimum over the outputs.
double output_decibels(const std::vector<NoiseRow>& rows);
/// The minimum over the cases; there is at least one.
double worst_decibels(const Noise& noise);

/// The outputs of a float model, as the reference for others.
class WantedOutputs {
 public:
    /// Runs the cases on the host. `cases` outlive it.
    WantedOutputs(const Graph& graph, const std::vector<Case>& cases);
    /// For `model` and one case: the minimum over the outputs, in decibels.
    double decibels(const Graph& model, std::size_t index) const;

 private:
    const std::vector<Case>& cases_;
    std::vector<std::string> measured_;
    std::vector<std::vector<GraphValue>> outputs_;  ///< by case: the measured ones
};

}  // namespace npuscope
