// SPDX-License-Identifier: Apache-2.0
// One layer of a model as an NVDLA computes it: sums of int8, a bias of 16 bits shifted left, a
// factor of 16 bits, a rounding right shift, int8 again. floor(z / 2^n) is the rounded
// (2 z + 1 - 2^n) / 2^(n + 1), whose halves never occur. source: NVDLA SDP, precision.rst
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/lowering/lowering_problem.h"
#include "sim/pattern/candidate.h"
#include "sim/pattern/graph_view.h"
#include "sim/pattern/number_ranges.h"
#include "sim/workload/layer.h"
#include "sim/workload/layer_numbers.h"

namespace npuscope {

struct ModelFacts {
    const Graph& graph;
    const GraphView& view;
    const std::map<std::string, NumberFacts>& facts;
};

struct LoweredLayer {
    Layer layer;  ///< without its name and its sources
    LayerNumbers numbers;
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

/// Whether the residual of a convolution can be added before the convolution's result is clipped:
/// the clip between them is so wide that int8 results do not show it.
bool can_join(const Candidate& candidate);

/// Feature maps are int8, or its upper half.
void check_map_clip(const ClipStep& clip, LoweringProblems& problems);

}  // namespace npuscope
