// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/tinpu/pattern_plan.h"

#include <algorithm>

#include "sim/compile/tinpu/restriction_check.h"
#include "sim/model/candidate_reader.h"
#include "sim/model/view_nodes.h"

namespace npuscope {
namespace {

std::optional<MapWidth> width_of(const NumberRange& range) {
    for (const unsigned bits : {2U, 4U, 8U}) {
        if (fits_bits(range, bits)) {
            return MapWidth{bits, range.low < 0};
        }
    }
    return std::nullopt;
}

class PatternPlanner {
 public:
    PatternPlanner(const Graph& graph, const Restrictions& restrictions)
        : graph_(graph),
          view_(graph),
          facts_(number_facts(graph)),
          check_{view_, restrictions, facts_} {
        plan_.placements.resize(graph.nodes.size());
        for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
            if (moves_nothing(graph, facts_, graph.nodes[i])) {
                plan_.placements[i].side = Side::View;
            }
        }
    }

    PatternPlan run() {
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
            if (!plan_.placements[i].layer) {
                try_anchor(i);
            }
        }
        order_layers();
        return std::move(plan_);
    }

 private:
    /// With its residual first; without it where that is refused or belongs to another layer.
    void try_anchor(std::size_t anchor) {
        bool refused = false;
        for (const bool with_residual : {true, false}) {
            auto candidate = read_candidate(view_, anchor, with_residual);
            if (!candidate) {
                return;
            }
            const bool joined = !candidate->norm.residual.empty();
            if (is_free(*candidate)) {
                CheckedLayer checked = check_restrictions(check_, *candidate);
                if (checked.violations.empty()) {
                    if (refused) {
                        plan_.refusals.back().partly_taken = true;
                    }
                    return take(std::move(*candidate), checked.weight_bits);
                }
                if (!refused) {
                    refuse(std::move(*candidate), std::move(checked));
                    refused = true;
                }
            }
            if (!joined) {
                return;
            }
        }
    }

    /// None of its nodes belongs to another layer yet.
    bool is_free(const Candidate& candidate) const {
        return std::none_of(candidate.nodes.begin(), candidate.nodes.end(), [&](std::size_t node) {
            return plan_.placements[node].layer.has_value();
        });
    }

    void take(Candidate candidate, std::uint32_t weight_bits) {
        for (const std::size_t node : candidate.nodes) {
            plan_.placements[node].side = Side::Npu;
            plan_.placements[node].layer = plan_.layers.size();
        }
        NpuLayer layer{std::move(candidate), weight_bits, {}};
        layer.name = node_name(graph_.nodes[layer.candidate.anchor]);
        plan_.layers.push_back(std::move(layer));
    }

    void refuse(Candidate candidate, CheckedLayer checked) {
        for (const std::size_t node : candidate.nodes) {
            plan_.placements[node].refusal = plan_.refusals.size();
        }
        const std::optional<MapWidth> input = known_width(candidate.input);
        plan_.refusals.push_back({std::move(candidate), checked.weight_bits,
                                  std::move(checked.violations), false, input});
    }

    std::optional<MapWidth> known_width(const std::string& tensor) const {
        const auto facts = facts_.find(tensor);
        const bool known = facts != facts_.end() && facts->second.whole && !facts->second.assumed;
        return known ? width_of(facts->second.range) : std::nullopt;
    }

    /// A layer runs where its last node stands: by then all that it reads is there.
    void order_layers() {
        const auto last = [](const NpuLayer& layer) {
            return *std::max_element(layer.candidate.nodes.begin(), layer.candidate.nodes.end());
        };
        std::sort(plan_.layers.begin(), plan_.layers.end(),
                  [&](const NpuLayer& a, const NpuLayer& b) { return last(a) < last(b); });
        for (std::size_t i = 0; i < plan_.layers.size(); ++i) {
            for (const std::size_t node : plan_.layers[i].candidate.nodes) {
                plan_.placements[node].layer = i;
            }
        }
    }

    const Graph& graph_;
    GraphView view_;
    std::map<std::string, NumberFacts> facts_;
    RestrictionCheck check_;
    PatternPlan plan_;
};

}  // namespace

PatternPlan plan_patterns(const Graph& graph, const Restrictions& restrictions) {
    return PatternPlanner(graph, restrictions).run();
}

std::optional<MapWidth> clip_width(const Candidate& candidate) {
    return candidate.norm.clip ? width_of({candidate.norm.clip->low, candidate.norm.clip->high})
                               : std::nullopt;
}

}  // namespace npuscope
