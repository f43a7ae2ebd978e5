// SPDX-License-Identifier: Apache-2.0
#include "sim/quantise/raise_opset.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "sim/model/prepare_graph.h"

namespace npuscope {
namespace {

class Raising {
 public:
    explicit Raising(Graph& graph) : graph_(graph) {}

    void raise(GraphNode& node) {
        const std::string& op = node.op;
        if (op == "Softmax" || op == "LogSoftmax" || op == "Hardmax") {
            raise_softmax(node);
        } else if (op == "Squeeze" || op == "Unsqueeze" || op == "ReduceSum") {
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
        } else if (op == "TopK" && graph_.opset < 11) {
            refuse_form(node);
        }
    }

 private:
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

    /// Before opset 13, all dimensions from the axis on were flattened.
    void raise_softmax(GraphNode& node) {
        const auto rank =
            static_cast<std::int64_t>(graph_.types.at(node.inputs.front()).sizes.size());
        const std::int64_t axis = node.integer("axis", 1);
        if ((axis < 0 ? axis + rank : axis) != rank - 1) {
            refuse_node(graph_, node,
                        fmt::format("it sums over several axes, from axis {} on", axis),
                        "export the model with opset 13");
        }
        node.attributes["axis"] = std::int64_t{-1};
    }

    void axes_to_input(GraphNode& node, const char* attribute, std::size_t input) {
        if (!node.has(attribute)) {
            return;
        }
        const std::vector<std::int64_t> integers = node.integers(attribute);
        GraphValue value =
            zeros({ElementType::Int64, {static_cast<std::int64_t>(integers.size())}});
        std::ranges::copy(integers, value.numbers.begin());
        give(node, attribute, input, std::move(value));
    }

    void number_to_input(GraphNode& node, const char* attribute, std::size_t input) {
        if (!node.has(attribute)) {
            return;
        }
        GraphValue value = zeros({graph_.types.at(node.inputs.front()).element, {}});
        value.numbers.front() = node.number(attribute, 0);
        give(node, attribute, input, std::move(value));
    }

    /// Coordinates were scaled from the upper left corner.
    void raise_resize(GraphNode& node) {
        if (node.op == "Upsample" && node.has("scales")) {
            const std::vector<double> factors = node.numbers("scales");
            GraphValue value =
                zeros({ElementType::Float32, {static_cast<std::int64_t>(factors.size())}});
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
    Raising raising(graph);
    for (GraphNode& node : graph.nodes) {
        raising.raise(node);
    }
    graph.opset = scales_per_kernel_opset;
    prepare_graph(graph);
}

}  // namespace npuscope
