// SPDX-License-Identifier: Apache-2.0
// What a model of floats computes of given inputs: how often which numbers occur in the tensors that
// become integers, and the means of what its products give.
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
    std::map<std::string, ValueHistogram> tensors;  ///< that become integers
    /// By the tensor that a product gives: per kernel, over all cases.
    std::map<std::string, std::vector<double>> means;
};

/// Runs every case on the host. ConfigError for an input that does not fit the model.
Calibration calibrate(const Graph& graph, const Places& places, const std::vector<Case>& cases);

/// Numbers per kernel of a product's result: the mean over all else. Kernels are the second size, or
/// the last one of a MatMul.
std::vector<double> kernel_means(const GraphValue& value, bool kernels_last);

}  // namespace npuscope
