// SPDX-License-Identifier: Apache-2.0
// The values of a float model for given inputs: histograms of the tensors that become integers, and
// the means of product results, which biases of the integer model restore.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/model/graph.h"
#include "sim/quantise/insert_quantisers.h"
#include "sim/quantise/places.h"
#include "sim/quantise/value_histogram.h"

namespace npuscope {

/// Inputs of one run of a model, by name.
using Case = std::map<std::string, GraphValue>;

struct Calibration {
    std::map<std::string, ValueHistogram> tensors;  ///< those that become integers
    /// By result tensor of a product: per kernel, over all cases.
    std::map<std::string, std::vector<double>> means;
};

/// Runs every case on the host. ConfigError for an input that does not fit the model.
Calibration calibrate(const Graph& graph, const Places& places, const std::vector<Case>& cases);

/// Rounded weights shift the mean results of a product: the biases of `model` are changed to
/// compensate for it, layer by layer. `means`: of the float model, as returned by `calibrate`. Runs
/// the cases on the host, all of them at once.
/// source: Nagel et al., Data-Free Quantization Through Weight Equalization and Bias Correction,
/// 2019 (here with measured means)
void correct_biases(QuantisedGraph& model, const std::map<std::string, std::vector<double>>& means,
                    const std::vector<Case>& cases);

}  // namespace npuscope
