// SPDX-License-Identifier: Apache-2.0
#include "sim/run/host_cost.h"

#include <algorithm>

namespace npuscope {
namespace {

/// Products per element of the result, or per element of the input where it is transposed.
std::uint64_t macs_of(const Graph& graph, const GraphNode& node, std::uint64_t outputs) {
    const auto elements = [&](const std::string& tensor) {
        return std::uint64_t{count_elements(graph.types.at(tensor).sizes)};
    };
    const std::size_t at = node.op.starts_with("QLinear") ? 3 : 1;
    if (node.input(at).empty()) {
        return 0;
    }
    const Sizes& weights = graph.types.at(node.input(at)).sizes;
    if (weights.empty() || elements(node.input(at)) == 0) {
        return 0;
    }
    if (node.op == "Conv" || node.op == "ConvInteger" || node.op == "QLinearConv") {
        return outputs * (elements(node.input(at)) / static_cast<std::uint64_t>(weights[0]));
    }
    if (node.op == "ConvTranspose") {
        return elements(node.inputs[0]) *
               (elements(node.input(at)) / static_cast<std::uint64_t>(weights[0]));
    }
    if (node.op == "MatMul" || node.op == "MatMulInteger" || node.op == "Gemm" ||
        node.op == "QLinearMatMul") {
        return outputs * (elements(node.input(at)) /
                          std::max<std::uint64_t>(static_cast<std::uint64_t>(weights.back()), 1));
    }
    return 0;
}

}  // namespace

HostCost host_cost(const Graph& graph, const GraphNode& node, const HostConfig& config) {
    std::uint64_t outputs = 0;
    for (const std::string& output : node.outputs) {
        const auto found = graph.types.find(output);
        outputs += found == graph.types.end() ? 0 : count_elements(found->second.sizes);
    }
    HostCost cost;
    cost.macs = macs_of(graph, node, outputs);
    cost.cycles = Cycles(cost.macs * config.cycles_per_mac + outputs * config.cycles_per_element) +
                  config.operator_overhead;
    return cost;
}

}  // namespace npuscope
