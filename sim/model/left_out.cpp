// SPDX-License-Identifier: Apache-2.0
#include "sim/model/left_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace npuscope {
namespace {

bool reads_one_of(const GraphNode& node, const std::set<std::string>& tensors) {
    return std::ranges::any_of(node.inputs, [&](const std::string& input) {
        return !input.empty() && tensors.contains(input);
    });
}

}  // namespace

const std::string* computed_sizing(const Graph& graph, const OperatorRow& row,
                                   const GraphNode& node) {
    constexpr unsigned bits = 32;  // of OperatorRow::sizing
    for (unsigned i = 0; i < node.inputs.size() && i < bits; ++i) {
        const std::string& input = node.inputs[i];
        if ((row.sizing & operand(i)) != 0 && !input.empty() && !graph.is_constant(input)) {
            return &input;
        }
    }
    return nullptr;
}

bool ends_values(const Graph& graph, const GraphNode& node, std::span<const GraphNode> rest,
                 const std::set<std::string>& unsized) {
    if (reads_one_of(node, unsized)) {
        return true;
    }
    // their results' sizes depend on values, however the model is exported
    constexpr std::array counting{"Compress", "NonMaxSuppression", "NonZero", "Unique"};
    const OperatorRow* row = find_operator(node.op);
    if (row == nullptr || std::ranges::find(counting, node.op) == counting.end() ||
        computed_sizing(graph, *row, node) == nullptr) {
        return false;
    }
    std::set<std::string> reached(node.outputs.begin(), node.outputs.end());
    for (const GraphNode& next : rest) {
        if (!reads_one_of(next, reached)) {
            continue;
        }
        const OperatorRow* reader = find_operator(next.op);
        if (reader != nullptr && reader->macs != MacRule::None) {
            return false;
        }
        reached.insert(next.outputs.begin(), next.outputs.end());
    }
    return true;
}

std::string reason_to_leave_out(const Graph& graph, const GraphNode& node,
                                const std::set<std::string>& unsized, bool is_stated) {
    for (const std::string& input : node.inputs) {
        if (unsized.contains(input)) {
            return fmt::format("the sizes of its input '{}' are not known", input);
        }
    }
    const OperatorRow* row = find_operator(node.op);
    if (row == nullptr || node.has(unread_attribute)) {
        return is_stated
                   ? std::string()
                   : "the operator is not supported, and the sizes of its results are unknown";
    }
    const std::string* input = computed_sizing(graph, *row, node);
    return input == nullptr || is_stated
               ? std::string()
               : fmt::format(
                     "the sizes of its result depend on '{}', which is computed at run time",
                     *input);
}

}  // namespace npuscope
