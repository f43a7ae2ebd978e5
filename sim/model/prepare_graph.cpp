// SPDX-License-Identifier: Apache-2.0
#include "sim/model/prepare_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <span>
#include <utility>

#include "sim/config/text_table.h"
#include "sim/model/fused_nodes.h"
#include "sim/model/left_out.h"
#include "sim/model/node_order.h"
#include "sim/model/operator_parts.h"
#include "sim/model/operators.h"
#include "sim/model/quantiser_places.h"

namespace npuscope {
namespace {

class Preparation {
 public:
    explicit Preparation(Graph& graph)
        : graph_(graph), stated_(graph.types), folds_weights_(quantises_only_constants(graph)) {}

    void run() {
        graph_.types.clear();
        limit_folding();
        for (const std::string& input : graph_.inputs) {
            graph_.types[input] = stated_.at(input);
        }
        for (const GraphNode& node : graph_.nodes) {
            count_readers(node);
        }
        for (const std::string& output : graph_.outputs) {
            ++readers_[output];
        }
        std::vector<GraphNode> nodes = std::exchange(graph_.nodes, {});
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            take(std::move(nodes[i]), std::span(nodes).subspan(i + 1));
        }
        graph_.nodes = std::move(kept_);
        drop_unsized_outputs();
        note_outdated();
        for (const auto& [name, value] : graph_.constants) {
            graph_.types[name] = value.type;
        }
    }

 private:
    static constexpr std::size_t made_of_each = 16;  ///< growth limit per element of the file

    void limit_folding() {
        most_made_ = host::unsigned_of(most_made_elements);
        for (const auto& [name, value] : graph_.constants) {
            most_made_ += made_of_each * value.numbers.size();
        }
        for (const GraphNode& node : graph_.nodes) {
            for (const auto& [name, attribute] : node.attributes) {
                const auto* value = std::get_if<GraphValue>(&attribute);
                most_made_ += value == nullptr ? 0 : made_of_each * value->numbers.size();
            }
        }
    }

    void count_readers(const GraphNode& node) {
        for (const std::string& input : node.inputs) {
            ++readers_[input];
        }
    }

    /// `rest`: the nodes after it.
    void take(GraphNode node, std::span<const GraphNode> rest) {
        FusedParts parts = is_fused(node.op) ? parts_of(node) : FusedParts{};
        if (!parts.nodes.empty()) {
            take_parts(std::move(parts), rest);
            for (const std::string& input : node.inputs) {
                --readers_[input];
            }
            return;
        }
        const std::string reason = reason_for_end(node, rest);
        drop_empty_parts(node);
        if (!reason.empty()) {
            leave_out(std::move(node), reason);
        } else if (!visit(node)) {
            kept_.push_back(std::move(node));
        }
    }

    /// None where the types of its inputs are unknown.
    FusedParts parts_of(const GraphNode& node) const {
        for (const std::string& input : node.inputs) {
            if (!input.empty() && !graph_.types.contains(input) && !graph_.is_constant(input)) {
                return {};
            }
        }
        const auto type = [this](const std::string& tensor) {
            const GraphValue* value = graph_.constant(tensor);
            return value == nullptr ? graph_.types.at(tensor) : value->type;
        };
        const auto constant = [this](const std::string& tensor) { return graph_.constant(tensor); };
        const auto new_name = [this](std::string name) {
            while (readers_.contains(name) || stated_.contains(name)) {
                name += '_';
            }
            return name;
        };
        return at_node(graph_, node, [&] {
            return parts_of_fused(node, {graph_.opset, type, constant, new_name});
        });
    }

    void take_parts(FusedParts parts, std::span<const GraphNode> rest) {
        for (auto& [name, value] : parts.constants) {
            graph_.constants.emplace(name, std::move(value));
        }
        for (const GraphNode& part : parts.nodes) {
            count_readers(part);
        }
        for (GraphNode& part : parts.nodes) {
            take(std::move(part), rest);
        }
    }

    std::string reason_for_end(const GraphNode& node, std::span<const GraphNode> rest) const {
        const bool is_stated =
            graph_.by_shape && std::ranges::all_of(node.outputs, [&](const std::string& output) {
                return is_omitted(output) || stated_.contains(output);
            });
        return graph_.by_shape || ends_values(graph_, node, rest, unsized_)
                   ? reason_to_leave_out(graph_, node, unsized_, is_stated)
                   : std::string();
    }

    /// Its inputs are computed all the same.
    void leave_out(GraphNode node, const std::string& reason) {
        for (const std::string& output : node.outputs) {
            unsized_.insert(output);
        }
        for (const std::string& input : node.inputs) {
            const bool made = !input.empty() && !unsized_.contains(input) &&
                              !graph_.is_constant(input) &&
                              std::ranges::find(graph_.inputs, input) == graph_.inputs.end();
            if (made && std::ranges::find(graph_.outputs, input) == graph_.outputs.end()) {
                graph_.outputs.push_back(input);
            }
        }
        graph_.left_out.emplace_back(std::move(node), reason);
    }

    void drop_unsized_outputs() {
        std::erase_if(graph_.outputs,
                      [&](const std::string& output) { return unsized_.contains(output); });
        if (graph_.outputs.empty()) {
            const auto& [node, reason] = graph_.left_out.front();
            refuse_node(
                graph_, node, reason + ", and no other node can be simulated without it",
                graph_.by_shape
                    ? "store inferred shapes in the model, or give dynamic sizes with --shape"
                    : "to get only the time, store inferred shapes and use --values off");
        }
    }

    /// Whether the node became constants.
    bool visit(const GraphNode& node) {
        at_node(graph_, node, [&] { check_names(node); });
        const OperatorRow* row = find_operator(node.op);
        if (row == nullptr || node.has(unread_attribute) ||
            (graph_.by_shape && computed_sizing(graph_, *row, node) != nullptr)) {
            take_stated_types(node);
            return false;
        }
        // Non-constant operands have a type but no values.
        std::vector<GraphValue> typed;
        typed.reserve(node.inputs.size());
        Operands operands{node, graph_.opset, {}};
        bool constant = row->folds || (folds_weights_ && node.op == "DequantizeLinear");
        for (const std::string& input : node.inputs) {
            const GraphValue* value = graph_.constant(input);
            if (value == nullptr && !input.empty()) {
                typed.push_back({graph_.types.at(input), {}});
                value = &typed.back();
                constant = false;
            }
            operands.values.push_back(value);
        }
        constant = constant || row->of_sizes;
        const auto take_results = [&] {
            check_sizing(*row, node);
            if (row->check != nullptr) {
                row->check(operands);
            }
            host::require_finite(*row, operands);
            if (constant) {
                check_work(*row, operands);
                keep_constants(node, evaluate_outputs(*row, operands));
                drop_read(node);
                return true;
            }
            return keep_types(node, infer_outputs(*row, operands));
        };
        return at_node(graph_, node, take_results);
    }

    /// Of an operator with weights; the others check their own.
    void check_work(const OperatorRow& row, const Operands& operands) const {
        if (row.macs == MacRule::None) {
            return;
        }
        const GraphNode& node = operands.node;
        Graph own;
        own.opset = graph_.opset;
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            if (operands.has(i)) {
                own.types[node.inputs[i]] = operands.at(i).type;
            }
        }
        own.types[node.outputs.front()] = infer_outputs(row, operands).front();
        host::require_work({count_macs(own, node)});
    }

    void check_sizing(const OperatorRow& row, const GraphNode& node) const {
        if (const std::string* input = computed_sizing(graph_, row, node)) {
            throw ConfigError(fmt::format("its operand '{}' is not constant, so sizes or "
                                          "limits are known only at run time",
                                          *input),
                              "export the model with fixed sizes");
        }
    }

    void keep_constants(const GraphNode& node, Values values) {
        for (std::size_t i = 0; i < values.size() && i < node.outputs.size(); ++i) {
            if (!node.outputs[i].empty()) {
                check_stated(node.outputs[i], values[i].type);
                made_ += values[i].numbers.size();
                if (made_ > most_made_) {
                    throw ConfigError(
                        fmt::format(
                            "constant folding produces {} elements, far more than the file holds",
                            made_),
                        "fold the constants before export, or check the model");
                }
                graph_.constants[node.outputs[i]] = std::move(values[i]);
            }
        }
    }

    /// Constants without further readers are dropped: weights may be large.
    void drop_read(const GraphNode& node) {
        for (const std::string& input : node.inputs) {
            if (--readers_[input] == 0) {
                graph_.constants.erase(input);
            }
        }
    }

    /// Whether the results became constants, because they have no elements.
    bool keep_types(const GraphNode& node, const Types& types) {
        if (std::ranges::all_of(types, &has_no_elements)) {
            Values empty;
            for (const TensorType& type : types) {
                empty.push_back({type, {}});
            }
            keep_constants(node, std::move(empty));
            return true;
        }
        for (std::size_t i = 0; i < types.size() && i < node.outputs.size(); ++i) {
            if (!node.outputs[i].empty()) {
                check_stated(node.outputs[i], types[i]);
                graph_.types[node.outputs[i]] = types[i];
            }
        }
        return false;
    }

    static bool has_no_elements(const TensorType& type) {
        return std::ranges::find(type.sizes, 0) != type.sizes.end();
    }

    /// Parts of a Concat that have no elements add none.
    void drop_empty_parts(GraphNode& node) const {
        if (node.op != "Concat") {
            return;
        }
        const auto is_empty = [&](const std::string& input) {
            const GraphValue* value = graph_.constant(input);
            const auto type = graph_.types.find(input);
            return value != nullptr ? has_no_elements(value->type)
                                    : type != graph_.types.end() && has_no_elements(type->second);
        };
        const bool shrinks =
            !std::ranges::all_of(node.inputs, is_empty) && std::erase_if(node.inputs, is_empty) > 0;
        if (shrinks && node.inputs.size() == 1) {
            node.op = "Identity";
            node.attributes.clear();
        }
    }

    /// The sizes that a node gives count: exporters leave outdated ones in their files.
    void check_stated(const std::string& tensor, const TensorType& type) {
        const auto found = stated_.find(tensor);
        if (found == stated_.end() || found->second == type) {
            return;
        }
        if (found->second.element != type.element) {
            throw ConfigError(
                fmt::format("its output '{}' is {} {}, but the model declares {} {}", tensor,
                            enum_name(type.element), sizes_text(type.sizes),
                            enum_name(found->second.element), sizes_text(found->second.sizes)),
                "correct the node, or the declaration");
        }
        outdated_.push_back(fmt::format("'{}' is {}, not {}", tensor, sizes_text(type.sizes),
                                        sizes_text(found->second.sizes)));
    }

    void note_outdated() {
        if (outdated_.empty()) {
            return;
        }
        graph_.notes.push_back(
            {.severity = Severity::Note,
             .id = "stated_sizes",
             .sentence = fmt::format("sizes that the model states for {} differ from those "
                                     "computed from its nodes, which are used: {}{}",
                                     counted(outdated_.size(), "tensor"), outdated_.front(),
                                     outdated_.size() > 1 ? ", .." : ""),
             .remedy = "run shape inference again and save the model"});
    }

    void take_stated_types(const GraphNode& node) {
        for (const std::string& output : node.outputs) {
            const auto found = stated_.find(output);
            if (found == stated_.end() && is_omitted(output)) {
                continue;
            }
            if (found == stated_.end()) {
                refuse_node(graph_, node,
                            "the operator is not supported, and the model does not state the "
                            "type of its output",
                            "replace the operator, or store inferred shapes in the model");
            }
            graph_.types[output] = found->second;
            graph_.types.try_emplace(node.outputs.front(), found->second);
        }
    }

    /// An output without a name, or one that only the reader named.
    static bool is_omitted(const std::string& output) {
        return output.empty() || output.ends_with(omitted_output);
    }

    Graph& graph_;
    std::map<std::string, TensorType> stated_;
    bool folds_weights_;                          ///< dequantisers of constants
    std::set<std::string> unsized_;               ///< tensors of nodes that were left out
    std::map<std::string, std::size_t> readers_;  ///< remaining ones
    std::vector<GraphNode> kept_;                 ///< those that remain
    std::vector<std::string> outdated_;           ///< sizes that the model states
    std::size_t made_ = 0;                        ///< elements of constants that nodes produced
    std::size_t most_made_ = 0;                   ///< a multiple of what the file itself holds
};

}  // namespace

void prepare_graph(Graph& graph) { Preparation(graph).run(); }

void refuse_node(const Graph& graph, const GraphNode& node, const std::string& sentence,
                 const std::string& remedy) {
    throw ConfigError(Place{graph.file, 0, 0},
                      fmt::format("node {}: {}", node_text(node), sentence), remedy);
}

Graph finish_graph(Graph graph, ScaleForm form) {
    prepare_graph(graph);
    use_plain_nodes(graph);
    prepare_graph(graph);
    place_quantisers(graph);
    prepare_graph(graph);
    if (convolve_left_products(graph, false)) {
        prepare_graph(graph);
    }
    std::vector<ResidualSum> sums;
    if (form != ScaleForm::Exact) {
        sums = quantise_residuals(graph);
        prepare_graph(graph);
    }
    move_between_quantisers(graph);
    prepare_graph(graph);
    tabulate_functions(graph);
    prepare_graph(graph);
    normalise_quantised(graph, is_folded(form) ? form : ScaleForm::Exact, is_rounded(form));
    prepare_graph(graph);
    if (is_rounded(form)) {  // the remaining layers
        normalise_quantised(graph, form, true);
        prepare_graph(graph);
        convolve_transposed(graph);
        stage_max_pools(graph);
        prepare_graph(graph);
    }
    note_residuals(graph, sums);
    if (form != ScaleForm::Exact && split_batches(graph)) {
        prepare_graph(graph);
    }
    return graph;
}

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

ValueRange range_of_type(ElementType type) { return {!is_float(type), range_of(type), false}; }

ValueRange range_of_results(const RangeOperands& operands) {
    const OperatorRow* row = find_operator(operands.node.op);
    if (row != nullptr && row->range != nullptr) {
        return row->range(operands);
    }
    if (row != nullptr && row->moves) {
        return operands.at(0);
    }
    return range_of_type(operands.result());
}

bool cast_keeps_numbers(const GraphView& model, const GraphNode& node) {
    const ElementType type = model.graph().types.at(node.outputs.front()).element;
    const ValueRange* known = model.range(node.inputs.front());
    if (known == nullptr || !known->whole) {
        return false;
    }
    const NumberRange range = range_of(type);
    return known->assumed ? is_float(type)
                          : known->range.low >= range.low && known->range.high <= range.high;
}

/// Of given values.
ValueRange range_of_values(const GraphValue& value) {
    ValueRange values{true, {infinite, -infinite}, false};
    for (const double number : value.numbers) {
        values.whole = values.whole && number == std::trunc(number);
        values.range = host::join_ranges(values.range, {number, number});
    }
    return values;
}

}  // namespace

bool takes_reals(const Graph& graph) {
    return std::ranges::any_of(graph.nodes, [](const GraphNode& node) {
        const bool halves =
            node.op == "Cast" && node.integer("to", 0) == element_row(ElementType::Float16).onnx;
        return halves || node.op == "QuantizeLinear";
    });
}

ValueRanges value_ranges(const Graph& graph, const ValueRanges& given) {
    ValueRanges ranges;
    const bool reals = takes_reals(graph);
    for (const auto& [name, value] : graph.constants) {
        ranges[name] = range_of_values(value);
    }
    for (const std::string& input : graph.inputs) {
        const ElementType type = graph.types.at(input).element;
        const bool assumed = is_float(type) && !reals;
        ranges[input] = assumed ? ValueRange{true, {-128, 255}, true}
                                : ValueRange{!is_float(type), range_of(type), false};
    }
    for (const auto& [input, values] : given) {
        ranges[input] = values;
    }
    for (const GraphNode& node : graph.nodes) {
        const ValueRange results = range_of_results({graph, node, ranges});
        for (const std::string& output : node.outputs) {
            const auto type = graph.types.find(output);
            const bool shares = output == node.outputs[0] || node.op == "Split";
            if (shares) {
                ranges[output] = results;
            } else if (type != graph.types.end()) {
                ranges[output] = range_of_type(type->second.element);
            }
        }
    }
    return ranges;
}

bool moves_nothing(const GraphView& model, const GraphNode& node) {
    const OperatorRow* row = find_operator(node.op);
    return row != nullptr && node.outputs.size() == 1 &&
           (row->view == ViewRule::Always ||
            (row->view == ViewRule::WhereNumbersFit && cast_keeps_numbers(model, node)));
}

}  // namespace npuscope
