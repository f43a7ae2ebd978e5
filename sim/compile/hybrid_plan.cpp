// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/hybrid_plan.h"

#include <optional>

#include "models/base/error.h"
#include "sim/model/host_values.h"

namespace npuscope {
namespace {

/// What the planner says against a network; nothing where it plans it.
std::optional<ConfigError> plan_error(const Network& network, PlanTarget target) {
    target.images = false;
    try {
        plan_network(network, target);
    } catch (const ConfigError& error) {
        return error;
    }
    return std::nullopt;
}

/// Inputs of floats hold int8 where nothing else is known of them.
std::map<std::string, NumberFacts> with_floats(const Graph& graph,
                                               std::map<std::string, NumberFacts> given) {
    for (const std::string& name : graph.inputs) {
        if (is_float(graph.types.at(name).element)) {
            given.try_emplace(name, NumberFacts{true, range_of(ElementType::Int8), false});
        }
    }
    return given;
}

class HybridPlanner {
 public:
    HybridPlanner(const Graph& graph, const PlanTarget& target,
                  const std::map<std::string, NumberFacts>& given)
        : graph_(graph),
          target_(target),
          view_(graph),
          facts_(number_facts(graph, with_floats(graph, given))) {}

    HybridPlan run() {
        HybridPlan plan;
        do {
            plan.partition = partition_graph(model(), find_items(model(), problems_));
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

    /// False where one could not be planned: then one more item is left to the host.
    bool plan_segments(HybridPlan& plan) {
        for (std::size_t i = 0; i < plan.partition.segments.size(); ++i) {
            RegisterNetwork lowered = register_network(model(), plan.partition, i);
            try {
                Plan planned = plan_network(lowered.network, target_);
                plan.segments.push_back({std::move(lowered), std::move(planned)});
            } catch (const ConfigError& error) {
                leave_one(plan.partition, i, error);
                return false;
            }
        }
        return true;
    }

    /// The last item of the shortest beginning that cannot be planned.
    void leave_one(const GraphPartition& partition, std::size_t segment, ConfigError error) {
        std::size_t good = 0;
        std::size_t bad = partition.segments[segment].items.size();
        while (bad - good > 1) {
            const std::size_t middle = (good + bad) / 2;
            const Network begin = begin_of_segment(model(), partition, segment, middle).network;
            if (auto found = plan_error(begin, target_)) {
                bad = middle;
                error = std::move(*found);
            } else {
                good = middle;
            }
        }
        const GraphItem& item = partition.found.items[partition.segments[segment].items[bad - 1]];
        problems_[{item.anchor, item.joins()}] = {item.anchor, error.sentence(), error.remedy()};
    }

    const Graph& graph_;
    const PlanTarget& target_;
    GraphView view_;
    std::map<std::string, NumberFacts> facts_;
    PlanProblems problems_;
};

}  // namespace

HybridPlan plan_hybrid(const Graph& graph, const PlanTarget& target,
                       const std::map<std::string, NumberFacts>& given) {
    return HybridPlanner(graph, target, given).run();
}

}  // namespace npuscope
