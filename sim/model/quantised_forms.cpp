// SPDX-License-Identifier: Apache-2.0
#include "sim/model/quantised_forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "sim/model/graph_view.h"
#include "sim/model/quantised_layer.h"

namespace npuscope {
namespace {

/// Builds the integer sequence of one layer, node by node.
class SequenceBuilder {
 public:
    SequenceBuilder(Graph& graph, const QuantisedLayer& layer) : graph_(graph), layer_(layer) {}

    std::vector<GraphNode> build(const ExactSequence& exact) {
        GraphNode sums = layer_.anchor;
        sums.op = layer_.is_conv ? "ConvInteger" : "MatMulInteger";
        sums.inputs = {layer_.input, constant("weight", layer_.weights)};
        for (const char* attribute : {"alpha", "beta", "transA", "transB"}) {
            sums.attributes.erase(attribute);
        }
        sums.outputs = {name("sums")};
        nodes_.push_back(std::move(sums));
        append("Cast", "float", {}).attributes["to"] = std::int64_t{11};  // float64
        append("Add", "bias", {per_kernel("bias", exact.bias)});
        append("Div", "shift", {per_kernel("divisor", exact.divisor)});
        append("Floor", "floor", {});
        append("Clip", "clip", {scalar("low", exact.low), scalar("high", exact.high)});
        append("Cast", "store", {}).attributes["to"] =
            std::int64_t{layer_.output_type == ElementType::Int8 ? 3 : 2};
        nodes_.back().outputs = {layer_.output};
        return std::move(nodes_);
    }

 private:
    std::string name(const std::string& part) const {
        return node_name(layer_.anchor) + '/' + part;
    }
    GraphNode& append(const std::string& op, const std::string& part,
                      const std::vector<std::string>& operands) {
        GraphNode node;
        node.op = op;
        node.name = name(part);
        node.inputs = {nodes_.back().outputs.front()};
        node.inputs.insert(node.inputs.end(), operands.begin(), operands.end());
        node.outputs = {name(part) + "_y"};
        if (op == "Clip" && graph_.opset < 11) {
            node.attributes["min"] = graph_.constants.at(operands[0]).numbers.front();
            node.attributes["max"] = graph_.constants.at(operands[1]).numbers.front();
            node.inputs.resize(1);
        }
        nodes_.push_back(std::move(node));
        return nodes_.back();
    }
    std::string constant(const std::string& part, GraphValue value) {
        std::string tensor = name(part);
        graph_.constants[tensor] = std::move(value);
        return tensor;
    }
    std::string per_kernel(const std::string& part, const std::vector<double>& numbers) {
        Sizes sizes{static_cast<std::int64_t>(numbers.size())};  // of a product, the last axis
        if (layer_.is_conv) {
            sizes.insert(sizes.begin(), 1);
            sizes.resize(graph_.types.at(layer_.output).sizes.size(), 1);
        }
        GraphValue value = zeros({ElementType::Float64, sizes});
        value.numbers = numbers;
        return constant(part, std::move(value));
    }
    std::string scalar(const std::string& part, double number) {
        GraphValue value = zeros({ElementType::Float64, {}});
        value.numbers.front() = number;
        return constant(part, std::move(value));
    }

    Graph& graph_;
    const QuantisedLayer& layer_;
    std::vector<GraphNode> nodes_;
};

}  // namespace

void normalise_quantised(Graph& graph) {
    // one view for all: rewritten layers keep the names of their inputs and outputs
    const Graph before = graph;
    const GraphView view(before);
    std::map<std::size_t, std::vector<GraphNode>> replaced;
    std::set<std::size_t> dropped;
    for (std::size_t i = 0; i < before.nodes.size(); ++i) {
        const auto layer = read_quantised_layer(view, i);
        if (!layer) {
            continue;
        }
        const ExactSequence exact = exact_sequence(*layer);
        if (!exact.reason.empty()) {
            graph.nodes[i].attributes[not_exact_attribute] = exact.reason;
            continue;
        }
        replaced[i] = layer->is_pool ? std::vector<GraphNode>{pool_on_integers(*layer)}
                                     : SequenceBuilder(graph, *layer).build(exact);
        dropped.insert(layer->behind.begin(), layer->behind.end());
    }
    std::vector<GraphNode> nodes;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        if (const auto found = replaced.find(i); found != replaced.end()) {
            nodes.insert(nodes.end(), found->second.begin(), found->second.end());
        } else if (!dropped.contains(i)) {
            nodes.push_back(std::move(graph.nodes[i]));
        }
    }
    graph.nodes = std::move(nodes);
    drop_unread_dequantisers(graph);
}

}  // namespace npuscope
