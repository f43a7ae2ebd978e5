// SPDX-License-Identifier: Apache-2.0
// Products W x whose left operand is constant, as 1 x 1 convolutions: the rows of x are channels.
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/model/convolved_form.h"
#include "sim/model/graph_edit.h"
#include "sim/model/operator_parts.h"
#include "sim/model/prepare_graph.h"
#include "sim/model/quantised_form.h"

namespace npuscope {
namespace {

/// One such product.
class LeftProduct {
 public:
    LeftProduct(Graph& graph, const GraphNode& node)
        : graph_(graph), node_(node), chain_(node_name(node)) {}

    /// False if the left operand is not one constant matrix, or the right one is constant too.
    bool take_operands(const std::string& left, const std::string& right) {
        const GraphValue* matrix = graph_.constant(left);
        if (matrix == nullptr || graph_.is_constant(right)) {
            return false;
        }
        const Sizes& sizes = matrix->type.sizes;
        map_ = graph_.types.at(right);
        const auto rank = std::ssize(sizes);
        const bool is_matrix = rank >= 2 && std::ssize(map_.sizes) >= rank &&
                               std::all_of(sizes.begin(), sizes.end() - 2,
                                           [](std::int64_t size) { return size == 1; });
        if (!is_matrix || count_elements(map_.sizes) == 0) {
            return false;
        }
        weights_ = *matrix;
        weights_.type.sizes = {*(sizes.end() - 2), sizes.back(), 1, 1};
        const std::int64_t columns = map_.sizes.back();
        const auto elements = static_cast<std::int64_t>(count_elements(map_.sizes));
        map_.sizes = {elements / (sizes.back() * columns), sizes.back(), columns, 1};
        right_ = right;
        return true;
    }

    /// Of real numbers, with the activation after it if there is one.
    std::vector<GraphNode> as_conv(const GraphNode* activation) {
        const GraphNode& last = activation == nullptr ? node_ : *activation;
        return convolve("Conv", {constant("kernels", weights_)}, last.outputs.front(), activation);
    }

    /// `x`, `w`, `y`: nodes with scale and zero point from operand `at` on.
    struct Quantiser {
        const GraphNode& node;
        std::size_t at = 1;
    };
    std::vector<GraphNode> as_qlinear_conv(const Quantiser& x, const Quantiser& w,
                                           const Quantiser& y, const std::string& result) {
        return convolve(
            "QLinearConv",
            {x.node.inputs[x.at], zero("x_zero", x, map_.element), constant("kernels", weights_),
             w.node.inputs[w.at], zero("w_zero", w, weights_.type.element), y.node.inputs[y.at],
             zero("y_zero", y, graph_.types.at(result).element)},
            result);
    }

    /// The same with an activation before the quantiser. `x`, `w`, `y`: nodes.
    std::vector<GraphNode> as_clipped_conv(const GraphNode& x, const GraphNode& w,
                                           const GraphNode& activation, const GraphNode& y) {
        const std::string& result = y.outputs.front();
        const ElementType floats = graph_.types.at(node_.outputs.front()).element;
        GraphNode& weights = chain_.add("DequantizeLinear", constant("kernels", weights_),
                                        "weights", {floats, weights_.type.sizes});
        work_as(weights, w);
        if (weights.has("axis")) {
            weights.attributes["axis"] = std::int64_t{0};
        }
        const std::string kernels = chain_.last();
        chain_.reshape(right_, "rows", map_);
        append(x, {floats, map_.sizes});
        add_product("Conv", {kernels}, columns_of(floats));
        append(activation, columns_of(floats));
        append(y, columns_of(graph_.types.at(result).element));
        return finish(result);
    }

 private:
    std::string constant(const std::string& part, GraphValue value) {
        std::string tensor = node_name(node_) + '/' + part;
        graph_.constants[tensor] = std::move(value);
        return tensor;
    }

    std::string zero(const std::string& part, const Quantiser& of, ElementType element) {
        const std::string& given = of.node.input(of.at + 1);
        const Sizes& sizes = graph_.types.at(of.node.input(of.at)).sizes;
        return given.empty() ? constant(part, zeros({element, sizes})) : given;
    }

    std::vector<GraphNode> convolve(const std::string& op, const std::vector<std::string>& more,
                                    const std::string& result,
                                    const GraphNode* activation = nullptr) {
        const TensorType columns = columns_of(graph_.types.at(result).element);
        chain_.reshape(right_, "rows", map_);
        add_product(op, more, columns);
        if (activation != nullptr) {
            append(*activation, columns);
        }
        return finish(result);
    }

    TensorType columns_of(ElementType element) const {
        return {element, {map_.sizes[0], weights_.type.sizes[0], map_.sizes[2], map_.sizes[3]}};
    }

    void add_product(const std::string& op, const std::vector<std::string>& more,
                     const TensorType& columns) {
        GraphNode& product = chain_.add(op, chain_.last(), "product", columns);
        product.name = node_.name;
        product.inputs.insert(product.inputs.end(), more.begin(), more.end());
        product.attributes["kernel_shape"] = std::vector<std::int64_t>{1, 1};
    }

    /// The work of a node of the model, on what the chain has.
    void append(const GraphNode& like, const TensorType& type) {
        work_as(chain_.add(like.op, chain_.last(), like.op, type), like);
    }
    static void work_as(GraphNode& node, const GraphNode& like) {
        node.inputs.insert(node.inputs.end(), like.inputs.begin() + 1, like.inputs.end());
        node.attributes = like.attributes;
    }

    std::vector<GraphNode> finish(const std::string& result) {
        chain_.reshape(chain_.last(), "columns", graph_.types.at(result));
        chain_.end_as(result);
        return chain_.finish(graph_);
    }

    Graph& graph_;
    const GraphNode& node_;
    NodeChain chain_;
    GraphValue weights_;
    std::string right_;
    TensorType map_;
};

/// Whether the weights have one scale and zero point, or one for each row.
bool is_by_row(const GraphView& view, const GraphNode& quantiser) {
    const GraphValue* scale = view.graph().constant(quantiser.inputs[1]);
    const std::size_t rank = view.sizes(quantiser.inputs[0]).size();
    return scale->numbers.size() == 1 ||
           host::axis_index(quantiser.integer("axis", 1), rank) + 2 == rank;
}

/// The nodes of products that are convolutions now, and the nodes after them that these include.
struct Rewritten {
    std::vector<GraphNode> nodes;
    std::vector<std::size_t> after;
};

Rewritten convolve_qlinear(Graph& graph, const GraphView& view, const GraphNode& node) {
    LeftProduct product(graph, node);
    const auto is_one = [&](std::size_t input) {
        const GraphValue* value = view.graph().constant(node.inputs[input]);
        return value != nullptr && value->numbers.size() == 1;
    };
    if (!is_one(1) || !is_one(2) || !product.take_operands(node.inputs[0], node.inputs[3])) {
        return {};
    }
    return {product.as_qlinear_conv({node, 4}, {node, 1}, {node, 6}, node.outputs.front()), {}};
}

/// Of dequantised operands, with a quantiser after it.
Rewritten convolve_dequantised(Graph& graph, const GraphView& view, const GraphNode& node) {
    const auto w = dequantised(view, node.inputs[0]);
    const auto x = dequantised(view, node.inputs[1]);
    const auto y = requantised(view, node.outputs.front());
    if (!w || !x || x->scales.size() != 1 || !y) {
        return {};
    }
    const GraphNode& of_weights = view.node(*view.producer(node.inputs[0]));
    const GraphNode& of_map = view.node(*view.producer(node.inputs[1]));
    const auto has_bytes = [&](const std::string& tensor) {
        return is_byte(view.graph().types.at(tensor).element);
    };
    if (!has_bytes(w->tensor) || !has_bytes(x->tensor) || !is_byte(y->type)) {
        return {};
    }
    LeftProduct product(graph, node);
    if (!is_by_row(view, of_weights) || !product.take_operands(w->tensor, x->tensor)) {
        return {};
    }
    const GraphNode& quantiser = view.node(y->nodes.back());
    if (y->nodes.size() > 1) {
        const GraphNode& activation = view.node(y->nodes.front());
        return {product.as_clipped_conv(of_map, of_weights, activation, quantiser), y->nodes};
    }
    return {product.as_qlinear_conv({of_map}, {of_weights}, {quantiser}, y->output), y->nodes};
}

/// Whether the node clips `map` to constant limits.
bool is_activation(const Graph& graph, const GraphNode& node, const std::string& map) {
    return (node.op == "Relu" || node.op == "Clip") && node.inputs.front() == map &&
           std::all_of(node.inputs.begin() + 1, node.inputs.end(), [&](const std::string& limit) {
               return limit.empty() || graph.is_constant(limit);
           });
}

Rewritten convolve_left(Graph& graph, const GraphView& view, const GraphNode& node,
                        bool of_floats) {
    if (!of_floats && node.op == "QLinearMatMul") {
        return convolve_qlinear(graph, view, node);
    }
    if (node.op != "MatMul") {
        return {};
    }
    if (!of_floats) {
        return convolve_dequantised(graph, view, node);
    }
    LeftProduct product(graph, node);
    if (!product.take_operands(node.inputs[0], node.inputs[1])) {
        return {};
    }
    const auto reader = view.only_reader(node.outputs.front());
    return reader && is_activation(view.graph(), view.node(*reader), node.outputs.front())
               ? Rewritten{product.as_conv(&view.node(*reader)), {*reader}}
               : Rewritten{product.as_conv(nullptr), {}};
}

}  // namespace

bool convolve_left_products(Graph& graph, bool of_floats) {
    const Graph before = graph;
    const GraphView view(before);
    ReplacedNodes made;
    std::set<std::size_t> dropped;
    for (std::size_t i = 0; i < before.nodes.size(); ++i) {
        Rewritten one = convolve_left(graph, view, before.nodes[i], of_floats);
        if (!one.nodes.empty()) {
            made[i] = std::move(one.nodes);
            dropped.insert(one.after.begin(), one.after.end());
        }
    }
    const bool any = !made.empty();
    replace_nodes(graph, std::move(made), dropped);
    return any;
}

}  // namespace npuscope
