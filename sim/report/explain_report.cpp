// SPDX-License-Identifier: Apache-2.0
#include "sim/report/explain_report.h"

#include <fmt/format.h>

#include "models/tinpu/tinpu_timing.h"
#include "sim/compile/node_table.h"
#include "sim/compile/tinpu/restriction_check.h"
#include "sim/config/text_table.h"
#include "sim/model/number_ranges.h"
#include "sim/report/finding_report.h"

namespace npuscope {
namespace {

constexpr std::size_t no_limit = 10'000;  // names of nodes are wanted whole

std::string map_text(const std::optional<MapWidth>& width) {
    return width ? fmt::format("{}-bit {}", width->bits, width->is_signed ? "signed" : "unsigned")
                 : std::string("8-bit");
}

std::string reason_of(const Graph& graph, const LayerPlan& plan, std::size_t node) {
    const Placement& placement = plan.patterns.placements[node];
    if (placement.refusal) {
        const Refusal& refusal = plan.patterns.refusals[*placement.refusal];
        if (placement.layer && refusal.partly_taken) {
            return "without its residual";
        }
        return fmt::format("{} at '{}'", refusal.violations.front().rule,
                           node_name(graph.nodes[refusal.violations.front().node]));
    }
    if (placement.layer) {
        const Candidate& candidate = plan.patterns.layers[*placement.layer].candidate;
        return candidate.anchor == node
                   ? fmt::format("to '{}'", candidate.output)
                   : fmt::format("part of '{}'", plan.patterns.layers[*placement.layer].name);
    }
    return placement.side == Side::View ? "nothing is moved or changed"
                                        : "no layer pattern begins with it";
}

std::string pattern_text(const LayerPlan& plan, std::size_t node) {
    const Placement& placement = plan.patterns.placements[node];
    if (placement.layer) {
        return std::string(enum_name(plan.patterns.layers[*placement.layer].pattern()));
    }
    if (placement.refusal) {
        return fmt::format("({})",
                           enum_name(plan.patterns.refusals[*placement.refusal].candidate.pattern));
    }
    return "-";
}

std::string side_text(Side side) {
    switch (side) {
        case Side::Npu:
            return "npu";
        case Side::Host:
            return "host";
        case Side::View:
            return "view";
    }
    return "";
}

std::string node_table(const Graph& graph, const LayerPlan& plan) {
    std::vector<NodeRow> rows;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        rows.push_back({pattern_text(plan, i), side_text(plan.patterns.placements[i].side),
                        reason_of(graph, plan, i)});
    }
    return node_table(graph, rows);
}

/// What the NPU takes, as it takes it.
std::string layer_table(const LayerPlan& plan, const LayerNpuConfig& config) {
    TextTable table({{"layer", Align::Left},
                     {"pattern", Align::Left},
                     {"weights", Align::Right},
                     {"input [H,W,C]", Align::Left},
                     {"output [H,W,C]", Align::Left},
                     {"kernel", Align::Left},
                     {"strides", Align::Left},
                     {"padding", Align::Left},
                     {"cycles", Align::Right}},
                    no_limit);
    Signs signs;  // they cost no cycles
    for (std::size_t i = 0; i < plan.patterns.layers.size(); ++i) {
        const NpuLayer& layer = plan.patterns.layers[i];
        const Candidate& candidate = layer.candidate;
        signs.emplace(candidate.input, false);
        signs.emplace(candidate.norm.residual, false);
        const Cycles cycles =
            tinpu_cycles(layer_job(plan, i, signs), config.engine, config.mcif.bus_width).total();
        const WindowAxis height = candidate.window.height();
        const WindowAxis width = candidate.window.width();
        table.add_row(
            {layer.name, std::string(enum_name(layer.pattern())),
             layer.weight_bits == 0 ? "-" : fmt::format("{}-bit", layer.weight_bits),
             fmt::format("{},{},{}", candidate.in[2], candidate.in[3], candidate.in[1]),
             fmt::format("{},{},{} {}", candidate.out[2], candidate.out[3], candidate.out[1],
                         candidate.norm.clip ? map_text(clip_width(candidate)) : ""),
             fmt::format("{}x{}", height.kernel, width.kernel),
             fmt::format("{}x{}", height.stride, width.stride), padding_text(candidate.window),
             with_separators(cycles.value)});
    }
    return table.empty() ? "" : table.text() + '\n';
}

}  // namespace

std::string refusal_text(const Graph& graph, const Refusal& refusal) {
    const Candidate& candidate = refusal.candidate;
    std::string text = fmt::format(
        "layer '{}' is not taken as {}: {}\n", node_name(graph.nodes[candidate.anchor]),
        enum_name(candidate.pattern),
        refusal.partly_taken ? "all but its residual runs on the NPU" : "it runs on the host");
    text += fmt::format("  input {} {} NHWC, output {} {} NHWC\n", map_text(refusal.input),
                        hwc_text(candidate.in), map_text(clip_width(candidate)),
                        hwc_text(candidate.out));
    if (has_weights(candidate.pattern)) {
        text += fmt::format(
            "  weights {} HWIO, ",
            refusal.weight_bits == 0 ? "of no width" : fmt::format("{}-bit", refusal.weight_bits));
    } else {
        text += "  ";
    }
    text += window_text(candidate) + '\n';
    for (const Violation& violation : refusal.violations) {
        text += fmt::format("  {} at node {}: {}", violation.rule,
                            node_text(graph.nodes[violation.node]), violation.sentence);
        if (!violation.value.empty()) {
            text += fmt::format("; it is {}", violation.value);
        }
        text += fmt::format("; allowed {}", violation.allowed);
        if (!violation.nearest.empty() && violation.nearest != violation.allowed) {
            text += fmt::format("; nearest legal value {}", violation.nearest);
        }
        text += '\n';
    }
    return text;
}

std::string explain_report(const Graph& graph, const LayerPlan& plan,
                           const LayerNpuConfig& config) {
    std::size_t on_npu = 0;
    for (const Placement& placement : plan.patterns.placements) {
        on_npu += placement.side == Side::Npu ? 1U : 0U;
    }
    std::string text = fmt::format(
        "{} on {}: {} nodes, {} of them in {} layers of the NPU\n"
        "weights and constants {} bytes, feature maps {} bytes at most at a time{}\n\n",
        graph.name.empty() ? graph.file : graph.name, config.name, graph.nodes.size(), on_npu,
        plan.patterns.layers.size(), with_separators(plan.weights.value),
        with_separators(plan.peak_maps.value),
        plan.peak_maps > config.engine.memory
            ? fmt::format(", more than the NPU's {}", config.engine.memory.value)
            : "");
    text += layer_table(plan, config) + node_table(graph, plan);
    for (const Refusal& refusal : plan.patterns.refusals) {
        text += '\n' + refusal_text(graph, refusal);
    }
    return text + findings_text(plan.findings);
}

}  // namespace npuscope
