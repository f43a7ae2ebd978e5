// SPDX-License-Identifier: Apache-2.0
#include "sim/report/explain_report.h"

#include <fmt/format.h>

#include "models/tinpu/tinpu_timing.h"
#include "sim/compile/explain.h"
#include "sim/compile/tinpu/tinpu_target.h"
#include "sim/config/text_table.h"
#include "sim/report/finding_report.h"

namespace npuscope {
namespace {

constexpr std::size_t no_limit = 10'000;  // names of nodes are wanted whole

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
    for (std::size_t i = 0; i < plan.partition.groups.size(); ++i) {
        const NodeGroup& layer = plan.partition.groups[i];
        const Candidate& candidate = *layer.layer;
        const std::uint32_t weight_bits = tinpu_layer(layer).weight_bits;
        signs.emplace(candidate.input, false);
        signs.emplace(candidate.norm.residual, false);
        const Cycles cycles =
            tinpu_cycles(layer_job(plan, i, signs), config.engine, config.mcif.bus_width).total();
        const WindowAxis height = candidate.window.height();
        const WindowAxis width = candidate.window.width();
        table.add_row(
            {layer.name, layer.pattern, weight_bits == 0 ? "-" : fmt::format("{}-bit", weight_bits),
             fmt::format("{},{},{}", candidate.in[2], candidate.in[3], candidate.in[1]),
             fmt::format("{},{},{} {}", candidate.out[2], candidate.out[3], candidate.out[1],
                         candidate.norm.clip ? width_text(clip_width(candidate)) : ""),
             fmt::format("{}x{}", height.kernel, width.kernel),
             fmt::format("{}x{}", height.stride, width.stride), padding_text(candidate.window),
             with_separators(cycles.value)});
    }
    return table.empty() ? "" : table.text() + '\n';
}

}  // namespace

std::string explain_report(const Graph& graph, const LayerPlan& plan,
                           const LayerNpuConfig& config) {
    const std::size_t on_npu = plan.partition.count(NodeSide::Npu);
    std::string text = fmt::format(
        "{} on {}: {} nodes, {} of them in {} layers of the NPU\n"
        "weights and constants {} bytes, feature maps {} bytes at most at a time{}\n\n",
        graph.name.empty() ? graph.file : graph.name, config.name, graph.nodes.size(), on_npu,
        plan.partition.groups.size(), with_separators(plan.weights.value),
        with_separators(plan.peak_maps.value),
        plan.peak_maps > config.engine.memory
            ? fmt::format(", more than the NPU's {}", config.engine.memory.value)
            : "");
    std::vector<std::string> layers;
    for (const NodeGroup& group : plan.partition.groups) {
        layers.push_back(group.name + ", 1 operation");
    }
    const TinpuTarget target(config.restrictions);
    const Explanation told{graph, target, plan.partition, std::move(layers)};
    text += layer_table(plan, config) + told.node_table();
    const std::string refusals = told.refusals();
    return text + (refusals.empty() ? "" : "\n") + refusals + findings_text(plan.findings);
}

}  // namespace npuscope
