// SPDX-License-Identifier: Apache-2.0
// The values of a float model for given inputs: histograms of the tensors that become integers, and
// the means of product results.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/model/graph.h"
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

/// One mean per kernel of a product's result, over all other dimensions. Kernels are the second
/// dimension, or the last one of a MatMul.
std::vector<double> kernel_means(const GraphValue& value, bool kernels_last);

}  // namespace npuscope
