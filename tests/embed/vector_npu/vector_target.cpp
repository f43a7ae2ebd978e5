// SPDX-License-Identifier: Apache-2.0
#include "vector_target.h"

#include <fmt/format.h>

#include "vector_plan.h"

namespace vector_npu {

using npuscope::Diagnostics;
using npuscope::ElementType;
using npuscope::Graph;
using npuscope::GraphNode;
using npuscope::GraphView;
using npuscope::NodeGroup;

namespace {

/// The operand of a node that is a single constant; nothing if neither is.
std::optional<double> constant_of(const Graph& graph, const GraphNode& node) {
    for (const std::string& input : node.inputs) {
        const npuscope::GraphValue* value = graph.constant(input);
        if (value != nullptr && value->numbers.size() == 1) {
            return value->numbers.front();
        }
    }
    return std::nullopt;
}

/// The first operand that is not a single constant.
const std::string& map_of(const Graph& graph, const GraphNode& node) {
    const npuscope::GraphValue* first = graph.constant(node.inputs.front());
    const bool swapped = node.inputs.size() > 1 && first != nullptr && first->numbers.size() == 1;
    return node.inputs[swapped ? 1 : 0];
}

bool is_fp16(double number) {
    return npuscope::stored_number(ElementType::Float16, number) == number;
}

/// Reads a group's nodes, from the first on.
class GroupReader {
 public:
    GroupReader(const GraphView& model, std::size_t anchor) : model_(model) {
        group_.anchor = anchor;
        layer_.a = map_of(model.graph(), model.node(anchor));
        read(layer_.a);
    }

    NodeGroup run() {
        std::optional<std::size_t> next = group_.anchor;
        if (take(next, "Add")) {
            const GraphNode& node = model_.node(group_.anchor);
            if (const auto constant = constant_of(model_.graph(), node)) {
                layer_.constant = npuscope::to_float16(*constant);
            } else {
                layer_.b = node.inputs[1];
                read(layer_.b);
            }
        }
        if (takes_scale(next)) {
            const auto scale = constant_of(model_.graph(), model_.node(*next));
            layer_.scale = npuscope::to_float16(scale.value_or(1));
            take(next, "Mul");
        }
        layer_.relu = take(next, "Relu");
        group_.lowered = layer_;
        return std::move(group_);
    }

 private:
    void read(const std::string& tensor) {
        group_.reads.push_back({tensor, model_.sizes(tensor), group_.anchor});
    }

    /// A group that begins with Mul may be refused for its operand; one that continues ends before
    /// it.
    bool takes_scale(std::optional<std::size_t> node) const {
        if (!node || model_.node(*node).op != "Mul") {
            return false;
        }
        const auto scale = constant_of(model_.graph(), model_.node(*node));
        return *node == group_.anchor || (scale && is_fp16(*scale));
    }

    /// Adds the node, and moves on to the only one that reads its result.
    bool take(std::optional<std::size_t>& node, const char* op) {
        if (!node || model_.node(*node).op != op) {
            return false;
        }
        group_.pattern.append(group_.pattern.empty() ? "" : "+").append(op);
        group_.nodes.push_back(*node);
        group_.output = model_.node(*node).outputs.front();
        group_.cube = model_.sizes(group_.output);
        node = model_.only_reader(group_.output);
        return true;
    }

    const GraphView& model_;
    NodeGroup group_;
    VectorLayer layer_;
};

/// Why a node of a group is not supported.
void check_node(const GraphView& model, const NodeGroup& group, const GraphNode& node,
                Diagnostics& problems) {
    const auto constant = constant_of(model.graph(), node);
    if (constant && !is_fp16(*constant)) {
        problems.push_back(npuscope::broken_rule(node, "fp16_constant",
                                                 fmt::format("{}", *constant), "fp16 numbers",
                                                 "the constant is not an fp16 number"));
        problems.back().nearest =
            fmt::format("{}", npuscope::stored_number(ElementType::Float16, *constant));
    }
    if (node.op == "Mul" && !constant) {
        problems.push_back(npuscope::broken_rule(node, "constant_scale", "a map",
                                                 "one constant number",
                                                 "the unit multiplies by a constant alone"));
    }
    const npuscope::TensorType& type = model.graph().types.at(node.outputs.front());
    if (type.element != ElementType::Float32) {
        problems.push_back(npuscope::broken_rule(node, "element_type",
                                                 std::string(enum_name(type.element)), "float32",
                                                 "the unit computes with floats"));
    }
    for (const npuscope::GroupRead& read : group.reads) {
        if (read.cube != type.sizes) {
            problems.push_back(npuscope::broken_rule(
                node, "same_sizes", npuscope::sizes_text(read.cube),
                npuscope::sizes_text(type.sizes), "the unit repeats no elements of a map"));
        }
    }
}

}  // namespace

const VectorLayer& vector_layer(const NodeGroup& group) {
    return std::any_cast<const VectorLayer&>(group.lowered);
}

std::unique_ptr<npuscope::ModelPlan> VectorTarget::plan(const Graph& graph,
                                                        const npuscope::ValueRanges& given) const {
    return plan_vector(graph, {config_, memory_, *this}, given);
}

std::optional<NodeGroup> VectorTarget::group_at(const GraphView& model, std::size_t anchor,
                                                bool /*with_residual*/) const {
    const std::string& op = model.node(anchor).op;
    if (op != "Add" && op != "Mul" && op != "Relu") {
        return std::nullopt;
    }
    return GroupReader(model, anchor).run();
}

Diagnostics VectorTarget::lower(const GraphView& model, NodeGroup& group) const {
    Diagnostics problems;
    for (const std::size_t node : group.nodes) {
        check_node(model, group, model.node(node), problems);
    }
    return problems;
}

std::string VectorTarget::configuration(const NodeGroup& group) const {
    const VectorLayer& layer = vector_layer(group);
    return fmt::format("{} elements of fp16, added {}, scale {}{}",
                       npuscope::count_elements(group.cube),
                       layer.b.empty() ? fmt::format("{}", npuscope::widen(layer.constant))
                                       : fmt::format("'{}'", layer.b),
                       npuscope::widen(layer.scale), layer.relu ? ", ReLU" : "");
}

}  // namespace vector_npu
