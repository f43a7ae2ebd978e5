// SPDX-License-Identifier: Apache-2.0
// Tables for chains of operators between quantisers that are a function of one 8-bit map.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/model/graph_edit.h"
#include "sim/model/operators.h"
#include "sim/model/prepare_graph.h"
#include "sim/model/quantised_form.h"

namespace npuscope {
namespace {

/// The values of a tensor for each of the 256 codes of a map.
struct MapFunction {
    std::string map;
    std::string name{};  ///< of the operator that produces it
    GraphValue values;
};

class FunctionTables {
 public:
    explicit FunctionTables(Graph& graph) : graph_(graph) {}

    void run() {
        for (GraphNode& node : graph_.nodes) {
            if (node.outputs.size() != 1 || !is_elementwise(node) || note_number(node)) {
                continue;
            }
            std::optional<MapFunction> function = function_of(node);
            if (!function) {
                continue;
            }
            if (is_byte(function->values.type.element)) {
                replace(node, *function);
            }
            functions_[node.outputs[0]] = *std::move(function);
        }
        drop_unread(graph_, [&](const GraphNode& node) {
            return node.op == "DequantizeLinear" || functions_.contains(node.outputs.front());
        });
    }

 private:
    static bool is_elementwise(const GraphNode& node) {
        const OperatorRow* row = find_operator(node.op);
        return row != nullptr && row->elementwise;
    }

    /// A dequantised single value: constants of a model may be in this form.
    bool note_number(const GraphNode& node) {
        if (node.op != "DequantizeLinear" || !graph_.is_constant(node.inputs[0]) ||
            graph_.constant(node.inputs[0])->numbers.size() != 1) {
            return false;
        }
        auto number = constant_result(graph_, node);
        if (number) {
            numbers_[node.outputs[0]] = *std::move(number);
        }
        return number.has_value();
    }
    /// Null if it is not known before anything runs.
    const GraphValue* constant(const std::string& tensor) const {
        const auto number = numbers_.find(tensor);
        return number != numbers_.end() ? &number->second : graph_.constant(tensor);
    }

    /// The codes of an integer map themselves.
    std::optional<MapFunction> codes_of(const std::string& tensor) const {
        const auto type = graph_.types.find(tensor);
        if (type == graph_.types.end() || !is_byte(type->second.element) ||
            graph_.is_constant(tensor)) {
            return std::nullopt;
        }
        MapFunction codes{tensor, "", zeros({type->second.element, {lookup_codes}})};
        const double low = range_of(type->second.element).low;
        for (std::size_t i = 0; i < codes.values.numbers.size(); ++i) {
            codes.values.numbers[i] = low + static_cast<double>(i);
        }
        return codes;
    }

    /// Of one map and single-value constants; nothing if the node is not such a function.
    std::optional<MapFunction> function_of(const GraphNode& node) const {
        std::vector<MapFunction> made;
        made.reserve(node.inputs.size());
        Operands operands{node, graph_.opset, {}};
        std::string map;
        for (const std::string& input : node.inputs) {
            const GraphValue* number = constant(input);
            if (input.empty() || number != nullptr) {
                if (number != nullptr && number->numbers.size() != 1) {
                    return std::nullopt;
                }
                operands.values.push_back(number);
                continue;
            }
            const auto known = functions_.find(input);
            const auto function =
                known != functions_.end() ? std::optional(known->second) : codes_of(input);
            if (!function || (!map.empty() && function->map != map)) {
                return std::nullopt;
            }
            map = function->map;
            made.push_back(*function);
            operands.values.push_back(&made.back().values);
        }
        const auto sizes = graph_.types.find(node.outputs[0]);
        if (map.empty() || sizes == graph_.types.end() ||
            sizes->second.sizes != graph_.types.at(map).sizes) {
            return std::nullopt;
        }
        return evaluated(operands, made, map);
    }

    static std::optional<MapFunction> evaluated(const Operands& operands,
                                                const std::vector<MapFunction>& made,
                                                const std::string& map) {
        GraphValue values = evaluate_outputs(*find_operator(operands.node.op), operands).front();
        const bool finite = std::ranges::all_of(
            values.numbers, [](double number) { return std::isfinite(number); });
        if (!finite || values.numbers.size() != lookup_codes) {
            return std::nullopt;
        }
        values.type.sizes = {lookup_codes};
        const GraphNode& node = operands.node;
        const bool scales = node.op == "QuantizeLinear" || node.op == "DequantizeLinear";
        const std::string& before = made.back().name;
        return MapFunction{map, scales && !before.empty() ? before : node_name(node),
                           std::move(values)};
    }

    void replace(GraphNode& node, const MapFunction& function) {
        const GraphValue codes = codes_of(function.map)->values;
        const bool same = codes.type.element == function.values.type.element &&
                          codes.numbers == function.values.numbers;
        GraphNode made =
            same ? GraphNode{"Identity", {}, {}, {}, {}} : lookup_node(function.values);
        made.name = function.name;
        made.inputs = {function.map};
        made.outputs = node.outputs;
        node = std::move(made);
    }

    Graph& graph_;
    std::map<std::string, MapFunction> functions_;
    std::map<std::string, GraphValue> numbers_;  ///< outputs of dequantisers
};

}  // namespace

void tabulate_functions(Graph& graph) { FunctionTables(graph).run(); }

GraphNode lookup_node(const GraphValue& results) {
    std::vector<std::int64_t> codes;
    for (const double number : results.numbers) {
        codes.push_back(to_integer(number));
    }
    const std::int64_t type = element_row(results.type.element).onnx;
    return {lookup_op, {}, {}, {}, {{"codes", std::move(codes)}, {"to", type}}};
}

}  // namespace npuscope
