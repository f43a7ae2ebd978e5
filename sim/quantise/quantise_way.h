// SPDX-License-Identifier: Apache-2.0
// One way to quantise a float model: the range of each tensor's integers, and which layers stay in
// float.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/quantise/calibration.h"
#include "sim/quantise/insert_quantisers.h"

namespace npuscope {

/// A model that is ready for quantisation, and its values for the calibration inputs.
struct CalibratedGraph {
    Graph graph;
    bool equalised = false;  ///< cross-layer equalisation was applied
    Calibration found;
    /// Per kernel, mean product results for the inputs used for bias correction.
    std::map<std::string, std::vector<double>> means;
};

class QuantiseWay {
 public:
    /// `model` outlives the way. `element`: int8 or int16.
    QuantiseWay(const CalibratedGraph& model, RangeMethod method, ElementType element);

    const CalibratedGraph& model() const { return *model_; }
    /// For the tensors without an individual choice.
    RangeMethod method() const { return method_; }
    /// Uses another method's range for these tensors.
    void choose(const std::vector<std::string>& tensors, RangeMethod method);
    /// Scales the range of these tensors by `factor`.
    void stretch(const std::vector<std::string>& tensors, double factor);
    /// Nodes that stay in float, by index.
    std::set<std::size_t>& left() { return left_; }
    const std::set<std::size_t>& left() const { return left_; }

    Places places() const;
    /// Biases are those of the float model, rounded.
    QuantisedGraph quantise(const Places& places) const;

 private:
    const CalibratedGraph* model_;
    RangeMethod method_;
    ElementType element_;
    std::map<std::string, NumberRange> ranges_{};
    std::set<std::size_t> left_{};
};

}  // namespace npuscope
