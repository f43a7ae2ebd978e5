// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "models/base/rule_ids.h"
#include "sim/config/diagnostic_report.h"
#include "sim/config/text_table.h"
#include "sim/model/operators.h"

namespace npuscope {
namespace {

/// A node of a group: `to 'y'` for its anchor.
std::string why_taken(const NodeGroup& group, std::size_t node) {
    return group.anchor == node ? fmt::format("to '{}'", group.output)
                                : fmt::format("part of '{}'", group.name);
}

/// The rule, where it has a name, and its text, with the node that it is about if it is not this
/// one.
std::string why_refused(const Diagnostic& problem, const GraphNode& node) {
    const std::string at =
        problem.operation == node_name(node) ? "" : fmt::format(" at '{}'", problem.operation);
    return fmt::format("{}{}{}{}", problem.id, problem.id.empty() ? "" : ": ", problem.sentence,
                       at);
}

std::string side_text(NodeSide side) { return side == NodeSide::View ? "view" : "host"; }

std::vector<std::string> row_of(const PlaceExplanation& told, std::size_t node) {
    const NodePlace& place = told.partition.places[node];
    if (place.side == NodeSide::Unused) {
        return {"-", "-", "", "no output of the model needs it"};
    }
    if (place.side == NodeSide::Npu) {
        const NodeGroup& group = told.partition.groups[*place.group];
        const bool without = group.anchor == node && place.refusal;
        return {group.pattern, told.target.unit_of(group, node), told.layers[*place.group],
                why_taken(group, node) + (without ? ", without its residual" : "")};
    }
    const GraphNode& own = told.graph.nodes[node];
    if (place.refusal) {
        const Refusal& refusal = told.partition.refusals[*place.refusal];
        return {fmt::format("({})", refusal.group.pattern), side_text(place.side), "",
                why_refused(refusal.problems.front(), own)};
    }
    const auto reason = told.partition.reasons.find(node);
    return {"-", side_text(place.side), "",
            reason == told.partition.reasons.end() ? "nothing is moved or changed"
                                                   : why_refused(reason->second, own)};
}

/// `'conv' (Conv)`, by the node's name.
std::string text_of_node(const Graph& graph, const std::string& name) {
    const auto found = std::ranges::find(graph.nodes, name, node_name);
    return found == graph.nodes.end() ? name : node_text(*found);
}

/// `graph`: null where only names are known. `count`: how many layers have this problem.
std::string problem_text(const Graph* graph, const Diagnostic& problem, std::size_t count) {
    const std::string node = graph == nullptr ? fmt::format("'{}'", problem.operation)
                                              : text_of_node(*graph, problem.operation);
    std::string text =
        fmt::format("  {}{}{}at node {}: {}", problem.id, problem.id.empty() ? "" : " ",
                    count > 1 ? "first " : "", node, problem.sentence);
    const auto add = [&](const char* what, const std::string& part) {
        if (!part.empty()) {
            text += fmt::format("; {}{}", what, part);
        }
    };
    add("value ", problem.value);
    add("allowed ", problem.allowed);
    add("nearest legal value ", problem.nearest == problem.allowed ? "" : problem.nearest);
    add("", problem.remedy == problem.allowed ? "" : problem.remedy);
    return text + '\n';
}

bool is_same(const Diagnostic& a, const Diagnostic& b) {
    return a.id == b.id && a.sentence == b.sentence && a.remedy == b.remedy && a.value == b.value &&
           a.allowed == b.allowed && a.nearest == b.nearest;
}

bool have_same_problems(const RefusedLayer& a, const RefusedLayer& b) {
    return a.partly_taken == b.partly_taken && std::ranges::equal(a.problems, b.problems, is_same);
}

using LayerGroup = std::vector<const RefusedLayer*>;

/// Layers with the same problems together, in the order of the first of each.
std::vector<LayerGroup> grouped(const std::vector<RefusedLayer>& layers) {
    std::vector<LayerGroup> groups;
    for (const RefusedLayer& layer : layers) {
        const auto same = std::ranges::find_if(groups, [&](const LayerGroup& group) {
            return have_same_problems(*group.front(), layer);
        });
        if (same == groups.end()) {
            groups.push_back({&layer});
        } else {
            same->push_back(&layer);
        }
    }
    return groups;
}

/// `'a', 'b', 'c', 'd' and 3 more`, from layer `from`.
std::string names_of(const LayerGroup& group, std::size_t from) {
    constexpr std::size_t most = 4;
    std::string text;
    for (std::size_t i = from; i < std::min(group.size(), from + most); ++i) {
        text += fmt::format("{}'{}'", i == from ? "" : ", ", group[i]->layer);
    }
    return group.size() > from + most
               ? fmt::format("{} and {} more", text, group.size() - from - most)
               : text;
}

std::string group_text(const Graph* graph, const LayerGroup& group) {
    const RefusedLayer& first = *group.front();
    const bool one = group.size() == 1;
    const std::string where =
        first.partly_taken
            ? fmt::format("on the NPU without {}", one ? "its residual" : "their residuals")
            : "on the host";
    std::string text =
        one ? fmt::format("layer '{}' runs {}\n", first.layer, where)
            : fmt::format("{} layers run {}: {}\n", group.size(), where, names_of(group, 0));
    if (graph != nullptr && one && !first.configuration.empty()) {
        text += fmt::format("  {}: {}\n", first.pattern, first.configuration);
    }
    for (const Diagnostic& problem : first.problems) {
        text += problem_text(graph, problem, group.size());
    }
    return text;
}

}  // namespace

std::string PlaceExplanation::node_table(std::size_t width) const {
    TextTable table({{"#", Align::Right},
                     {"node", Align::Left},
                     {"operator", Align::Left},
                     {"pattern", Align::Left},
                     {"runs on", Align::Left},
                     {"layer", Align::Left},
                     {"why", Align::Left}});
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        std::vector<std::string> cells = row_of(*this, i);
        cells.insert(cells.begin(),
                     {std::to_string(i), node_name(graph.nodes[i]), graph.nodes[i].op});
        table.add_row(std::move(cells));
    }
    return table.text(width);
}

std::string PlaceExplanation::refusals() const {
    return refusals_text(refused_layers(partition), &graph);
}

std::string refusals_text(const std::vector<RefusedLayer>& layers, const Graph* graph) {
    std::string text;
    for (const LayerGroup& group : grouped(layers)) {
        text += text.empty() ? "" : "\n";
        text += group_text(graph, group);
    }
    return text;
}

Diagnostics refusal_notes(const std::vector<RefusedLayer>& layers) {
    Diagnostics notes;
    for (const LayerGroup& group : grouped(layers)) {
        for (Diagnostic problem : group.front()->problems) {
            problem.severity = Severity::Note;
            problem.id = problem.id.empty() ? "not_taken" : problem.id;
            problem.unit = "host";
            if (group.size() > 1) {
                problem.sentence += fmt::format("; the same applies to {}", names_of(group, 1));
            }
            notes.push_back(std::move(problem));
        }
    }
    return notes;
}

namespace {

/// Why layers are left to the host: the first reason of each kind, and how many there are.
struct HostReason {
    std::string kind;  ///< reasons of one kind have the same rule, sentence and remedy
    std::string text;
    std::string remedy{};
    std::size_t layers = 0;
};

HostReason reason_of(const Graph& graph, const Partition& partition, std::size_t node) {
    const NodePlace& place = partition.places[node];
    const std::string at = node_text(graph.nodes[node]);
    const auto own = partition.reasons.find(node);
    const Diagnostic* problem = place.refusal ? &partition.refusals[*place.refusal].problems.front()
                                : own != partition.reasons.end() ? &own->second
                                                                 : nullptr;
    if (problem == nullptr || (problem->id.empty() && !place.refusal)) {
        const std::string& op = graph.nodes[node].op;
        return {op, fmt::format("no layer of the NPU computes {}, first {}", op, at)};
    }
    return {problem->id + '/' + problem->sentence + '/' + problem->remedy + problem->allowed,
            fmt::format("{}{}{}, first {}", problem->sentence, problem->id.empty() ? "" : " ",
                        problem->id.empty() ? "" : fmt::format("[{}]", problem->id), at),
            problem->remedy == problem->allowed ? "" : problem->remedy};
}

std::string reasons_text(const std::vector<HostReason>& reasons) {
    std::string text;
    for (const HostReason& reason : reasons) {
        text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", counted(reason.layers, "layer"),
                            reason.text);
    }
    return text;
}

}  // namespace

Diagnostics host_only_findings(const Graph& graph, const Partition& partition) {
    std::vector<HostReason> reasons;
    std::size_t layers = 0;
    std::string first;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        const NodeSide side = partition.places[i].side;
        if (side == NodeSide::Unused || count_macs(graph, graph.nodes[i]) == 0) {
            continue;
        }
        if (side == NodeSide::Npu) {
            return {};
        }
        HostReason reason = reason_of(graph, partition, i);
        auto same = std::ranges::find(reasons, reason.kind, &HostReason::kind);
        same = same == reasons.end() ? reasons.insert(same, std::move(reason)) : same;
        ++same->layers;
        first = layers++ == 0 ? node_name(graph.nodes[i]) : first;
    }
    std::ranges::stable_sort(reasons, std::greater{}, &HostReason::layers);
    if (layers > 0) {
        const bool one = reasons.size() == 1 && !reasons.front().remedy.empty();
        return {
            {.id = rule_ids::host_only,
             .sentence = fmt::format("{}; {}",
                                     layers == 1 ? "the model's only layer with MACs does not run "
                                                   "on the NPU"
                                                 : fmt::format("none of the model's {} with MACs "
                                                               "runs on the NPU",
                                                               counted(layers, "layer")),
                                     reasons_text(reasons)),
             .remedy = fmt::format("{}; `npuscope plan --explain` gives the reason for every node",
                                   one ? reasons.front().remedy : "correct what is named here"),
             .operation = first}};
    }
    if (partition.count(NodeSide::Npu) > 0) {
        return {};
    }
    return {{.severity = Severity::Note,
             .id = "no_products",
             .sentence = "the model has no layer with MACs: all of it runs on the host"}};
}

Diagnostics rounding_findings(const Graph& graph) {
    Diagnostics findings;
    for (const bool folded : {false, true}) {
        std::size_t layers = 0;
        double steps = 0;
        std::string first;
        for (const RoundedLayer& layer : graph.rounded) {
            if (layer.deviation.folded == folded) {
                first = layers++ == 0 ? layer.name : first;
                steps = std::max(steps, layer.deviation.steps());
            }
        }
        if (layers == 0) {
            continue;
        }
        const std::string differ = fmt::format(
            "first in '{}': results of such a layer differ from the model's by at most {:.0f} {}",
            first, steps, steps == 1 ? "step" : "steps");
        findings.push_back(
            {.severity = Severity::Note,
             .id = folded ? "folded_scales" : "rounded_scales",
             .sentence = folded ? fmt::format("the weights of {} were re-rounded, because the "
                                              "NPU's scales are powers of two, {}",
                                              counted(layers, "layer"), differ)
                                : fmt::format("the scales of {} are approximated by an integer "
                                              "multiplier and a shift, {}",
                                              counted(layers, "layer"), differ),
             .remedy =
                 fmt::format("compare outputs with a tolerance, or use scales that are powers "
                             "of two{}",
                             folded ? "; --sums once is faster and less accurate" : ""),
             .operation = first});
    }
    return findings;
}

std::vector<RefusedLayer> refused_layers(const Partition& partition) {
    std::vector<RefusedLayer> layers;
    for (const Refusal& refusal : partition.refusals) {
        layers.push_back({refusal.group.name, refusal.group.pattern, refusal.problems,
                          refusal.partly_taken, refusal.configuration});
    }
    return layers;
}

std::string explain_report(const Graph& graph, const Target& target, const ModelPlan& plan,
                           std::size_t width) {
    const PlaceExplanation told{graph, target, plan.partition(), plan.layers()};
    const std::string refusals = told.refusals();
    return plan.summary(width) + told.node_table(width) +
           fitted((refusals.empty() ? "" : "\n") + refusals, width) +
           findings_text(plan.findings(), true, width);
}

}  // namespace npuscope
