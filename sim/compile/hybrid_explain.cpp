// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/hybrid_explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/compile/node_table.h"

namespace npuscope {
namespace {

std::string counted(std::size_t number, const char* what) {
    return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

class NodeRows {
 public:
    NodeRows(const Graph& graph, const HybridPlan& plan)
        : graph_(graph), plan_(plan), layers_(plan.partition.found.items.size()) {
        for (std::size_t s = 0; s < plan.segments.size(); ++s) {
            const std::vector<std::size_t>& items = plan.partition.segments[s].items;
            for (std::size_t i = 0; i < items.size(); ++i) {
                layers_[items[i]] = layer_text(s, plan.segments[s].lowered.layers[i]);
            }
        }
    }

    NodeRow of(std::size_t node) const {
        const NodePlace& place = plan_.partition.places[node];
        if (place.side == NodeSide::Unused) {
            return {"-", "-", "no output of the model needs it"};
        }
        if (place.side == NodeSide::Npu) {
            return of_item(node, *place.item);
        }
        const std::string side = place.side == NodeSide::View ? "view" : "host";
        if (place.refusal) {
            const ItemRefusal& refusal = plan_.partition.found.refusals[*place.refusal];
            const LoweringProblem& problem = refusal.problems.front();
            return {
                fmt::format("({})", refusal.item.pattern()), side,
                fmt::format("{} at '{}'", problem.sentence, node_name(graph_.nodes[problem.node]))};
        }
        return {"-", side,
                place.side == NodeSide::View ? "nothing is moved or changed"
                                             : "no layer of a register program computes it"};
    }

 private:
    /// `conv1+pool1, 2 operations` of the plan; with the segment where there are several.
    std::string layer_text(std::size_t segment, const std::vector<std::string>& layers) const {
        const Plan& plan = plan_.segments[segment].plan;
        const auto planned = std::ranges::find_if(plan.layers, [&](const PlannedLayer& layer) {
            return std::ranges::find(layers, layer.name) != layers.end() ||
                   std::ranges::find(layers, layer.first_layer) != layers.end();
        });
        if (planned == plan.layers.end()) {
            return {};
        }
        return fmt::format(
            "{}{}{}, {}", plan_.segments.size() > 1 ? fmt::format("{}: ", segment + 1) : "",
            planned->first_layer,
            planned->first_layer == planned->name ? "" : fmt::format("+{}", planned->name),
            counted(planned->operations, "operation"));
    }

    NodeRow of_item(std::size_t node, std::size_t index) const {
        const GraphItem& item = plan_.partition.found.items[index];
        const bool anchor = item.anchor == node;
        const bool pools = item.layer && item.layer->pattern == Pattern::Maxpool;
        NodeRow row;
        row.pattern = item.pattern();
        row.runs_on = pools ? "pdp" : anchor && item.layer ? "conv" : "sdp";
        row.layer = layers_[index];
        row.why = anchor ? fmt::format("to '{}'", item.output)
                         : fmt::format("part of '{}'", node_name(graph_.nodes[item.anchor]));
        if (anchor && plan_.partition.places[node].refusal) {
            row.why += ", without its residual";
        }
        return row;
    }

    const Graph& graph_;
    const HybridPlan& plan_;
    std::vector<std::string> layers_;  ///< by item
};

std::string refusal_text(const Graph& graph, const ItemRefusal& refusal) {
    const GraphItem& item = refusal.item;
    std::string text = fmt::format(
        "layer '{}' is not taken as {}: {}\n  input {}, output {}{}\n",
        node_name(graph.nodes[item.anchor]), item.pattern(),
        refusal.partly_taken ? "all but its residual runs on the NPU" : "it runs on the host",
        hwc_text(item.reads.front().cube), hwc_text(item.cube),
        item.layer ? fmt::format(", {}", window_text(*item.layer)) : "");
    for (const LoweringProblem& problem : refusal.problems) {
        text += fmt::format("  at node {}: {}; {}\n", node_text(graph.nodes[problem.node]),
                            problem.sentence, problem.remedy);
    }
    return text;
}

}  // namespace

std::string hybrid_headline(const Graph& graph, const HybridPlan& plan, const std::string& npu) {
    const GraphPartition& partition = plan.partition;
    std::size_t layers = 0;
    for (const PlannedSegment& segment : plan.segments) {
        layers += segment.plan.layers.size();
    }
    const std::string where =
        plan.segments.empty()
            ? "none of them on the NPU"
            : fmt::format("{} of them in {} of the NPU in {}", partition.count(NodeSide::Npu),
                          counted(layers, "layer"), counted(plan.segments.size(), "segment"));
    return fmt::format("{} on {}: {}, {}, {} on the host; {} refused\n",
                       graph.name.empty() ? graph.file : graph.name, npu,
                       counted(graph.nodes.size(), "node"), where, partition.count(NodeSide::Host),
                       counted(partition.found.refusals.size(), "layer"));
}

std::string hybrid_table(const Graph& graph, const HybridPlan& plan) {
    const NodeRows rows(graph, plan);
    std::vector<NodeRow> all;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        all.push_back(rows.of(i));
    }
    return node_table(graph, all);
}

std::string hybrid_refusals(const Graph& graph, const GraphPartition& partition) {
    std::string text;
    for (const ItemRefusal& refusal : partition.found.refusals) {
        text += text.empty() ? "" : "\n";
        text += refusal_text(graph, refusal);
    }
    return text;
}

std::vector<RefusedLayer> refused_layers(const Graph& graph, const GraphPartition& partition) {
    std::vector<RefusedLayer> layers;
    for (const ItemRefusal& refusal : partition.found.refusals) {
        RefusedLayer& layer = layers.emplace_back();
        layer.layer = node_name(graph.nodes[refusal.item.anchor]);
        layer.pattern = refusal.item.pattern();
        for (const LoweringProblem& problem : refusal.problems) {
            layer.problems.push_back(
                {node_name(graph.nodes[problem.node]), problem.sentence, problem.remedy});
        }
    }
    return layers;
}

}  // namespace npuscope
