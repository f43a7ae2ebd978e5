// SPDX-License-Identifier: Apache-2.0
// Where every node of a model runs, and why; for each layer that the NPU does not support, its
// configuration, the rules that it violates, and what would help. The same columns for every NPU.
#pragma once

#include <string>
#include <vector>

#include "sim/compile/partition.h"
#include "sim/config/text_table.h"

namespace npuscope {

struct PlaceExplanation {
    const Graph& graph;
    const Target& target;
    const Partition& partition;
    std::vector<std::string> layers;  ///< by group: the layer of the plan, with its operations

    /// One row per node: pattern, unit, layer and its operations, reason.
    std::string node_table(std::size_t width) const;
    /// A paragraph for each refused layer, or for several with the same reasons; empty where there
    /// is none.
    std::string refusals() const;
};

std::vector<RefusedLayer> refused_layers(const Partition& partition);
/// The same for layers of a result. With `graph`, also the operators and configurations.
std::string refusals_text(const std::vector<RefusedLayer>& layers, const Graph* graph = nullptr);
/// The same as notes, each reason once.
Diagnostics refusal_notes(const std::vector<RefusedLayer>& layers);

/// Notes on layers that compute with rounded scales or weights: one of each kind.
Diagnostics rounding_findings(const Graph& graph);

/// Finding for a model of which nothing runs on the NPU: an error (host_only) where it has layers
/// with MACs, with their reasons, each with its number of layers; otherwise a note.
Diagnostics host_only_findings(const Graph& graph, const Partition& partition);

/// Where every node runs and why, then each layer that the NPU does not support: its configuration,
/// the rules that it violates, and the nearest values that would not.
std::string explain_report(const Graph& graph, const Target& target, const ModelPlan& plan,
                           std::size_t width = no_width_limit);

}  // namespace npuscope
