// SPDX-License-Identifier: Apache-2.0
#include "sim/quantise/float_graph.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "models/base/check.h"
#include "sim/model/prepare_graph.h"

namespace npuscope {
namespace {

bool rounds(const GraphNode& node) {
    constexpr std::array words{
        "Floor",       "Round",         "Ceil",        "QuantizeLinear", "DequantizeLinear",
        "ConvInteger", "MatMulInteger", "QLinearConv", "QLinearMatMul",  "DynamicQuantizeLinear"};
    return std::ranges::find(words, node.op) != words.end() ||
           node.op.starts_with("com.microsoft.Q");
}

/// Floats of 16 and 64 bits become floats of 32 bits.
void take_floats_of_32_bits(Graph& graph) {
    const auto is_other = [](ElementType element) {
        return element == ElementType::Float16 || element == ElementType::Float64;
    };
    const auto take = [&](GraphValue& value) {
        if (is_other(value.type.element)) {
            value.type.element = ElementType::Float32;
            settle(value);
        }
    };
    for (auto& [name, value] : graph.constants) {
        take(value);
    }
    for (auto& [name, type] : graph.types) {
        type.element = is_other(type.element) ? ElementType::Float32 : type.element;
    }
    for (GraphNode& node : graph.nodes) {
        const auto to = node.op == "Cast" ? node.integer("to", 0) : 0;
        if (to == element_row(ElementType::Float16).onnx ||
            to == element_row(ElementType::Float64).onnx) {
            node.attributes["to"] = std::int64_t{element_row(ElementType::Float32).onnx};
        }
        for (auto& [name, attribute] : node.attributes) {
            if (auto* value = std::get_if<GraphValue>(&attribute)) {
                take(*value);
            }
        }
    }
}

/// result = product * factor + offset, per kernel.
struct Affine {
    std::vector<double> factor;  ///< empty: 1
    std::vector<double> offset;  ///< empty: 0
};

class Folding {
 public:
    explicit Folding(Graph& graph) : graph_(graph) {}

    /// Folds one node after a product into it; false if there is none.
    bool fold_one() {
        const GraphView view(graph_);
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
            GraphNode& product = graph_.nodes[i];
            if (!has_kernels(product)) {
                continue;
            }
            const auto reader = view.only_reader(product.outputs.front());
            const auto affine = reader ? affine_of(product, graph_.nodes[*reader]) : std::nullopt;
            if (affine) {
                apply(product, *affine);
                product.outputs.front() = graph_.nodes[*reader].outputs.front();
                graph_.nodes.erase(graph_.nodes.begin() + static_cast<std::ptrdiff_t>(*reader));
                return true;
            }
        }
        return false;
    }

    /// Normalisations of maps that cannot be folded become depth-wise products.
    void norms_as_products() {
        for (GraphNode& node : graph_.nodes) {
            const Sizes& sizes = graph_.types.at(node.outputs.front()).sizes;
            if (node.op != "BatchNormalization" || sizes.size() != 4 || node.outputs.size() != 1) {
                continue;
            }
            const auto affine = batch_norm_of(static_cast<std::size_t>(sizes[1]), node);
            if (!affine) {
                continue;
            }
            GraphNode product = node;
            product.op = "Conv";
            product.attributes = {{"group", sizes[1]}};
            const auto keep = [&](const char* part, const Sizes& shape,
                                  const std::vector<double>& numbers) {
                std::string name = node.outputs.front() + part;
                GraphValue value;
                value.type = {ElementType::Float32, shape};
                value.numbers = numbers;
                settle(value);
                graph_.constants[name] = std::move(value);
                return name;
            };
            product.inputs = {node.inputs.front(),
                              keep("_factors", {sizes[1], 1, 1, 1}, affine->factor),
                              keep("_offsets", {sizes[1]}, affine->offset)};
            node = std::move(product);
        }
    }

    /// Folds alpha and beta of a Gemm.
    void plain_gemms() {
        for (GraphNode& node : graph_.nodes) {
            const double alpha = node.op == "Gemm" ? node.number("alpha", 1) : 1;
            const double beta = node.op == "Gemm" ? node.number("beta", 1) : 1;
            const bool scaled = alpha != 1 || (beta != 1 && !node.input(2).empty());
            if (!scaled || !is_product(graph_, node)) {
                continue;
            }
            scale(own_constant(node, 1, "weights"), alpha);
            if (!node.input(2).empty()) {
                scale(own_constant(node, 2, "bias"), beta);
            }
            node.attributes.erase("alpha");
            node.attributes.erase("beta");
        }
    }

 private:
    static void scale(GraphValue& value, double factor) {
        for (double& number : value.numbers) {
            number *= factor;
        }
        settle(value);
    }

    /// A product whose result has its kernels as the second dimension, or a Gemm.
    bool has_kernels(const GraphNode& node) const {
        const bool spread = node.op == "ConvTranspose" && node.integer("group", 1) == 1;
        const bool plain =
            node.op == "Gemm" && node.number("alpha", 1) == 1 && node.number("beta", 1) == 1;
        return (node.op == "Conv" || spread || plain) && is_product(graph_, node);
    }

    std::size_t kernels_of(const GraphNode& node) const {
        const Sizes& sizes = graph_.types.at(node.outputs.front()).sizes;
        return sizes.size() < 2 ? 0 : static_cast<std::size_t>(sizes[1]);
    }

    /// A constant with one value, or one per kernel along the second dimension.
    std::optional<std::vector<double>> per_kernel(const std::string& tensor,
                                                  const GraphNode& product) const {
        const GraphValue* value = graph_.constant(tensor);
        const std::size_t kernels = kernels_of(product);
        const std::size_t rank = graph_.types.at(product.outputs.front()).sizes.size();
        if (value == nullptr || kernels == 0 || value->type.sizes.size() > rank) {
            return std::nullopt;
        }
        if (value->numbers.size() == 1) {
            return std::vector<double>(kernels, value->numbers.front());
        }
        Sizes sizes = value->type.sizes;
        sizes.insert(sizes.begin(), rank - sizes.size(), 1);
        const bool along =
            value->numbers.size() == kernels && sizes[1] == static_cast<std::int64_t>(kernels);
        return along ? std::optional(value->numbers) : std::nullopt;
    }

    std::optional<Affine> affine_of(const GraphNode& product, const GraphNode& node) const {
        if (node.op == "BatchNormalization") {
            return batch_norm_of(kernels_of(product), node);
        }
        const bool known =
            node.op == "Add" || node.op == "Mul" || node.op == "Sub" || node.op == "Div";
        if (!known || graph_.types.at(node.outputs.front()).sizes !=
                          graph_.types.at(product.outputs.front()).sizes) {
            return std::nullopt;
        }
        const bool first = node.inputs[0] == product.outputs.front();
        auto numbers = per_kernel(node.inputs[first ? 1 : 0], product);
        if (!numbers || (!first && (node.op == "Sub" || node.op == "Div"))) {
            return std::nullopt;
        }
        for (double& number : *numbers) {
            number = node.op == "Sub" ? -number : node.op == "Div" ? 1 / number : number;
        }
        const bool adds = node.op == "Add" || node.op == "Sub";
        return adds ? Affine{{}, *std::move(numbers)} : Affine{*std::move(numbers), {}};
    }

    std::optional<Affine> batch_norm_of(std::size_t kernels, const GraphNode& node) const {
        if (node.integer("training_mode", 0) != 0) {
            return std::nullopt;
        }
        std::array<const GraphValue*, 4> parts{};  // scale, bias, mean, variance
        for (std::size_t i = 0; i < parts.size(); ++i) {
            parts.at(i) = graph_.constant(node.input(i + 1));
            if (parts.at(i) == nullptr || parts.at(i)->numbers.size() != kernels) {
                return std::nullopt;
            }
        }
        Affine affine;
        const double epsilon = node.number("epsilon", 1e-5);
        for (std::size_t k = 0; k < kernels; ++k) {
            const double factor = parts[0]->numbers[k] / std::sqrt(parts[3]->numbers[k] + epsilon);
            affine.factor.push_back(factor);
            affine.offset.push_back(parts[1]->numbers[k] - parts[2]->numbers[k] * factor);
        }
        const bool finite =
            std::ranges::all_of(affine.factor, [](double x) { return std::isfinite(x); });
        return finite ? std::optional(affine) : std::nullopt;
    }

    /// The node's own copy of a constant that others may read too.
    GraphValue& own_constant(GraphNode& node, std::size_t input, const std::string& part) {
        const std::string name = node.outputs.front() + "_folded_" + part;
        graph_.constants[name] = graph_.constants.at(node.inputs[input]);
        node.inputs[input] = name;
        return graph_.constants[name];
    }

    void apply(GraphNode& product, const Affine& affine) {
        const std::size_t kernels = kernels_of(product);
        NPU_CHECK(kernels > 0, "a product that something is folded into has kernels");
        if (!affine.factor.empty()) {
            GraphValue& weights = own_constant(product, 1, "weights");
            const bool first = product.op == "Conv" || product.integer("transB", 0) != 0;
            const std::size_t inner = weights.numbers.size() / (first ? kernels : 1);
            const std::size_t step =
                product.op == "ConvTranspose"
                    ? weights.numbers.size() /
                          (kernels * static_cast<std::size_t>(weights.type.sizes[0]))
                : first ? inner
                        : 1;
            for (std::size_t i = 0; i < weights.numbers.size(); ++i) {
                weights.numbers[i] *= affine.factor[i / step % kernels];
            }
            settle(weights);
        }
        if (product.input(2).empty()) {
            const std::string zero = product.outputs.front() + "_no_bias";
            graph_.constants[zero] =
                zeros({ElementType::Float32, {static_cast<std::int64_t>(kernels)}});
            product.inputs.resize(3);
            product.inputs[2] = zero;
        }
        GraphValue& bias = own_constant(product, 2, "bias");
        std::vector<double> all(kernels);
        for (std::size_t k = 0; k < kernels; ++k) {
            const double before = bias.numbers[bias.numbers.size() == 1 ? 0 : k];
            all[k] = before * (affine.factor.empty() ? 1 : affine.factor[k]) +
                     (affine.offset.empty() ? 0 : affine.offset[k]);
        }
        bias = {{bias.type.element, {static_cast<std::int64_t>(kernels)}}, std::move(all)};
        settle(bias);
    }

    Graph& graph_;
};

/// Drops constants that are no longer read.
void drop_unread_constants(Graph& graph) {
    std::set<std::string> read(graph.outputs.begin(), graph.outputs.end());
    for (const GraphNode& node : graph.nodes) {
        read.insert(node.inputs.begin(), node.inputs.end());
    }
    std::erase_if(graph.constants, [&](const auto& one) { return !read.contains(one.first); });
}

}  // namespace

bool is_product(const Graph& graph, const GraphNode& node) {
    const bool conv = node.op == "Conv" || node.op == "ConvTranspose";
    const bool gemm = node.op == "Gemm" && node.integer("transA", 0) == 0;
    if (!conv && !gemm && node.op != "MatMul") {
        return false;
    }
    const GraphValue* weights = graph.constant(node.input(1));
    const GraphValue* bias = graph.constant(node.input(2));
    const bool bias_fits =
        node.input(2).empty() ||
        (bias != nullptr && (conv || bias->type.sizes.size() < 2 || bias->type.sizes.front() == 1));
    return weights != nullptr && is_float(weights->type.element) && bias_fits &&
           (conv || weights->type.sizes.size() == 2) && !graph.is_constant(node.input(0)) &&
           !weights->numbers.empty();
}

namespace {

/// Of a product with constant weights on either side; null if there are none.
const GraphValue* real_weights(const Graph& graph, const GraphNode& node) {
    if (is_product(graph, node)) {
        return graph.constant(node.inputs[1]);
    }
    const bool left = node.op == "MatMul" && !graph.is_constant(node.inputs[1]);
    const GraphValue* weights = left ? graph.constant(node.inputs[0]) : nullptr;
    return weights != nullptr && is_float(weights->type.element) ? weights : nullptr;
}

}  // namespace

bool is_float_model(const Graph& graph) {
    bool fractions = false;
    for (const GraphNode& node : graph.nodes) {
        if (rounds(node)) {
            return false;
        }
        if (const GraphValue* weights = real_weights(graph, node)) {
            fractions = fractions || std::ranges::any_of(weights->numbers, [](double weight) {
                            return weight != std::trunc(weight);
                        });
        }
    }
    return fractions;
}

void ready_for_quantisation(Graph& graph) {
    take_floats_of_32_bits(graph);
    raise_opset(graph);
    prepare_graph(graph);
    use_plain_nodes(graph);
    slice_parts(graph);
    prepare_graph(graph);
    if (convolve_left_products(graph, true)) {
        prepare_graph(graph);
    }
    Folding folding(graph);
    folding.plain_gemms();
    while (folding.fold_one()) {
    }
    folding.norms_as_products();
    while (folding.fold_one()) {
    }
    drop_unread_constants(graph);
    prepare_graph(graph);
}

}  // namespace npuscope
