// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "sim/model/graph_edit.h"
#include "sim/model/operator_parts.h"
#include "sim/model/prepare_graph.h"
#include "sim/quantise/float_graph.h"

namespace npuscope {
namespace {

class Raising {
 public:
    explicit Raising(Graph& graph) : graph_(graph) {}

    void raise_all() {
        for (GraphNode& node : std::exchange(graph_.nodes, {})) {
            if (node.op == "Softmax" || node.op == "LogSoftmax" || node.op == "Hardmax") {
                raise_softmax(std::move(node));
            } else {
                raise(node);
                graph_.nodes.push_back(std::move(node));
            }
        }
    }

 private:
    void raise(GraphNode& node) {
        const std::string& op = node.op;
        if (op == "Squeeze" || op == "Unsqueeze" || op == "ReduceSum") {
            axes_to_input(node, "axes", 1);
        } else if (op == "Split") {
            axes_to_input(node, "split", 1);
        } else if (op == "Clip" && graph_.opset < 11) {
            number_to_input(node, "min", 1);
            number_to_input(node, "max", 2);
        } else if (op == "Pad" && graph_.opset < 11) {
            axes_to_input(node, "pads", 1);
            number_to_input(node, "value", 2);
        } else if (op == "Slice" && graph_.opset < 10) {
            axes_to_input(node, "starts", 1);
            axes_to_input(node, "ends", 2);
            axes_to_input(node, "axes", 3);
        } else if (op == "Upsample" || (op == "Resize" && graph_.opset < 11)) {
            raise_resize(node);
        } else if (op == "Dropout") {
            raise_dropout(node);
        } else if (op == "Scatter") {
            node.op = "ScatterElements";
        } else if (op == "BatchNormalization") {
            node.attributes.erase("spatial");
        } else if (op == "TopK" && node.has("k")) {
            node.attributes["k"] = std::vector{node.integer("k", 0)};
            axes_to_input(node, "k", 1);
        }
    }

    [[noreturn]] void refuse_form(const GraphNode& node) const {
        refuse_node(graph_, node, "this form of the operator does not exist in opset 13",
                    "export the model with opset 13");
    }

    /// It drops nothing. Before opset 10, its mask had the type of its input.
    void raise_dropout(GraphNode& node) const {
        if (node.outputs.size() > 1 && !node.outputs[1].empty() && graph_.opset < 10) {
            refuse_form(node);
        }
        node.attributes.erase("ratio");
        node.inputs.resize(1);
    }

    /// Before opset 13, all dimensions from the axis on were one row.
    void raise_softmax(GraphNode node) {
        const Sizes sizes = graph_.types.at(node.inputs.front()).sizes;
        const std::size_t axis = host::axis_index(node.integer("axis", 1), sizes.size());
        const auto begin = sizes.begin() + static_cast<std::ptrdiff_t>(axis);
        const auto longer = [](std::int64_t size) { return size != 1; };
        const auto row = std::find_if(begin, sizes.end(), longer);
        if (row == sizes.end() || std::none_of(row + 1, sizes.end(), longer)) {
            node.attributes["axis"] =
                row == sizes.end() ? std::int64_t{-1} : std::int64_t{row - sizes.begin()};
            graph_.nodes.push_back(std::move(node));
            return;
        }
        const std::int64_t length =
            std::accumulate(begin, sizes.end(), std::int64_t{1}, std::multiplies<>{});
        Sizes flat(sizes.begin(), begin);
        flat.push_back(length);
        const std::string result = node.outputs.front();
        node.attributes["axis"] = std::int64_t{-1};
        node.outputs.front() = result + "_rows";
        add_reshape(node.inputs.front(), result + "_flat", flat);
        node.inputs.front() = result + "_flat";
        const std::string rows = node.outputs.front();
        graph_.nodes.push_back(std::move(node));
        add_reshape(rows, result, sizes);
    }

    void add_reshape(const std::string& from, const std::string& to, const Sizes& sizes) {
        const std::string name = to + "_sizes";
        graph_.constants[name] = integer_list(sizes);
        graph_.nodes.push_back({"Reshape", {}, {from, name}, {to}, {}});
    }

    void axes_to_input(GraphNode& node, const char* attribute, std::size_t input) {
        if (!node.has(attribute)) {
            return;
        }
        give(node, attribute, input, integer_list(node.integers(attribute)));
    }

    void number_to_input(GraphNode& node, const char* attribute, std::size_t input) {
        if (!node.has(attribute)) {
            return;
        }
        const ElementType element = graph_.types.at(node.inputs.front()).element;
        give(node, attribute, input, scalar_value(element, node.number(attribute, 0)));
    }

    /// Coordinates were scaled from the upper left corner.
    void raise_resize(GraphNode& node) {
        if (node.op == "Upsample" && node.has("scales")) {
            const std::vector<double> factors = node.numbers("scales");
            GraphValue value = zeros({ElementType::Float32, {std::ssize(factors)}});
            value.numbers = factors;
            give(node, "scales", 1, std::move(value));
        }
        node.op = "Resize";
        node.inputs.insert(node.inputs.begin() + 1, std::string());  // regions of interest
        node.attributes["coordinate_transformation_mode"] = std::string("asymmetric");
        if (node.text("mode", "nearest") == "nearest") {
            node.attributes["nearest_mode"] = std::string("floor");
        }
    }

    void give(GraphNode& node, const char* attribute, std::size_t input, GraphValue value) {
        const std::string name = fmt::format("{}_{}", node.outputs.front(), attribute);
        graph_.constants[name] = std::move(value);
        node.attributes.erase(attribute);
        node.inputs.resize(std::max(node.inputs.size(), input + 1));
        node.inputs[input] = name;
    }

    Graph& graph_;
};

}  // namespace

void raise_opset(Graph& graph) {
    if (graph.opset >= scales_per_kernel_opset) {
        return;
    }
    Raising(graph).raise_all();
    graph.opset = scales_per_kernel_opset;
    prepare_graph(graph);
}

}  // namespace npuscope
