// SPDX-License-Identifier: Apache-2.0
#include "sim/model/quantiser_places.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/model/graph_edit.h"
#include "sim/model/operators.h"

namespace npuscope {

std::optional<TensorScale> tensor_scale(const Graph& graph, const GraphNode& node,
                                        const std::string& integers) {
    const auto type = graph.types.find(integers);
    const GraphValue* scale = graph.constant(node.input(1));
    const GraphValue* zero = graph.constant(node.input(2));
    const bool known = type != graph.types.end() && scale != nullptr &&
                       scale->numbers.size() == 1 && scale->numbers.front() > 0 &&
                       (node.input(2).empty() || (zero != nullptr && zero->numbers.size() == 1));
    if (!known) {
        return std::nullopt;
    }
    return TensorScale{scale->numbers.front(), zero == nullptr ? 0 : zero->numbers.front(),
                       type->second.element};
}

bool quantises_only_constants(const Graph& graph) {
    std::set<std::string> fixed;
    for (const GraphNode& node : graph.nodes) {
        const bool constant = std::ranges::all_of(node.inputs, [&](const std::string& input) {
            return input.empty() || fixed.contains(input) || graph.is_constant(input);
        });
        if (constant) {
            fixed.insert(node.outputs.begin(), node.outputs.end());
        } else if (node.op.find("QuantizeLinear") != std::string::npos ||
                   node.op == "DequantizeLinear" || node.op.find("QLinear") != std::string::npos ||
                   node.op.find("QGemm") != std::string::npos || node.op.ends_with("Integer")) {
            return false;
        }
    }
    return true;
}

bool is_mover(const GraphNode& node) {
    const OperatorRow* row = find_operator(node.op);
    return node.outputs.size() == 1 &&  // not a MaxPool that also returns indices
           ((row != nullptr && row->moves) || repeats_nearest(node));
}

bool is_activation(const Graph& graph, const GraphNode& node) {
    const auto fixed = [&](std::size_t input) {
        return node.input(input).empty() || graph.is_constant(node.input(input));
    };
    return node.op == "Relu" || (node.op == "Clip" && fixed(1) && fixed(2));
}

// --- Equal quantisers of one tensor ---

namespace {

bool is_quantiser(const GraphNode& node) {
    return node.op == "QuantizeLinear" || node.op == "DequantizeLinear";
}

bool are_equal_constants(const Graph& graph, const std::string& a, const std::string& b) {
    if (a == b) {
        return true;
    }
    const GraphValue* first = graph.constant(a);
    const GraphValue* second = graph.constant(b);
    return first != nullptr && second != nullptr && first->type.element == second->type.element &&
           first->numbers == second->numbers;
}

bool are_equal(const Graph& graph, const GraphNode& a, const GraphNode& b) {
    const GraphValue* scale = graph.constant(a.input(1));
    const bool one_scale = scale != nullptr && scale->numbers.size() == 1;
    return a.op == b.op && (one_scale || a.attributes == b.attributes) &&
           are_equal_constants(graph, a.input(1), b.input(1)) &&
           are_equal_constants(graph, a.input(2), b.input(2)) &&
           graph.types.at(a.outputs[0]) == graph.types.at(b.outputs[0]);
}

}  // namespace

void join_equal_quantisers(Graph& graph) {
    std::map<std::string, std::string> joined;                 // dropped results
    std::map<std::string, std::vector<const GraphNode*>> all;  // by the tensor that they read
    for (GraphNode& node : graph.nodes) {
        for (std::string& input : node.inputs) {
            if (const auto found = joined.find(input); found != joined.end()) {
                input = found->second;
            }
        }
        if (!is_quantiser(node) || std::ranges::count(graph.outputs, node.outputs[0]) != 0) {
            continue;
        }
        std::vector<const GraphNode*>& others = all[node.inputs[0]];
        const auto equal = std::ranges::find_if(
            others, [&](const GraphNode* other) { return are_equal(graph, *other, node); });
        if (equal == others.end()) {
            others.push_back(&node);
        } else {
            joined[node.outputs[0]] = (*equal)->outputs[0];
        }
    }
    std::erase_if(graph.nodes,
                  [&](const GraphNode& node) { return joined.contains(node.outputs.front()); });
}

// --- Quantisers after operators that move elements ---

namespace {

class RaisedQuantisers : GraphRewrite {
 public:
    using GraphRewrite::GraphRewrite;

    void run() {
        std::map<std::string, std::vector<Chain>> chains;  // by source
        for (std::size_t i = 0; i < before_.nodes.size(); ++i) {
            if (const auto chain = chain_of(i)) {
                chains[chain->source].push_back(*chain);
            }
        }
        ReplacedNodes replaced;
        for (const auto& [source, group] : chains) {
            if (is_raised(source, group)) {
                for (const Chain& chain : group) {
                    raise(chain, replaced);
                }
            }
        }
        replace_nodes(graph_, std::move(replaced));
    }

 private:
    /// Source, movers, activation, quantiser: each is the only reader of the one before, except
    /// that the source may have several.
    struct Chain {
        std::string source;
        std::vector<std::size_t> movers;  ///< first to last
        std::optional<std::size_t> activation;
        std::size_t quantiser = 0;
    };

    /// The producer of a tensor that only one node reads.
    std::optional<std::size_t> only_producer(const std::string& tensor) const {
        return view_.only_reader(tensor) ? view_.producer(tensor) : std::nullopt;
    }

    std::optional<Chain> chain_of(std::size_t index) const {
        const GraphNode& node = view_.node(index);
        if (node.op != "QuantizeLinear" || !tensor_scale(before_, node, node.outputs[0])) {
            return std::nullopt;
        }
        Chain chain{node.inputs[0], {}, {}, index};
        const auto before = only_producer(chain.source);
        if (before && is_activation(before_, view_.node(*before))) {
            const auto mover = only_producer(view_.node(*before).inputs[0]);
            if (mover && is_mover(view_.node(*mover))) {
                chain.activation = before;
                chain.source = view_.node(*before).inputs[0];
            }
        }
        for (auto mover = only_producer(chain.source); mover && is_mover(view_.node(*mover));
             mover = only_producer(chain.source)) {
            chain.movers.insert(chain.movers.begin(), *mover);
            chain.source = view_.node(*mover).inputs[0];
        }
        return chain;
    }

    /// Whether all readers of the source are chains of one scale, and one of them has movers. A
    /// source that was dequantised is moved as integers by move_between_quantisers.
    bool is_raised(const std::string& source, const std::vector<Chain>& group) const {
        const auto producer = view_.producer(source);
        const auto scale = [&](const Chain& chain) {
            const GraphNode& quantiser = view_.node(chain.quantiser);
            return tensor_scale(before_, quantiser, quantiser.outputs[0]);
        };
        const bool equal = std::ranges::all_of(group, [&](const Chain& chain) {
            return scale(chain) == scale(group.front()) && (!chain.activation || group.size() == 1);
        });
        return equal && producer && is_cheap(group.front(), view_.node(*producer)) &&
               view_.node(*producer).op != "DequantizeLinear" &&
               view_.readers(source) == group.size() &&
               std::ranges::count(before_.outputs, source) == 0 &&
               std::ranges::any_of(group, [](const Chain& chain) { return !chain.movers.empty(); });
    }

    /// Whether a layer may take the quantiser in, or no more numbers are quantised than before.
    bool is_cheap(const Chain& chain, const GraphNode& producer) const {
        constexpr std::array<std::string_view, 7> layers{
            "Conv", "ConvTranspose", "Gemm", "MatMul", "BatchNormalization", "Relu", "Clip"};
        const bool pools = std::ranges::any_of(
            chain.movers, [&](std::size_t mover) { return view_.node(mover).op == "MaxPool"; });
        const Sizes& result = view_.sizes(view_.node(chain.quantiser).outputs[0]);
        return pools || std::ranges::find(layers, producer.op) != layers.end() ||
               count_elements(view_.sizes(chain.source)) <= count_elements(result);
    }

    void raise(const Chain& chain, ReplacedNodes& replaced) {
        if (chain.movers.empty()) {
            return;
        }
        const std::size_t first = chain.movers.front();
        GraphNode quantiser = view_.node(chain.quantiser);
        const std::string end = quantiser.outputs[0];
        const ElementType type = before_.types.at(end).element;
        const Sizes& sizes = view_.sizes(chain.source);
        quantiser.inputs[0] = chain.source;
        if (chain.activation) {
            GraphNode activation = view_.node(*chain.activation);
            activation.inputs[0] = chain.source;
            quantiser.inputs[0] = activation.outputs[0];
            graph_.types[activation.outputs[0]].sizes = sizes;
            replaced[first].push_back(std::move(activation));
            replaced[*chain.activation] = {};
        }
        std::string tensor = free_name(graph_, end + "_raised");
        quantiser.outputs = {tensor};
        graph_.types[tensor] = {type, sizes};
        replaced[first].push_back(std::move(quantiser));
        replaced[chain.quantiser] = {};
        for (const std::size_t index : chain.movers) {
            GraphNode mover = view_.node(index);
            mover.inputs[0] = tensor;
            const TensorType moved{type, view_.sizes(mover.outputs[0])};
            tensor = index == chain.movers.back()
                         ? end
                         : free_name(graph_, mover.outputs[0] + "_integers");
            mover.outputs = {tensor};
            graph_.types[tensor] = moved;
            replaced[index].push_back(std::move(mover));
        }
    }
};

}  // namespace

void raise_quantisers(Graph& graph) { RaisedQuantisers(graph).run(); }

void place_quantisers(Graph& graph) {
    move_integer_constants(graph);
    join_limits(graph);
    join_equal_quantisers(graph);
    raise_quantisers(graph);
    join_equal_quantisers(graph);
    join_limits(graph);
    fold_into_products(graph);
    drop_unread(graph, is_dequantiser);
}

}  // namespace npuscope
