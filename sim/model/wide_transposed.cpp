// SPDX-License-Identifier: Apache-2.0
// Transposed convolutions on 16-bit maps as convolutions, between the nodes that an NPU reads as
// one: floats unchanged, integers between DequantizeLinear and QuantizeLinear with a scale of 1;
// the weights include the remaining scales.
#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "sim/model/convolved_form.h"

namespace npuscope {
namespace {

GraphValue numbers_of(ElementType element, const Sizes& sizes, std::vector<double> numbers) {
    GraphValue value{{element, sizes}, std::move(numbers)};
    settle(value);
    return value;
}

GraphValue vector_of(ElementType element, std::vector<double> numbers) {
    const auto size = std::ssize(numbers);
    return numbers_of(element, {size}, std::move(numbers));
}

/// One value per kernel.
std::vector<double> per_kernel(const std::vector<double>& numbers, std::int64_t kernels) {
    return numbers.size() == 1
               ? std::vector<double>(static_cast<std::size_t>(kernels), numbers.front())
               : numbers;
}

/// The node of the sums, with its operands first.
void add_sums(NodeChain& chain, const ConvolvedLayer& form, const std::string& map,
              const std::string& weights, ElementType element) {
    GraphNode& sums = chain.add("Conv", map, "sums", {element, form.output.sizes});
    sums.attributes = form.layer.anchor.attributes;
    sums.inputs.push_back(weights);
}

std::vector<GraphNode> with_what_follows(Graph& graph, NodeChain& chain, ConvolvedLayer& form) {
    chain.end_as(form.layer.output);
    std::vector<GraphNode> nodes = form.before.finish(graph);
    std::ranges::move(chain.finish(graph), std::back_inserter(nodes));
    std::ranges::move(form.after.finish(graph), std::back_inserter(nodes));
    return nodes;
}

}  // namespace

std::vector<GraphNode> convolve_wide_integers(Graph& graph, ConvolvedLayer& form) {
    const QuantisedLayer& layer = form.layer;
    NodeChain chain(node_name(layer.anchor));
    const std::int64_t kernels = layer.weights.type.sizes.front();
    const std::vector<double> factors = per_kernel(layer.factors, kernels);
    const auto one = [] { return numbers_of(ElementType::Float32, {}, {1}); };
    const auto zero = [&] { return numbers_of(layer.output_type, {}, {0}); };
    const std::string weights = node_name(layer.anchor) + "/weight";
    graph.constants[weights] = layer.weights;
    chain
        .add("DequantizeLinear", weights, "weights",
             {ElementType::Float32, layer.weights.type.sizes})
        .attributes["axis"] = std::int64_t{0};
    chain.with("scale", vector_of(ElementType::Float32, factors));
    const std::string real_weights = chain.last();
    chain.add("DequantizeLinear", layer.input, "real", {ElementType::Float32, form.input.sizes});
    chain.with("scale", one()).with("zero", zero());
    add_sums(chain, form, chain.last(), real_weights, ElementType::Float32);
    if (!layer.bias.empty()) {
        std::vector<double> bias = per_kernel(layer.bias, kernels);
        std::ranges::transform(bias, factors, bias.begin(), std::multiplies<>{});
        chain.with("bias", vector_of(ElementType::Float32, std::move(bias)));
    }
    if (layer.low == 0) {
        chain.add("Relu", chain.last(), "relu", {ElementType::Float32, form.output.sizes});
    }
    chain.add("QuantizeLinear", chain.last(), "store", {layer.output_type, form.output.sizes});
    chain.with("scale", one()).with("zero", zero());
    return with_what_follows(graph, chain, form);
}

std::vector<GraphNode> convolve_wide_floats(Graph& graph, ConvolvedLayer& form,
                                            const GraphNode* activation) {
    const QuantisedLayer& layer = form.layer;
    NodeChain chain(node_name(layer.anchor));
    const ElementType element = layer.weights.type.element;
    const std::string weights = node_name(layer.anchor) + "/weight";
    graph.constants[weights] = layer.weights;
    add_sums(chain, form, layer.input, weights, element);
    if (!layer.bias.empty()) {
        chain.with("bias", vector_of(element, layer.bias));
    }
    if (activation != nullptr) {
        GraphNode& limit =
            chain.add(activation->op, chain.last(), "limit", {element, form.output.sizes});
        limit.attributes = activation->attributes;
        limit.inputs.insert(limit.inputs.end(), activation->inputs.begin() + 1,
                            activation->inputs.end());
    }
    return with_what_follows(graph, chain, form);
}

}  // namespace npuscope
