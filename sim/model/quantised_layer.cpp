// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/model/candidate.h"
#include "sim/model/graph.h"
#include "sim/model/graph_edit.h"
#include "sim/model/layer_sequence.h"
#include "sim/model/operators.h"
#include "sim/model/prepare_graph.h"

namespace npuscope {
namespace {

/// The pool on integer input and output.
GraphNode pool_on_integers(const QuantisedLayer& layer) {
    GraphNode node = layer.anchor;
    node.inputs = {layer.input};
    node.outputs = {layer.output};
    return node;
}

std::int64_t onnx_code(ElementType type) {
    switch (type) {
        case ElementType::Int8:
            return 3;
        case ElementType::Uint8:
            return 2;
        case ElementType::Float64:
            return 11;
        default:
            return 1;
    }
}

/// Builds the integer sequence of one layer, node by node.
class SequenceBuilder {
 public:
    SequenceBuilder(Graph& graph, const QuantisedLayer& layer) : graph_(graph), layer_(layer) {}

    /// `macs`: the model's MACs; 0: those of the sums.
    std::vector<GraphNode> build(const LayerSequence& sequence, std::uint64_t macs) {
        GraphNode sums = layer_.anchor;
        GraphValue weights = layer_.weights;
        const ElementType element = graph_.types.at(layer_.input).element;
        sums.op = layer_.is_conv ? "ConvInteger" : "MatMulInteger";
        if (sequence.real) {
            sums.op = layer_.is_conv ? "Conv" : "MatMul";
            weights.type.element = ElementType::Float64;
        } else if (is_float(element)) {  // integers that are stored as floats
            sums.op = "Conv";
            weights.type.element = element;
        }
        sums.inputs = {sequence.real ? as_reals() : layer_.input,
                       constant("weight", std::move(weights))};
        if (sequence.input_zero != 0) {
            sums.inputs.push_back(constant("zero", scalar_value(element, sequence.input_zero)));
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
        }
        if (sequence.offset != 0) {
            append("Add", "half", {scalar("offset", sequence.offset)});
        }
        append("Div", "shift",
               {sequence.divisor.size() == 1 ? scalar("divisor", sequence.divisor.front())
                                             : per_kernel("divisor", sequence.divisor)});
        sequence.to_even ? append("Round", "round", {}) : append("Floor", "floor", {});
        append("Clip", "clip", {scalar("low", layer_.low), scalar("high", layer_.high)});
        append("Cast", "store", {}).attributes["to"] = onnx_code(layer_.output_type);
        nodes_.back().outputs = {layer_.output};
        return std::move(nodes_);
    }

 private:
    std::string name(const std::string& part) const {
        return node_name(layer_.anchor) + '/' + part;
    }
    GraphNode& append(const std::string& op, const std::string& part,
                      const std::vector<std::string>& operands) {
        GraphNode node{op, name(part), {nodes_.back().outputs.front()}, {name(part) + "_y"}, {}};
        node.inputs.insert(node.inputs.end(), operands.begin(), operands.end());
        if (op == "Clip" && graph_.opset < 11) {
            node.attributes["min"] = graph_.constants.at(operands[0]).numbers.front();
            node.attributes["max"] = graph_.constants.at(operands[1]).numbers.front();
            node.inputs.resize(1);
        }
        nodes_.push_back(std::move(node));
        return nodes_.back();
    }
    std::string as_reals() {
        const std::int64_t type = onnx_code(ElementType::Float64);
        nodes_.push_back({"Cast", name("real"), {layer_.input}, {name("real_y")}, {{"to", type}}});
        return nodes_.back().outputs.front();
    }
    std::string constant(const std::string& part, GraphValue value) {
        std::string tensor = name(part);
        graph_.constants[tensor] = std::move(value);
        return tensor;
    }
    std::string per_kernel(const std::string& part, const std::vector<double>& numbers) {
        Sizes sizes{static_cast<std::int64_t>(numbers.size())};  // for a product, the last axis
        if (layer_.is_conv) {
            sizes.insert(sizes.begin(), 1);
            sizes.resize(layer_.weights.type.sizes.size(), 1);
        }
        GraphValue value;
        value.type = {ElementType::Float64, std::move(sizes)};
        value.numbers = numbers;
        return constant(part, std::move(value));
    }
    std::string scalar(const std::string& part, double number) {
        return constant(part, scalar_value(ElementType::Float64, number));
    }

    Graph& graph_;
    const QuantisedLayer& layer_;
    std::vector<GraphNode> nodes_;
};

/// 8-bit weights, or finer ones if the input is read twice.
LayerSequence fold_weights(ScaleForm form, ConvolvedLayer& shaped) {
    if (form == ScaleForm::FoldedReal) {
        return real_sequence(shaped.layer);
    }
    const auto fine = form == ScaleForm::Folded ? std::nullopt : fine_map(shaped);
    if (!fine || form == ScaleForm::FoldedNear) {
        ConvolvedLayer once = shaped;
        LayerSequence folded = folded_sequence(once, nullptr);
        if (!fine || !folded.deviation || folded.deviation->steps() <= 1) {
            shaped = std::move(once);
            return folded;
        }
    }
    LayerSequence folded = folded_sequence(shaped, &*fine);
    if (!folded.fine.empty()) {
        read_both(shaped, *fine, folded.fine);
    }
    return folded;
}

/// In the form that the NPU has; exact values first, if that makes a difference.
LayerSequence sequence_of(const GraphView& view, ScaleForm form, bool fit, ConvolvedLayer& shaped) {
    if (is_folded(form)) {
        fit_patterns(view, shaped);
        LayerSequence exact = exact_sequence(shaped.layer);
        const bool fits = std::ranges::all_of(
            exact.bias, [](double bias) { return std::abs(bias) <= largest_norm_bias; });
        return exact.reason.empty() && fits ? exact : fold_weights(form, shaped);
    }
    if (fit) {
        fit_registers(shaped);
    }
    if (form == ScaleForm::Exact) {
        return exact_sequence(shaped.layer);
    }
    LayerSequence even = even_sequence(shaped.layer, high_of(view, shaped.source));
    return even.reason.empty() ? even : rounded_sequence(shaped.layer);
}

/// The sequence with the nodes before and after it.
std::vector<GraphNode> build_layer(Graph& graph, ConvolvedLayer& shaped,
                                   const LayerSequence& sequence, std::uint64_t macs) {
    std::vector<GraphNode> nodes = shaped.before.finish(graph);
    const auto append = [&](std::vector<GraphNode> more) {
        std::ranges::move(more, std::back_inserter(nodes));
    };
    append(SequenceBuilder(graph, shaped.layer).build(sequence, macs));
    append(shaped.order.finish(graph));
    append(shaped.fit.finish(graph));
    append(shaped.after.finish(graph));
    return nodes;
}

/// A 16-bit transposed convolution as one that an NPU has; nothing if it has none.
std::vector<GraphNode> wide_transposed(const GraphView& view, Graph& graph,
                                       const QuantisedLayer& layer) {
    const NumberRange codes = range_of(layer.output_type);
    const bool clips_itself =
        (layer.low == 0 || layer.low == codes.low) && layer.high == codes.high;
    if (!clips_itself || layer.input_zero != 0 || layer.output_zero != 0) {
        return {};
    }
    ConvolvedLayer shaped = as_convolution(view, layer);
    return shaped.layer.obstacle.empty() ? convolve_wide_integers(graph, shaped)
                                         : std::vector<GraphNode>();
}

/// A sum, a product or a PRelu of maps as one integer operator.
std::optional<IntegerForm> read_operator_of_maps(const GraphView& view, std::size_t index,
                                                 const SumStages& stages) {
    if (auto sum = read_quantised_sum(view, index, stages)) {
        return sum;
    }
    if (auto product = read_quantised_product(view, index)) {
        return product;
    }
    return read_quantised_prelu(view, index);
}

}  // namespace

void normalise_quantised(Graph& graph, ScaleForm form, bool fit) {
    // one view for all: rewritten layers keep the names of their inputs and outputs
    const Graph before = graph;
    const GraphView view(before);
    ReplacedNodes replaced;
    std::set<std::size_t> dropped;
    const SumStages stages{form == ScaleForm::RoundedTwice, form == ScaleForm::RoundedThird};
    for (std::size_t i = 0; i < before.nodes.size(); ++i) {
        if (const auto maps = is_rounded(form) ? read_operator_of_maps(view, i, stages)
                                               : std::optional<IntegerForm>()) {
            replaced[i] = {maps->node};
            dropped.insert(maps->after.begin(), maps->after.end());
            if (maps->deviation) {
                graph.rounded.push_back({node_name(before.nodes[i]), *maps->deviation});
            }
            continue;
        }
        const auto layer = read_quantised_layer(view, i);
        if (!layer) {
            continue;
        }
        if (!layer->input.empty() && is_wide(before.types.at(layer->input).element)) {
            const bool spread = is_rounded(form) && layer->is_transposed;
            auto nodes = spread ? wide_transposed(view, graph, *layer) : std::vector<GraphNode>();
            if (nodes.empty()) {
                const bool is_unsigned =
                    before.types.at(layer->input).element == ElementType::Uint16;
                graph.nodes[i].attributes[not_exact_attribute] =
                    std::string(is_unsigned ? "its feature maps are unsigned 16-bit integers"
                                            : "its feature maps are 16-bit");
                continue;
            }
            replaced[i] = std::move(nodes);
            dropped.insert(layer->after.begin(), layer->after.end());
            continue;
        }
        ConvolvedLayer shaped = as_convolution(view, *layer);
        const LayerSequence sequence = sequence_of(view, form, fit, shaped);
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
    replace_nodes(graph, std::move(replaced), dropped);
    drop_unread(graph, is_dequantiser);
}

namespace {

/// A transposed convolution with an integer sequence, as a layer.
QuantisedLayer transposed_layer(const GraphView& view, const Candidate& candidate) {
    QuantisedLayer layer;
    layer.anchor = view.node(candidate.anchor);
    layer.is_transposed = true;
    layer.input = candidate.input;
    layer.output = candidate.output;
    layer.output_type = view.graph().types.at(candidate.output).element;
    layer.weights = candidate.weights;
    layer.low = candidate.norm.clip->low;
    layer.high = candidate.norm.clip->high;
    return layer;
}

/// Values of the layer's kernels, repeated for the convolution's kernels.
std::vector<double> of_places(const std::optional<Step>& step, const ConvolvedLayer& shaped,
                              std::int64_t kernels, double none) {
    const std::int64_t all = shaped.layer.weights.type.sizes.front();
    std::vector<double> numbers;
    for (std::int64_t k = 0; k < all; ++k) {
        numbers.push_back(step ? step->at(static_cast<std::size_t>(k * kernels / all)) : none);
    }
    return numbers;
}

bool is_half_transposed(const GraphView& view, std::size_t index) {
    const GraphNode& node = view.node(index);
    const Graph& graph = view.graph();
    const auto constant = [&](std::size_t input) {
        return node.input(input).empty() || graph.is_constant(node.input(input));
    };
    return node.op == "ConvTranspose" && !graph.is_constant(node.inputs[0]) && constant(1) &&
           constant(2) && graph.types.at(node.inputs[0]).element == ElementType::Float16;
}

struct HalfTransposed {
    std::vector<GraphNode> nodes;  ///< none: it has no such form
    std::optional<std::size_t> activation;
};

/// With a following Relu or Clip, which the NPU computes with the sums.
HalfTransposed convolve_halves(const GraphView& view, std::size_t index, Graph& graph) {
    QuantisedLayer layer;
    layer.anchor = view.node(index);
    layer.is_transposed = true;
    layer.input = layer.anchor.inputs[0];
    layer.output = layer.anchor.outputs[0];
    layer.weights = *view.graph().constant(layer.anchor.inputs[1]);
    if (const GraphValue* bias = view.graph().constant(layer.anchor.input(2))) {
        layer.bias = bias->numbers;
    }
    HalfTransposed half;
    const auto reader = view.only_reader(layer.output);
    if (reader && (view.node(*reader).op == "Relu" || view.node(*reader).op == "Clip")) {
        half.activation = reader;
        layer.output = view.node(*reader).outputs[0];
    }
    ConvolvedLayer shaped = as_convolution(view, std::move(layer));
    if (shaped.layer.obstacle.empty()) {
        half.nodes =
            convolve_wide_floats(graph, shaped, half.activation ? &view.node(*reader) : nullptr);
    }
    return half;
}

}  // namespace

void convolve_transposed(Graph& graph) {
    const Graph before = graph;
    const GraphView view(before);
    ReplacedNodes replaced;
    std::set<std::size_t> dropped;
    for (std::size_t i = 0; i < before.nodes.size(); ++i) {
        if (is_half_transposed(view, i)) {
            HalfTransposed half = convolve_halves(view, i, graph);
            if (!half.nodes.empty()) {
                replaced[i] = std::move(half.nodes);
                dropped.insert(half.activation.value_or(i));
            }
            continue;
        }
        const auto candidate = before.nodes[i].op == "ConvTranspose"
                                   ? read_candidate(view, i, false)
                                   : std::optional<Candidate>();
        if (!candidate || !candidate->problems.empty() || !candidate->norm.clip) {
            continue;
        }
        ConvolvedLayer shaped = as_convolution(view, transposed_layer(view, *candidate));
        if (!shaped.layer.obstacle.empty()) {
            continue;
        }
        const NormSequence& norm = candidate->norm;
        const std::int64_t kernels = candidate->out[1];
        LayerSequence sequence;
        sequence.bias = of_places(norm.bias, shaped, kernels, 0);
        sequence.scale =
            norm.scale ? of_places(norm.scale, shaped, kernels, 1) : std::vector<double>();
        sequence.divisor = of_places(norm.divisor, shaped, kernels, 1);
        sequence.to_even = norm.to_even.has_value();
        shaped.layer.is_conv = true;
        replaced[i] = build_layer(graph, shaped, sequence, 0);
        dropped.insert(candidate->nodes.begin(), candidate->nodes.end());
    }
    replace_nodes(graph, std::move(replaced), dropped);
}

}  // namespace npuscope
