// SPDX-License-Identifier: Apache-2.0
#include "sim/quantise/calibration.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "sim/model/host_values.h"
#include "sim/model/layer_sequence.h"

namespace npuscope {

namespace {

/// One mean per kernel of a product's result, over all other dimensions. Kernels are the second
/// dimension, or the last one of a MatMul.
std::vector<double> kernel_means(const GraphValue& value, bool kernels_last) {
    const Sizes& sizes = value.type.sizes;
    const std::size_t axis = kernels_last ? sizes.size() - 1 : 1;
    const auto kernels = static_cast<std::size_t>(sizes[axis]);
    std::size_t step = 1;
    for (std::size_t i = axis + 1; i < sizes.size(); ++i) {
        step *= static_cast<std::size_t>(sizes[i]);
    }
    std::vector<double> means(kernels);
    for (std::size_t i = 0; i < value.numbers.size(); ++i) {
        means[i / step % kernels] += value.numbers[i];
    }
    for (double& mean : means) {
        mean *= static_cast<double>(kernels) / static_cast<double>(value.numbers.size());
    }
    return means;
}

}  // namespace

Calibration calibrate(const Graph& graph, const Places& places, const std::vector<Case>& cases) {
    Calibration found;
    for (const Case& one : cases) {
        const HostValues values = run_on_host(graph, one);
        for (const auto& [tensor, grid] : places.grids) {
            found.tensors[tensor].add(values.at(tensor).numbers);
        }
        for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
            if (places.roles[i] != Role::Product) {
                continue;
            }
            const GraphNode& node = graph.nodes[i];
            std::vector<double>& sums = found.means[node.outputs.front()];
            const std::vector<double> means =
                kernel_means(values.at(node.outputs.front()), node.op == "MatMul");
            sums.resize(means.size());
            for (std::size_t k = 0; k < means.size(); ++k) {
                sums[k] += means[k] / static_cast<double>(cases.size());
            }
        }
    }
    return found;
}

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
