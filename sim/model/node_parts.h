// SPDX-License-Identifier: Apache-2.0
// Builds the operators that a fused node stands for, one after the other: each is named after the
// node and its part in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/model/fused_nodes.h"
#include "sim/model/graph_edit.h"

namespace npuscope {

class NodeParts {
 public:
    NodeParts(const GraphNode& node, const FusedSurroundings& around)
        : node_(node), around_(around) {}

 protected:
    Sizes sizes_of(std::size_t input) const { return around_.type(node_.input(input)).sizes; }

    bool is_read(std::size_t output) const {
        return output < node_.outputs.size() && !node_.outputs[output].empty();
    }

    std::string constant(const std::string& part, GraphValue value) {
        std::string name = around_.new_name(node_.outputs.front() + '/' + part);
        parts_.constants.emplace_back(name, std::move(value));
        return name;
    }

    /// Of the first input's element type.
    std::string number(const std::string& part, double number) {
        GraphValue value{{around_.type(node_.input(0)).element, {}}, {number}};
        settle(value);
        return constant(part, std::move(value));
    }

    std::string integers(const std::string& part, const std::vector<std::int64_t>& numbers) {
        return constant(part, integer_list(numbers));
    }

    /// Returns the name of its result.
    std::string add(const std::string& op, std::vector<std::string> inputs, const std::string& part,
                    std::map<std::string, Attribute> attributes = {}) {
        while (!inputs.empty() && inputs.back().empty()) {
            inputs.pop_back();
        }
        std::string result = around_.new_name(node_.outputs.front() + '/' + part);
        parts_.nodes.push_back({op,
                                node_name(node_) + '/' + part,
                                std::move(inputs),
                                {result},
                                std::move(attributes)});
        return result;
    }

    std::string last_result() const { return parts_.nodes.back().outputs.front(); }

    /// A further result of the last part.
    std::string another_result(const std::string& part) {
        std::string result = around_.new_name(node_.outputs.front() + '/' + part);
        parts_.nodes.back().outputs.push_back(result);
        return result;
    }

    std::string reshaped(const std::string& map, const Sizes& sizes, const std::string& part) {
        return add("Reshape", {map, integers(part + "_sizes", sizes)}, part);
    }

    std::string transposed(const std::string& map, std::vector<std::int64_t> order,
                           const std::string& part) {
        return add("Transpose", {map}, part, {{"perm", std::move(order)}});
    }

    /// The result of the last part is an output of the node, too.
    void give(std::size_t output) { parts_.nodes.back().outputs.front() = node_.outputs[output]; }

    /// The last part gives the node's own result.
    FusedParts finished() {
        parts_.nodes.back().name = node_.name;
        give(0);
        return std::move(parts_);
    }

    const GraphNode& node_;
    const FusedSurroundings& around_;
    FusedParts parts_{};
};

// In fused_attention.cpp; nothing where a form is not supported.

/// com.microsoft.Attention
FusedParts parts_of_runtime_attention(const GraphNode& node, const FusedSurroundings& around);
/// ONNX's Attention
FusedParts parts_of_attention(const GraphNode& node, const FusedSurroundings& around);
/// ONNX's RotaryEmbedding
FusedParts parts_of_rotation(const GraphNode& node, const FusedSurroundings& around);

}  // namespace npuscope
