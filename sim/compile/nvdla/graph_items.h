// SPDX-License-Identifier: Apache-2.0
// The parts of a graph that a register program can run, number by number: convolutions and their
// integer sequence, averages as depth-wise convolutions with weights of 1, maxima, and additions.
// What looks like one and is none is refused with the reason, and left to the host.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/compile/nvdla/register_layer.h"

namespace npuscope {

/// A tensor that an item reads, as the cube N C H W that it takes it for.
struct ItemRead {
    std::string tensor;
    Sizes cube;
    std::size_t node = 0;
};

/// One layer with its sequence, and the residual that joins it; or one addition.
struct GraphItem {
    std::size_t anchor = 0;
    std::vector<std::size_t> nodes;
    std::size_t at = 0;              ///< node behind which all that it reads is there
    std::optional<Candidate> layer;  ///< its weights are in `lowered`
    LoweredLayer lowered{};
    std::optional<Sum> sum;
    std::vector<ItemRead> reads;
    std::string output;
    Sizes cube;  ///< of the output

    bool joins() const { return layer && !layer->norm.residual.empty(); }
    std::string pattern() const;  ///< `GCONV`, or `ADD`
};

/// An item that cannot run, and why.
struct ItemRefusal {
    GraphItem item;
    LoweringProblems problems;
    bool partly_taken = false;  ///< all but its residual runs on the NPU
};

/// What planning found against an item: by its anchor, and whether it had a residual.
using PlanProblems = std::map<std::pair<std::size_t, bool>, LoweringProblem>;

struct GraphItems {
    std::vector<GraphItem> items;  ///< in order of execution
    std::vector<ItemRefusal> refusals;
};

GraphItems find_items(const ModelFacts& model, const PlanProblems& planning);

}  // namespace npuscope
