// SPDX-License-Identifier: Apache-2.0
// One way to make integers of a model of floats: which numbers the integers of each tensor cover, and
// which layers stay floats.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/quantise/calibration.h"
#include "sim/quantise/insert_quantisers.h"

namespace npuscope {

/// A model that is ready for quantisation, and what it computes of the calibration's inputs.
struct CalibratedGraph {
    Graph graph;
    bool equalised = false;  ///< channels of neighbouring layers were given one size
    Calibration found;
    /// Per kernel, of what products give of the inputs that biases are corrected with.
    std::map<std::string, std::vector<double>> means;
};

class QuantiseWay {
 public:
    /// `model` outlives the way. `element`: int8 or int16.
    QuantiseWay(const CalibratedGraph& model, RangeMethod method, ElementType element);

    const CalibratedGraph& model() const { return *model_; }
    /// Of the tensors for which nothing else was chosen.
    RangeMethod method() const { return method_; }
    /// Tensors cover the numbers that another method gives them.
    void choose(const std::vector<std::string>& tensors, RangeMethod method);
    /// Tensors cover numbers that reach so many times as far.
    void stretch(const std::vector<std::string>& tensors, double factor);
    /// Nodes that stay floats, by number.
    std::set<std::size_t>& left() { return left_; }
    const std::set<std::size_t>& left() const { return left_; }

    Places places() const;
    /// Biases are as the model of floats has them, rounded.
    QuantisedGraph quantise(const Places& places) const;

 private:
    const CalibratedGraph* model_;
    RangeMethod method_;
    ElementType element_;
    std::map<std::string, NumberRange> ranges_{};
    std::set<std::size_t> left_{};
};

}  // namespace npuscope
