// SPDX-License-Identifier: Apache-2.0
// The table of a graph's nodes: what each is part of, where it runs, and why.
#pragma once

#include <string>
#include <vector>

#include "sim/model/candidate.h"
#include "sim/model/graph.h"

namespace npuscope {

struct NodeRow {
    std::string pattern;
    std::string runs_on;
    std::string why;
    std::string layer{};  ///< of the NPU's plan, with its operations; a column where any has one
};

/// One row per node of the graph.
std::string node_table(const Graph& graph, const std::vector<NodeRow>& rows);

/// `[H,W,C] = [7,5,4]`, of N C H W.
std::string hwc_text(const Sizes& cube);
/// `kernel 3x3, strides 1x1, padding 1,1,1,1, dilation 1x1, groups 1`.
std::string window_text(const Candidate& candidate);

}  // namespace npuscope
