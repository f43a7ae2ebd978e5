// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/model/graph.h"
#include "sim/model/prepare_graph.h"

namespace npuscope {
namespace {

/// One layer with scales and zero points, read from either form.
struct QuantisedLayer {
    GraphNode anchor;
    bool is_conv = true;
    bool is_pool = false;  ///< MaxPool between equal scales: it needs no sequence
    std::string input;     ///< integers
    std::string output;    ///< integers
    ElementType output_type = ElementType::Int8;
    GraphValue weights;           ///< integers; of a product [C K]
    std::vector<double> bias;     ///< empty, or one per kernel
    std::vector<double> factors;  ///< input scale x weight scale / output scale, per kernel
    double input_zero = 0;
    double output_zero = 0;
    bool relu = false;
    std::vector<std::size_t> after;  ///< nodes after the anchor that belong to it
    std::string obstacle;            ///< why it cannot be exact, if that is plain already
};

/// The integer sequence that gives the same numbers.
struct ExactSequence {
    std::vector<double> bias;     ///< per kernel, half a unit included
    std::vector<double> divisor;  ///< 2^n per kernel
    double low = 0;
    double high = 0;
    std::string reason;  ///< why there is none; empty: there is one
};

bool is_power_of_two(double number) {
    int exponent = 0;
    return number > 0 && std::frexp(number, &exponent) == 0.5;
}

double rounded_float(double number) { return static_cast<double>(static_cast<float>(number)); }

/// Integers with their scale and zero point, from a DequantizeLinear.
struct Dequantised {
    std::string tensor;
    std::vector<double> scales;
    std::vector<double> zeros{0};
};

class LayerReader {
 public:
    LayerReader(const GraphView& view, std::size_t index) : view_(view), node_(view.node(index)) {}

    std::optional<QuantisedLayer> read() {
        layer_.anchor = node_;
        const std::string& op = node_.op;
        if (op == "QLinearConv" || op == "QLinearMatMul") {
            return read_qlinear();
        }
        layer_.is_conv = op == "Conv";
        layer_.is_pool = op == "MaxPool";
        if (op == "Conv" || op == "MatMul" || op == "Gemm" || op == "MaxPool") {
            return read_between();
        }
        return std::nullopt;
    }

 private:
    const GraphValue* constant(const std::string& tensor) const {
        return view_.graph().constant(tensor);
    }
    const std::vector<double>* numbers(std::size_t input) const {
        const GraphValue* value = constant(node_.input(input));
        return value == nullptr ? nullptr : &value->numbers;
    }

    std::optional<QuantisedLayer> read_qlinear() {
        for (std::size_t i = 1; i < 8; ++i) {
            if (numbers(i) == nullptr || numbers(i)->empty()) {
                layer_.obstacle = "its scales or weights are not constant";
                return layer_;
            }
        }
        layer_.is_conv = node_.op == "QLinearConv";
        layer_.input = node_.inputs[0];
        layer_.output = node_.outputs[0];
        layer_.output_type = view_.graph().types.at(layer_.output).element;
        layer_.input_zero = numbers(2)->front();
        layer_.output_zero = numbers(7)->front();
        layer_.weights = *constant(node_.inputs[3]);
        take_off(*numbers(5));
        for (const double scale : *numbers(4)) {
            layer_.factors.push_back(
                rounded_float(rounded_float(numbers(1)->front() * scale) / numbers(6)->front()));
        }
        if (const auto* bias = numbers(8)) {
            layer_.bias = *bias;
        } else if (!node_.input(8).empty()) {
            layer_.obstacle = "its bias is not constant";
        }
        return layer_;
    }

    std::optional<Dequantised> dequantised(const std::string& tensor) const {
        const auto producer = view_.producer(tensor);
        if (!producer || view_.node(*producer).op != "DequantizeLinear") {
            return std::nullopt;
        }
        const GraphNode& node = view_.node(*producer);
        const GraphValue* scale = constant(node.input(1));
        const GraphValue* zero = constant(node.input(2));
        if (scale == nullptr || (zero == nullptr && !node.input(2).empty())) {
            return std::nullopt;
        }
        Dequantised from{node.inputs[0], scale->numbers, {0}};
        if (zero != nullptr) {
            from.zeros = zero->numbers;
        }
        return from;
    }

    /// DequantizeLinear, the operator, maybe an Add of the bias, maybe Relu, QuantizeLinear.
    std::optional<QuantisedLayer> read_between() {
        const auto data = dequantised(node_.inputs[0]);
        if (!data || view_.graph().is_constant(data->tensor)) {
            return std::nullopt;
        }
        if (!take_quantiser()) {
            layer_.obstacle = "no QuantizeLinear of constant scale and zero point follows it";
            return layer_;
        }
        layer_.input = data->tensor;
        layer_.input_zero = data->zeros.front();
        if (layer_.is_pool) {
            const ElementType from = view_.graph().types.at(data->tensor).element;
            if (data->scales != std::vector<double>{output_scale_} || layer_.relu ||
                layer_.input_zero != layer_.output_zero || from != layer_.output_type) {
                layer_.obstacle = "the scales before and after it differ";
            }
            return layer_;
        }
        const auto weights = dequantised(node_.inputs[1]);
        if (!weights || constant(weights->tensor) == nullptr) {
            layer_.obstacle = "its weights are not constants after a DequantizeLinear";
            return layer_;
        }
        layer_.weights = *constant(weights->tensor);
        take_off(weights->zeros);
        take_product_shape();
        const bool powers =
            is_power_of_two(output_scale_) && data->scales.size() == 1 &&
            is_power_of_two(data->scales.front()) &&
            std::all_of(weights->scales.begin(), weights->scales.end(), is_power_of_two);
        if (!powers) {
            layer_.obstacle = "its scales are not all powers of two";
            return layer_;
        }
        for (const double scale : weights->scales) {
            layer_.factors.push_back(data->scales.front() * scale / output_scale_);
        }
        take_bias(*data, *weights);
        return layer_;
    }

    /// [C K], as MatMul has it.
    void take_product_shape() {
        if (layer_.is_conv) {
            return;
        }
        const Sizes sizes = layer_.weights.type.sizes;
        const bool plain = node_.number("alpha", 1) == 1 && node_.number("beta", 1) == 1 &&
                           node_.integer("transA", 0) == 0;
        if (sizes.size() != 2 || !plain) {
            layer_.obstacle = "the product is scaled, or its weights are not a matrix";
        } else if (node_.integer("transB", 0) != 0) {
            layer_.weights = transposed(layer_.weights);
        }
    }

    void take_bias(const Dequantised& data, const Dequantised& weights) {
        const std::string& tensor = added_bias_.empty() ? node_.input(2) : added_bias_;
        if (tensor.empty()) {
            return;
        }
        if (!added_bias_.empty() && !node_.input(2).empty()) {
            layer_.obstacle = "it has two biases";
            return;
        }
        const auto bias = dequantised(tensor);
        const GraphValue* integers = bias ? constant(bias->tensor) : constant(tensor);
        if (integers == nullptr) {
            layer_.obstacle = "its bias is not constant";
            return;
        }
        for (std::size_t i = 0; i < integers->numbers.size(); ++i) {
            const auto of = [i](const std::vector<double>& values) {
                return values[values.size() == 1 ? 0 : i % values.size()];
            };
            const double real = bias ? (integers->numbers[i] - of(bias->zeros)) * of(bias->scales)
                                     : integers->numbers[i];
            layer_.bias.push_back(real / (data.scales.front() * of(weights.scales)));
        }
    }

    /// The tensor of a bias that is added after a product, where `index` is such an addition.
    std::string bias_of(std::size_t index) const {
        const GraphNode& node = view_.node(index);
        if (node.op != "Add" || layer_.is_pool || layer_.is_conv) {
            return {};
        }
        const std::string& other = node.inputs[node.inputs[0] == node_.outputs[0] ? 1 : 0];
        const auto from = dequantised(other);
        const GraphValue* value = from ? constant(from->tensor) : constant(other);
        if (value == nullptr) {
            return {};
        }
        const Sizes& sizes = value->type.sizes;
        const bool last_axis = std::all_of(sizes.begin(), sizes.end() - (sizes.empty() ? 0 : 1),
                                           [](std::int64_t size) { return size == 1; });
        return last_axis ? other : std::string{};
    }

    bool take_quantiser() {
        auto reader = view_.only_reader(node_.outputs[0]);
        if (reader && !(added_bias_ = bias_of(*reader)).empty()) {
            layer_.after.push_back(*reader);
            reader = view_.only_reader(view_.node(*reader).outputs[0]);
        }
        if (reader && view_.node(*reader).op == "Relu") {
            layer_.relu = true;
            layer_.after.push_back(*reader);
            reader = view_.only_reader(view_.node(*reader).outputs[0]);
        }
        if (!reader || view_.node(*reader).op != "QuantizeLinear") {
            return false;
        }
        const GraphNode& quantiser = view_.node(*reader);
        const GraphValue* scale = constant(quantiser.input(1));
        const GraphValue* zero = constant(quantiser.input(2));
        const bool known = scale != nullptr && scale->numbers.size() == 1 &&
                           (zero != nullptr || quantiser.input(2).empty());
        if (!known) {
            return false;
        }
        output_scale_ = scale->numbers.front();
        layer_.output_zero = zero == nullptr ? 0 : zero->numbers.front();
        layer_.output = quantiser.outputs[0];
        layer_.output_type = view_.graph().types.at(layer_.output).element;
        layer_.after.push_back(*reader);
        return true;
    }

    /// Zero points of the weights: one, or one per kernel.
    void take_off(const std::vector<double>& zeros) {
        subtract_zeros(layer_.weights, zeros, layer_.is_conv);
        if (std::ranges::any_of(layer_.weights.numbers,
                                [](double weight) { return weight < -128 || weight > 127; })) {
            layer_.obstacle = "its weights less their zero point exceed 8 bits";
        }
        layer_.weights.type.element = ElementType::Int8;
    }

    const GraphView& view_;
    const GraphNode& node_;
    QuantisedLayer layer_;
    double output_scale_ = 1;
    std::string added_bias_;  ///< tensor of a bias that is added after a product
};

/// Nothing where node `index` is not such a layer.
std::optional<QuantisedLayer> read_quantised_layer(const GraphView& view, std::size_t index) {
    return LayerReader(view, index).read();
}

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

/// Kernel by kernel: the weights' sum and the largest power of two that divides all of them.
struct KernelFacts {
    double sum = 0;
    std::int64_t granule = 0;  ///< 0: all weights are 0
};
std::vector<KernelFacts> kernel_facts(const QuantisedLayer& layer) {
    const Sizes& sizes = layer.weights.type.sizes;
    const auto kernels = static_cast<std::size_t>(layer.is_conv ? sizes.front() : sizes.back());
    const auto& values = layer.weights.numbers;
    const std::size_t step = layer.is_conv ? values.size() / std::max<std::size_t>(kernels, 1) : 1;
    std::vector<KernelFacts> facts(kernels);
    for (std::size_t i = 0; i < values.size(); ++i) {
        KernelFacts& kernel = facts[i / step % kernels];
        const std::int64_t weight = to_integer(std::min(std::abs(values[i]), 0x1p62));
        kernel.sum += values[i];
        const std::int64_t granule = weight & -weight;
        if (granule != 0) {
            kernel.granule = kernel.granule == 0 ? granule : std::min(kernel.granule, granule);
        }
    }
    return facts;
}

bool has_padding(const QuantisedLayer& layer) {
    const auto pads = layer.anchor.integers("pads");
    return layer.anchor.text("auto_pad", "NOTSET").starts_with("SAME") ||
           std::any_of(pads.begin(), pads.end(), [](std::int64_t pad) { return pad != 0; });
}

/// A sum is a multiple of `granule` plus `bias`. Whether it can lie halfway between two results.
bool can_tie(double bias, std::int64_t granule, int shift) {
    const std::int64_t unit = std::int64_t{1} << shift;
    const std::int64_t steps = granule == 0 ? unit : std::min(granule, unit);
    const std::int64_t rest = to_integer(bias) - unit / 2;
    return (rest % steps + steps) % steps == 0;
}

ExactSequence exact_sequence(const QuantisedLayer& layer) {
    ExactSequence exact;
    exact.reason = layer.obstacle;
    if (!exact.reason.empty() || layer.is_pool) {
        return exact;
    }
    const NumberRange range = range_of(layer.output_type);
    exact.low = layer.relu ? std::max(range.low, layer.output_zero) : range.low;
    exact.high = range.high;
    if (layer.input_zero != 0 && layer.is_conv && has_padding(layer)) {
        exact.reason = "its input has a zero point, and padding is not a constant of the bias";
        return exact;
    }
    const std::vector<KernelFacts> kernels = kernel_facts(layer);
    for (std::size_t k = 0; k < kernels.size(); ++k) {
        const double factor =
            layer.factors[layer.factors.size() == 1 ? 0 : k % layer.factors.size()];
        const int shift = is_power_of_two(factor) ? -std::ilogb(factor) : -1;
        if (shift < 0 || shift > 31) {
            exact.reason = fmt::format(
                "input scale x weight scale / output scale is {}, no right shift", factor);
            return exact;
        }
        const double own = layer.bias.empty() ? 0 : layer.bias[layer.bias.size() == 1 ? 0 : k];
        const double bias = own - layer.input_zero * kernels[k].sum;
        if (!(std::abs(bias) < 0x1p52)) {
            exact.reason = "its bias is beyond every sum";
            return exact;
        }
        if (bias != std::trunc(bias)) {
            exact.reason = "its bias is not a multiple of input scale x weight scale";
            return exact;
        }
        if (shift > 0 && can_tie(bias, kernels[k].granule, shift)) {
            exact.reason = "it rounds halves to even, and sums of kernel " + std::to_string(k) +
                           " can lie halfway";
            return exact;
        }
        const double unit = std::ldexp(1.0, shift);
        exact.divisor.push_back(unit);
        exact.bias.push_back(bias + (shift > 0 ? unit / 2 : 0) + layer.output_zero * unit);
    }
    return exact;
}

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
