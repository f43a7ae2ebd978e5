// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/model/graph.h"
#include "sim/model/layer_sequence.h"
#include "sim/model/operators.h"
#include "sim/model/prepare_graph.h"

namespace npuscope {
namespace {

/// The pool, reading and giving integers.
GraphNode pool_on_integers(const QuantisedLayer& layer) {
    GraphNode node = layer.anchor;
    node.inputs = {layer.input};
    node.outputs = {layer.output};
    return node;
}

/// Takes out dequantisers without readers.
void drop_unread_dequantisers(Graph& graph) {
    const GraphView view(graph);
    std::erase_if(graph.nodes, [&](const GraphNode& node) {
        return node.op == "DequantizeLinear" && view.readers(node.outputs.front()) == 0 &&
               std::find(graph.outputs.begin(), graph.outputs.end(), node.outputs.front()) ==
                   graph.outputs.end();
    });
}

/// Builds the integer sequence of one layer, node by node.
class SequenceBuilder {
 public:
    SequenceBuilder(Graph& graph, const QuantisedLayer& layer) : graph_(graph), layer_(layer) {}

    /// `macs`: that the model has there; 0: those of the sums.
    std::vector<GraphNode> build(const LayerSequence& sequence, std::uint64_t macs) {
        GraphNode sums = layer_.anchor;
        sums.op = layer_.is_conv ? "ConvInteger" : "MatMulInteger";
        sums.inputs = {layer_.input, constant("weight", layer_.weights)};
        if (sequence.input_zero != 0) {
            GraphValue zero = zeros({graph_.types.at(layer_.input).element, {}});
            zero.numbers.front() = sequence.input_zero;
            sums.inputs.push_back(constant("zero", std::move(zero)));
        }
        for (const char* attribute : {"alpha", "beta", "transA", "transB", not_exact_attribute}) {
            sums.attributes.erase(attribute);
        }
        sums.outputs = {name("sums")};
        if (macs != 0) {
            sums.attributes[macs_attribute] = static_cast<std::int64_t>(macs);
        }
        nodes_.push_back(std::move(sums));
        append("Cast", "float", {}).attributes["to"] = std::int64_t{11};  // float64
        append("Add", "bias", {per_kernel("bias", sequence.bias)});
        if (!sequence.scale.empty()) {
            append("Mul", "scale", {per_kernel("scale", sequence.scale)});
            append("Add", "half", {scalar("offset", sequence.offset)});
        }
        append("Div", "shift",
               {sequence.divisor.size() == 1 ? scalar("divisor", sequence.divisor.front())
                                             : per_kernel("divisor", sequence.divisor)});
        append("Floor", "floor", {});
        append("Clip", "clip", {scalar("low", layer_.low), scalar("high", layer_.high)});
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
            sizes.resize(layer_.weights.type.sizes.size(), 1);
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

/// In the form that the NPU has; a layer's own numbers first, where that makes a difference.
LayerSequence sequence_of(const GraphView& view, ScaleForm form, ConvolvedLayer& shaped) {
    if (form == ScaleForm::Folded) {
        fit_patterns(view, shaped);
        LayerSequence exact = exact_sequence(shaped.layer);
        const bool fits = std::ranges::all_of(
            exact.bias, [](double bias) { return std::abs(bias) <= largest_norm_bias; });
        return exact.reason.empty() && fits ? exact : folded_sequence(shaped.layer);
    }
    return form == ScaleForm::Exact ? exact_sequence(shaped.layer) : rounded_sequence(shaped.layer);
}

/// The sequence with the nodes before and after it.
std::vector<GraphNode> build_layer(Graph& graph, ConvolvedLayer& shaped,
                                   const LayerSequence& sequence, std::uint64_t macs) {
    std::vector<GraphNode> nodes = shaped.before.finish(graph);
    const auto append = [&](std::vector<GraphNode> more) {
        std::ranges::move(more, std::back_inserter(nodes));
    };
    append(SequenceBuilder(graph, shaped.layer).build(sequence, macs));
    append(shaped.fit.finish(graph));
    append(shaped.after.finish(graph));
    return nodes;
}

}  // namespace

void normalise_quantised(Graph& graph, ScaleForm form) {
    // one view for all: rewritten layers keep the names of their inputs and outputs
    const Graph before = graph;
    const GraphView view(before);
    std::map<std::size_t, std::vector<GraphNode>> replaced;
    std::set<std::size_t> dropped;
    for (std::size_t i = 0; i < before.nodes.size(); ++i) {
        const auto sum =
            form == ScaleForm::Rounded ? read_quantised_sum(view, i) : std::optional<SumForm>();
        if (sum) {
            replaced[i] = {sum->node};
            dropped.insert(sum->after.begin(), sum->after.end());
            graph.rounded.push_back({node_name(before.nodes[i]), sum->deviation});
            continue;
        }
        const auto layer = read_quantised_layer(view, i);
        if (!layer) {
            continue;
        }
        ConvolvedLayer shaped = as_convolution(view, *layer);
        const LayerSequence sequence = sequence_of(view, form, shaped);
        if (!sequence.reason.empty()) {
            graph.nodes[i].attributes[not_exact_attribute] = sequence.reason;
            continue;
        }
        replaced[i] = layer->is_pool ? std::vector<GraphNode>{pool_on_integers(*layer)}
                                     : build_layer(graph, shaped, sequence,
                                                   count_macs(before, before.nodes[i]));
        if (sequence.deviation) {
            graph.rounded.push_back({node_name(layer->anchor), *sequence.deviation});
        }
        dropped.insert(layer->after.begin(), layer->after.end());
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
