// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/model/convolved_form.h"
#include "sim/model/graph.h"
#include "sim/model/prepare_graph.h"
#include "sim/model/quantised_form.h"

namespace npuscope {
namespace {

/// An integer sequence: clip(floor((sum + bias) * scale + offset) / divisor)).
struct LayerSequence {
    std::vector<double> bias;     ///< per kernel
    std::vector<double> scale;    ///< per kernel; empty: 1
    double offset = 0;            ///< half a unit, and the output's zero point
    std::vector<double> divisor;  ///< 2^n, per kernel or one
    double input_zero = 0;        ///< that the sums take off; padding counts as it
    std::string reason;           ///< why there is none; empty: there is one
};

constexpr double largest_bias = 2147483647;  // sums have 32 bits

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
    double reach = 0;          ///< of its products with any input, at most
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
        kernel.reach += std::abs(values[i]) * 255;
        const std::int64_t granule = weight & -weight;
        if (granule != 0) {
            kernel.granule = kernel.granule == 0 ? granule : std::min(kernel.granule, granule);
        }
    }
    return facts;
}

/// A sum is a multiple of `granule` plus `bias`. Whether it can lie halfway between two results.
bool can_tie(double bias, std::int64_t granule, int shift) {
    const std::int64_t unit = std::int64_t{1} << shift;
    const std::int64_t steps = granule == 0 ? unit : std::min(granule, unit);
    const std::int64_t rest = to_integer(bias) - unit / 2;
    return (rest % steps + steps) % steps == 0;
}

double of_kernel(const std::vector<double>& numbers, std::size_t kernel, double none) {
    return numbers.empty() ? none : numbers[numbers.size() == 1 ? 0 : kernel % numbers.size()];
}

/// The same numbers, whatever the input.
LayerSequence exact_sequence(const QuantisedLayer& layer) {
    LayerSequence exact;
    exact.reason = layer.obstacle;
    if (!exact.reason.empty() || layer.is_pool) {
        return exact;
    }
    if (!layer.exact_factors) {
        exact.reason = "its scales are not all powers of two";
        return exact;
    }
    if (layer.input_zero != 0 && layer.is_conv && has_padding(layer.anchor)) {
        exact.reason = "its input has a zero point, and padding is not a constant of the bias";
        return exact;
    }
    const std::vector<KernelFacts> kernels = kernel_facts(layer);
    for (std::size_t k = 0; k < kernels.size(); ++k) {
        const double factor = of_kernel(layer.factors, k, 1);
        const int shift = is_power_of_two(factor) ? -std::ilogb(factor) : -1;
        if (shift < 0 || shift > 31) {
            exact.reason = fmt::format(
                "input scale x weight scale / output scale is {}, no right shift", factor);
            return exact;
        }
        const double bias = of_kernel(layer.bias, k, 0) - layer.input_zero * kernels[k].sum;
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

// Scales of any kind as integers of 15 bits and one shift for all kernels. A sum never lies halfway
// between two results, so that it does not matter how hardware rounds halves: where a scale's odd
// part is small, such sums would have to be multiples of a power of two that no sum reaches, or
// the scale is made odd.

constexpr int most_shift = 40;  // source: NVDLA doc v1/ias/precision.rst, products of 48 bits
constexpr std::int64_t beyond_results = 1024;  // twice the steps between the ends of any result

/// Whether (sum + bias) * scale can lie halfway between multiples of 2^shift near results, for sums
/// and biases up to `reach`.
bool can_lie_halfway(std::int64_t scale, int shift, double reach) {
    const std::int64_t power = scale & -scale;
    return scale != 0 && shift > 0 && scale / power < beyond_results &&
           reach >= std::ldexp(1.0, shift - 1) / static_cast<double>(power);
}

LayerSequence rounded_sequence(const QuantisedLayer& layer) {
    LayerSequence rounded;
    rounded.reason = layer.obstacle;
    if (!rounded.reason.empty() || layer.is_pool) {
        return rounded;
    }
    const std::vector<KernelFacts> kernels = kernel_facts(layer);
    double most = 0;
    for (std::size_t k = 0; k < kernels.size(); ++k) {
        most = kernels[k].granule == 0 ? most : std::max(most, of_kernel(layer.factors, k, 1));
    }
    if (!(most <= largest_scale) || !std::isfinite(most)) {
        rounded.reason = fmt::format("its results are sums times {}", most);
        return rounded;
    }
    const int shift = most > 0 ? std::clamp(shift_before(most), 1, most_shift) : 14;
    const double unit = std::ldexp(1.0, shift);
    for (std::size_t k = 0; k < kernels.size(); ++k) {
        const double factor = of_kernel(layer.factors, k, 1);
        const double bias = of_kernel(layer.bias, k, 0);
        if (!(factor >= 0 && std::isfinite(factor) && std::abs(bias) <= largest_bias)) {
            rounded.reason =
                fmt::format("kernel {} has a scale of {} and a bias of {}", k, factor, bias);
            return rounded;
        }
        if (kernels[k].granule == 0) {  // the bias alone
            const int part = std::min(shift, 14);
            rounded.scale.push_back(std::ldexp(1.0, part));
            rounded.bias.push_back(
                std::ldexp(std::clamp(std::nearbyint(bias * factor), -512.0, 512.0), shift - part));
            continue;
        }
        auto scale = static_cast<std::int64_t>(std::nearbyint(factor * unit));
        if (can_lie_halfway(scale, shift, kernels[k].reach + std::abs(bias))) {
            scale |= 1;
        }
        if (can_lie_halfway(scale, shift, kernels[k].reach + std::abs(bias))) {
            rounded.reason =
                fmt::format("kernel {} has a scale of {} and a bias of {}", k, factor, bias);
            return rounded;
        }
        rounded.scale.push_back(static_cast<double>(scale));
        rounded.bias.push_back(std::nearbyint(bias));
    }
    rounded.divisor = {unit};
    rounded.offset = unit / 2 + layer.output_zero * unit;
    rounded.input_zero = layer.input_zero;
    return rounded;
}

/// Builds the integer sequence of one layer, node by node.
class SequenceBuilder {
 public:
    SequenceBuilder(Graph& graph, const QuantisedLayer& layer) : graph_(graph), layer_(layer) {}

    std::vector<GraphNode> build(const LayerSequence& sequence) {
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

/// The sequence with the nodes before and after it.
std::vector<GraphNode> build_layer(Graph& graph, ConvolvedLayer& shaped,
                                   const LayerSequence& sequence) {
    std::vector<GraphNode> nodes = shaped.before.finish(graph);
    const auto append = [&](std::vector<GraphNode> more) {
        std::ranges::move(more, std::back_inserter(nodes));
    };
    append(SequenceBuilder(graph, shaped.layer).build(sequence));
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
            graph.rounded.push_back(node_name(before.nodes[i]));
            continue;
        }
        const auto layer = read_quantised_layer(view, i);
        if (!layer) {
            continue;
        }
        ConvolvedLayer shaped = as_convolution(view, *layer);
        const LayerSequence sequence = form == ScaleForm::Exact ? exact_sequence(shaped.layer)
                                                                : rounded_sequence(shaped.layer);
        if (!sequence.reason.empty()) {
            graph.nodes[i].attributes[not_exact_attribute] = sequence.reason;
            continue;
        }
        replaced[i] = layer->is_pool ? std::vector<GraphNode>{pool_on_integers(*layer)}
                                     : build_layer(graph, shaped, sequence);
        if (form == ScaleForm::Rounded && !layer->is_pool) {
            graph.rounded.push_back(node_name(layer->anchor));
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
