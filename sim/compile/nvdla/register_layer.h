// SPDX-License-Identifier: Apache-2.0
// One layer of a model as an NVDLA computes it: sums of stored int8, and its integer sequence in
// the stages of the SDP (integer_sequence.h).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/compile/nvdla/integer_sequence.h"
#include "sim/compile/nvdla/lowering_problem.h"
#include "sim/model/candidate.h"
#include "sim/model/graph_view.h"
#include "sim/model/layer.h"
#include "sim/model/number_ranges.h"

namespace npuscope {

struct ModelFacts {
    const Graph& graph;
    const GraphView& view;
    const std::map<std::string, NumberFacts>& facts;

    /// The numbers of a feature map; a problem where they are none that int8 can hold, less a zero.
    std::optional<NumberRange> map_range(const std::string& tensor, std::size_t reader,
                                         LoweringProblems& problems) const;
};

struct LoweredLayer {
    Layer layer;  ///< without its name and its sources
    LayerNumbers numbers;
    bool relu_behind_residual = false;
};
/// What stands against it goes to `problems`; the answer is then of no use.
LoweredLayer lower_layer(const ModelFacts& model, const Candidate& candidate,
                         LoweringProblems& problems);

/// An addition of two feature maps and the clip behind it.
struct Sum {
    std::size_t node = 0;
    std::vector<std::size_t> nodes;
    std::vector<std::string> terms;
    std::string output;
    ClipStep clip;
};
std::optional<Sum> read_sum(const GraphView& view, std::size_t node);

/// Numbers and ReLU of an addition.
StagedSequence lower_sum(const ModelFacts& model, const Sum& sum, LoweringProblems& problems);

/// Whether the residual of a convolution can be added before the convolution's result is clipped:
/// the clip between them is so wide that results of 8 bits do not show it.
bool can_join(const Candidate& candidate);

}  // namespace npuscope
