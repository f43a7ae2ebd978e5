// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <set>
#include <utility>

#include "sim/model/graph_edit.h"
#include "sim/model/prepare_graph.h"
#include "sim/quantise/float_graph.h"

namespace npuscope {
namespace {

class RowWriter : GraphRewrite {
 public:
    using GraphRewrite::GraphRewrite;

    void run() {
        graph_.nodes.clear();
        for (std::size_t i = 0; i < before_.nodes.size(); ++i) {
            if (dropped_.contains(i)) {
                continue;
            }
            if (is_product_of_rows(before_.nodes[i])) {
                convolve(before_.nodes[i]);
                changed_ = true;
            } else {
                graph_.nodes.push_back(before_.nodes[i]);
            }
        }
        if (changed_) {
            std::map<std::string, TensorType> types;
            for (const std::string& input : graph_.inputs) {
                types[input] = before_.types.at(input);
            }
            graph_.types = std::move(types);
            prepare_graph(graph_);
        }
    }

 private:
    bool is_product_of_rows(const GraphNode& node) const {
        const bool plain =
            node.op == "MatMul" || (node.op == "Gemm" && node.integer("transA", 0) == 0);
        if (!plain || !is_product(before_, node) ||
            before_.constants.at(node.inputs[1]).type.sizes.size() != 2) {
            return false;
        }
        const GraphValue* bias = node.op == "Gemm" ? before_.constant(node.input(2)) : nullptr;
        const std::size_t kernels = static_cast<std::size_t>(view_.sizes(node.outputs[0]).back());
        const bool fits =
            node.op == "MatMul" || node.input(2).empty() ||
            (bias != nullptr && (bias->numbers.size() == 1 || bias->numbers.size() == kernels));
        const Sizes& in = view_.sizes(node.inputs[0]);
        return fits && in.size() >= 2 && static_cast<std::int64_t>(count_elements(in)) > in.back();
    }

    /// Adds a node; its result is the next one's input.
    GraphNode& add(const std::string& op, const std::string& part) {
        const std::string name = name_ + '/' + part;
        const std::string from = std::exchange(at_, name + "_y");
        return graph_.nodes.emplace_back(GraphNode{op, name, {from}, {at_}, {}});
    }
    void reshape(const std::string& part, const Sizes& sizes) {
        const std::string shape = name_ + '/' + part + "_sizes";
        graph_.constants[shape] = integer_list(sizes);
        add("Reshape", part).inputs.push_back(shape);
    }
    void turn(const std::string& part) {
        add("Transpose", part).attributes["perm"] = Sizes{0, 2, 1};
    }

    void convolve(const GraphNode& node) {
        const bool turned = node.op == "Gemm" && node.integer("transB", 0) != 0;
        GraphValue weights = before_.constants.at(node.inputs[1]);
        weights = turned ? weights : transposed(weights);  // [K C]
        const Sizes& in = view_.sizes(node.inputs[0]);
        const std::int64_t channels = weights.type.sizes[1];
        const std::int64_t kernels = weights.type.sizes[0];
        const std::int64_t rows = static_cast<std::int64_t>(count_elements(in)) / in.back();
        name_ = node_name(node);
        at_ = node.inputs[0];
        std::string result = node.outputs[0];
        const Sizes out = view_.sizes(result);
        const std::optional<std::string> bias =
            node.op == "Gemm" ? own_bias(node, kernels) : take_bias(result, kernels);
        reshape("rows", {1, rows, channels});
        turn("channels");
        reshape("map", {1, channels, rows, 1});
        weights.type.sizes = {kernels, channels, 1, 1};
        graph_.constants[name_ + "/weights"] = std::move(weights);
        GraphNode& conv = add("Conv", "product");
        conv.name = name_;
        conv.inputs.push_back(name_ + "/weights");
        if (bias) {
            conv.inputs.push_back(*bias);
        }
        reshape("cube", {1, kernels, rows});
        turn("turned");
        reshape("result", out);
        graph_.nodes.back().outputs = {result};
    }

    /// The bias of a Gemm, one value per kernel or for all.
    std::optional<std::string> own_bias(const GraphNode& node, std::int64_t kernels) {
        const GraphValue* value = before_.constant(node.input(2));
        if (value == nullptr) {
            return std::nullopt;
        }
        GraphValue bias = zeros({value->type.element, Sizes(1, kernels)});
        for (std::size_t k = 0; k < bias.numbers.size(); ++k) {
            bias.numbers[k] = value->numbers[value->numbers.size() == 1 ? 0 : k];
        }
        const std::string tensor = name_ + "/bias";
        graph_.constants[tensor] = std::move(bias);
        return tensor;
    }
    /// A bias that is added to each row becomes the convolution's.
    std::optional<std::string> take_bias(std::string& result, std::int64_t kernels) {
        const auto reader = view_.only_reader(result);
        if (!reader || before_.nodes[*reader].op != "Add") {
            return std::nullopt;
        }
        const GraphNode& add = before_.nodes[*reader];
        const std::string& other = add.inputs[add.inputs[0] == result ? 1 : 0];
        const GraphValue* value = before_.constant(other);
        const bool fits = value != nullptr && !value->type.sizes.empty() &&
                          value->type.sizes.back() == kernels &&
                          static_cast<std::int64_t>(value->numbers.size()) == kernels &&
                          view_.sizes(add.outputs[0]) == view_.sizes(result);
        if (!fits) {
            return std::nullopt;
        }
        GraphValue bias = *value;
        bias.type.sizes = {kernels};
        const std::string tensor = name_ + "/bias";
        graph_.constants[tensor] = std::move(bias);
        dropped_.insert(*reader);
        result = add.outputs[0];
        return tensor;
    }

    std::set<std::size_t> dropped_;
    std::string name_;
    std::string at_;
    bool changed_ = false;
};

}  // namespace

void rows_as_maps(Graph& graph) { RowWriter(graph).run(); }

}  // namespace npuscope
