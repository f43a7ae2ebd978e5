// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/hybrid_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "models/base/error.h"
#include "sim/compile/explain.h"
#include "sim/compile/nvdla/nvdla_target.h"
#include "sim/config/text_table.h"
#include "sim/model/host_values.h"

namespace npuscope {
namespace {

/// Inputs of floats hold int8 where nothing else is known of them.
std::map<std::string, ValueRange> with_floats(const Graph& graph,
                                              std::map<std::string, ValueRange> given) {
    for (const std::string& name : graph.inputs) {
        if (is_float(graph.types.at(name).element)) {
            given.try_emplace(name, ValueRange{true, range_of(ElementType::Int8), false});
        }
    }
    return given;
}

class HybridPlanner {
 public:
    HybridPlanner(const Graph& graph, const PlanTarget& target,
                  const std::map<std::string, ValueRange>& given)
        : graph_(graph),
          target_(target),
          view_(graph),
          facts_(value_ranges(graph, with_floats(graph, given))) {}

    HybridPlan run() {
        HybridPlan plan;
        do {
            plan.partition = partition_graph(model(), NvdlaTarget(target_), problems_);
            plan.segments.clear();
        } while (!plan_segments(plan));
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
            if (plan.partition.places[i].side == NodeSide::Host) {
                check_host_runs(graph_, graph_.nodes[i]);
            }
        }
        plan.facts = std::move(facts_);
        return plan;
    }

 private:
    ModelFacts model() const { return {graph_, view_, facts_}; }

    /// False where a group could not be planned: then it is left to the host.
    bool plan_segments(HybridPlan& plan) {
        for (std::size_t i = 0; i < plan.partition.segments.size(); ++i) {
            RegisterNetwork lowered = register_network(model(), plan.partition, i);
            auto planned = try_plan_network(lowered.network, target_);
            if (auto* problem = std::get_if<Diagnostic>(&planned)) {
                leave(plan.partition, plan.partition.segments[i], lowered, *std::move(problem));
                return false;
            }
            plan.segments.push_back({std::move(lowered), std::get<Plan>(std::move(planned))});
        }
        return true;
    }

    /// The group of the layer that a problem names, or the first that reads it as an input.
    void leave(const Partition& partition, const Segment& segment, const RegisterNetwork& lowered,
               Diagnostic problem) {
        for (std::size_t i = 0; i < segment.groups.size(); ++i) {
            const std::vector<std::string>& layers = lowered.layers[i];
            const std::vector<std::string>& read = lowered.reads[i];
            if (std::ranges::find(layers, problem.operation) != layers.end() ||
                std::ranges::find(read, problem.operation) != read.end()) {
                const NodeGroup& group = partition.groups[segment.groups[i]];
                problem.operation = group.name;
                problems_[group.nodes] = std::move(problem);
                return;
            }
        }
        throw ConfigError(std::move(problem));  // of the memory, not of a layer
    }

    const Graph& graph_;
    const PlanTarget& target_;
    GraphView view_;
    std::map<std::string, ValueRange> facts_;
    PlanProblems problems_;
};

}  // namespace

HybridPlan plan_hybrid(const Graph& graph, const PlanTarget& target,
                       const std::map<std::string, ValueRange>& given) {
    return HybridPlanner(graph, target, given).run();
}

std::string hybrid_headline(const Graph& graph, const HybridPlan& plan, const std::string& npu) {
    const Partition& partition = plan.partition;
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
                       counted(partition.refusals.size(), "layer"));
}

std::vector<std::string> layers_of_groups(const HybridPlan& plan) {
    std::vector<std::string> texts(plan.partition.groups.size());
    for (std::size_t s = 0; s < plan.segments.size(); ++s) {
        const std::string prefix = plan.segments.size() > 1 ? fmt::format("{}: ", s + 1) : "";
        const std::vector<std::size_t>& groups = plan.partition.segments[s].groups;
        for (std::size_t i = 0; i < groups.size(); ++i) {
            const std::vector<std::string>& names = plan.segments[s].lowered.layers[i];
            const auto is_one = [&](const std::string& name) {
                return std::ranges::find(names, name) != names.end();
            };
            const std::vector<PlannedLayer>& layers = plan.segments[s].plan.layers;
            const auto planned = std::ranges::find_if(layers, [&](const PlannedLayer& layer) {
                return is_one(layer.name) || is_one(layer.first_layer);
            });
            if (planned != layers.end()) {
                const bool joined = planned->first_layer != planned->name;
                texts[groups[i]] = fmt::format("{}{}{}, {}", prefix, planned->first_layer,
                                               joined ? "+" + planned->name : "",
                                               counted(planned->operations, "operation"));
            }
        }
    }
    return texts;
}

}  // namespace npuscope
