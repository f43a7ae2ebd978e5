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

/// The rule, where it has a name, and its text.
std::string why_refused(const Diagnostic& problem) {
    return fmt::format("{}{}{} at '{}'", problem.id, problem.id.empty() ? "" : ": ",
                       problem.sentence, problem.operation);
}

std::string side_text(NodeSide side) { return side == NodeSide::View ? "view" : "host"; }

std::vector<std::string> row_of(const Explanation& told, std::size_t node) {
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
    if (place.refusal) {
        const Refusal& refusal = told.partition.refusals[*place.refusal];
        return {fmt::format("({})", refusal.group.pattern), side_text(place.side), "",
                why_refused(refusal.problems.front())};
    }
    return {"-", side_text(place.side), "",
            place.side == NodeSide::View ? "nothing is moved or changed"
                                         : "no NPU layer computes it (runs on the host)"};
}

/// `'conv' (Conv)`, by the node's name.
std::string text_of_node(const Graph& graph, const std::string& name) {
    const auto found = std::ranges::find(graph.nodes, name, node_name);
    return found == graph.nodes.end() ? name : node_text(*found);
}

std::string problem_text(const Graph& graph, const Diagnostic& problem) {
    const std::string node = text_of_node(graph, problem.operation);
    std::string text = problem.id.empty()
                           ? fmt::format("  at node {}: {}", node, problem.sentence)
                           : fmt::format("  {} at node {}: {}", problem.id, node, problem.sentence);
    const auto add = [&](const char* what, const std::string& part) {
        if (!part.empty()) {
            text += fmt::format("; {}{}", what, part);
        }
    };
    add("it is ", problem.value);
    add("allowed ", problem.allowed);
    add("nearest legal value ", problem.nearest == problem.allowed ? "" : problem.nearest);
    add("", problem.remedy == problem.allowed ? "" : problem.remedy);
    return text + '\n';
}

}  // namespace

std::string Explanation::node_table(std::size_t width) const {
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

std::string Explanation::refusals() const {
    std::string text;
    for (const Refusal& refusal : partition.refusals) {
        text += text.empty() ? "" : "\n";
        text += refusal_text(graph, target, refusal);
    }
    return text;
}

std::string refusal_text(const Graph& graph, const Target& target, const Refusal& refusal) {
    std::string text = fmt::format(
        "layer '{}' does not qualify as {}: {}\n"
        "  {}\n",
        refusal.group.name, refusal.group.pattern,
        refusal.partly_taken ? "all but its residual runs on the NPU" : "it runs on the host",
        target.configuration(refusal.group));
    for (const Diagnostic& problem : refusal.problems) {
        text += problem_text(graph, problem);
    }
    return text;
}

namespace {

/// Why layers are left to the host: the first reason of each kind, and how many there are.
struct HostReason {
    std::string kind;  ///< reasons of one kind have the same rule and remedy
    std::string text;
    std::size_t layers = 0;
};

HostReason reason_of(const Graph& graph, const Partition& partition, std::size_t node) {
    const NodePlace& place = partition.places[node];
    const std::string at = node_text(graph.nodes[node]);
    if (!place.refusal || partition.refusals[*place.refusal].problems.empty()) {
        const std::string& op = graph.nodes[node].op;
        return {op, fmt::format("no layer of the NPU computes {}, first {}", op, at)};
    }
    const Diagnostic& problem = partition.refusals[*place.refusal].problems.front();
    return {problem.id + '/' + problem.remedy + problem.allowed,
            fmt::format("{}{}{}, first {}", problem.sentence, problem.id.empty() ? "" : " ",
                        problem.id.empty() ? "" : fmt::format("[{}]", problem.id), at)};
}

std::string reasons_text(std::vector<HostReason> reasons) {
    std::ranges::stable_sort(reasons, std::greater{}, &HostReason::layers);
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
    if (layers > 0) {
        return {
            {.id = rule_ids::host_only,
             .sentence = fmt::format("{} runs on the NPU; {}",
                                     layers == 1 ? "not even the model's only layer with MACs"
                                                 : fmt::format("none of the model's {} with MACs",
                                                               counted(layers, "layer")),
                                     reasons_text(std::move(reasons))),
             .remedy = "correct what is named here (a float model: quantise it first); `npuscope "
                       "plan --explain` gives the reason for every node",
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
        layers.push_back(
            {refusal.group.name, refusal.group.pattern, refusal.problems, refusal.partly_taken});
    }
    return layers;
}

std::string explain_report(const Graph& graph, const Target& target, const ModelPlan& plan,
                           std::size_t width) {
    const Explanation told{graph, target, plan.partition(), plan.layers()};
    const std::string refusals = told.refusals();
    return plan.summary(width) + told.node_table(width) +
           fitted((refusals.empty() ? "" : "\n") + refusals, width) +
           findings_text(plan.findings(), true, width);
}

}  // namespace npuscope
