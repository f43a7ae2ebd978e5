// SPDX-License-Identifier: Apache-2.0
#include "sim/quantise/bias_correction.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "sim/model/host_values.h"

namespace npuscope {
namespace {

constexpr double largest_bias = 2147483647;

}  // namespace

void correct_biases(QuantisedGraph& model, const std::map<std::string, std::vector<double>>& means,
                    const std::vector<Case>& cases) {
    Graph& graph = model.graph;
    std::vector<std::unique_ptr<HostValues>> runs;
    for (const Case& one : cases) {
        runs.push_back(std::make_unique<HostValues>(graph, ValueRanges{}));
        for (const std::string& input : graph.inputs) {
            runs.back()->take_input(input, one);
        }
    }
    std::map<std::string, const GraphNode*> dequantisers;  // of biases, by their integers
    for (const GraphNode& node : graph.nodes) {
        if (node.op == "DequantizeLinear") {
            dequantisers[node.inputs.front()] = &node;
        }
        for (const auto& run : runs) {
            run->evaluate(node);
        }
        const auto bias =
            std::ranges::find(model.biases, node.outputs.front(), &QuantisedBias::product);
        if (bias == model.biases.end()) {
            continue;
        }
        const std::vector<double>& wanted = means.at(bias->source);
        std::vector<double> found(wanted.size());
        for (const auto& run : runs) {
            const std::vector<double> one =
                kernel_means(run->at(node.outputs.front()), node.op == "MatMul");
            for (std::size_t k = 0; k < found.size(); ++k) {
                found[k] += one[k] / static_cast<double>(cases.size());
            }
        }
        std::vector<double>& integers = graph.constants.at(bias->integers).numbers;
        for (std::size_t k = 0; k < integers.size(); ++k) {
            const double shift = std::nearbyint((wanted[k] - found[k]) / bias->scales[k]);
            integers[k] = std::clamp(integers[k] + shift, -largest_bias, largest_bias);
        }
        for (const auto& run : runs) {
            run->evaluate(*dequantisers.at(bias->integers));
            run->evaluate(node);
        }
    }
}

}  // namespace npuscope
