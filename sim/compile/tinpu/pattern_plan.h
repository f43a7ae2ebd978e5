// SPDX-License-Identifier: Apache-2.0
// Which nodes of a graph run as which layer on the NPU, and which are left to the host, with the
// reason.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/compile/tinpu/restrictions.h"
#include "sim/model/candidate.h"

namespace npuscope {

/// A layer that the NPU takes: whole numbers of the widths that the restrictions say.
struct NpuLayer {
    Candidate candidate;
    std::uint32_t weight_bits = 0;  ///< 0: no weights
    std::string name;               ///< of its first node

    Pattern pattern() const { return candidate.pattern; }
};

/// Width of a feature map.
struct MapWidth {
    unsigned bits = 8;
    bool is_signed = false;
};

/// A candidate that was not taken.
struct Refusal {
    Candidate candidate;
    std::uint32_t weight_bits = 0;
    std::vector<Violation> violations;
    bool partly_taken = false;        ///< all but its residual runs on the NPU
    std::optional<MapWidth> input{};  ///< nothing where it is not known, or fits no width
};

enum class Side { Npu, Host, View };

struct Placement {
    Side side = Side::Host;
    std::optional<std::size_t> layer;    ///< of the NPU
    std::optional<std::size_t> refusal;  ///< that it was part of
};

struct PatternPlan {
    std::vector<NpuLayer> layers;  ///< in order of execution
    std::vector<Refusal> refusals;
    std::vector<Placement> placements;  ///< one per node of the graph
};

PatternPlan plan_patterns(const Graph& graph, const Restrictions& restrictions);

/// Of what comes out of a layer; MAXPOOL keeps its input's.
std::optional<MapWidth> clip_width(const Candidate& candidate);

}  // namespace npuscope
