// SPDX-License-Identifier: Apache-2.0
// Post-training quantisation: a model of floats and inputs that are typical of it become a model of
// integers of 8 bits, and how much that costs.
#pragma once

#include <string>
#include <vector>

#include "sim/quantise/calibration.h"
#include "sim/quantise/insert_quantisers.h"
#include "sim/quantise/signal_to_noise.h"

namespace npuscope {

struct QuantiseOptions {
    RangeMethod method = RangeMethod::Best;
    bool correct_biases = true;
    bool equalise = true;

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("method", self.method,
                    "which part of the numbers that occur integers cover: all (minmax), all but "
                    "the outermost 0.01 % (percentile), what makes the error least (mse), or "
                    "whichever of them makes outputs most exact (best)");
        visit.field("correct_biases", self.correct_biases,
                    "biases take back what rounded weights shift");
        visit.field("equalise", self.equalise,
                    "channels between two layers are given one size where that makes outputs more "
                    "exact");
    }
};

struct QuantisedModel {
    Graph graph;                               ///< QDQ, prepared
    std::vector<NoiseRow> rows;                ///< of the calibration's inputs
    std::size_t products = 0;                  ///< layers that have integer weights now
    RangeMethod method = RangeMethod::Minmax;  ///< that was taken
    bool equalised = false;   ///< channels of neighbouring layers were given one size
    std::uint32_t opset = 0;  ///< that the model had before
};

/// `graph` is prepared. ConfigError where it is no model of floats, there is no case, or a case does
/// not fit it.
QuantisedModel quantise_model(Graph graph, const std::vector<Case>& cases,
                              const QuantiseOptions& options);

}  // namespace npuscope
