// SPDX-License-Identifier: Apache-2.0
// Single operators of the host on small tensors.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "sim/model/operators.h"
#include "tests/sim/message_of.h"

namespace npuscope::sample {

using Integers = std::vector<std::int64_t>;

inline GraphValue value_of(const Sizes& sizes, std::vector<double> numbers,
                           ElementType element = ElementType::Float32) {
    GraphValue value = zeros({element, sizes});
    value.numbers = std::move(numbers);
    return value;
}
inline GraphValue whole(const Sizes& sizes, std::vector<double> numbers) {
    return value_of(sizes, std::move(numbers), ElementType::Int64);
}
/// An optional operand that is left out.
inline GraphValue omitted() { return {{ElementType::Float32, {-1}}, {}}; }

inline GraphNode node_of(const std::string& op, std::map<std::string, Attribute> attributes = {}) {
    GraphNode node;
    node.op = op;
    node.outputs = {"y"};
    node.attributes = std::move(attributes);
    return node;
}

/// All outputs; their types are those that are inferred.
inline Values run_all(const GraphNode& node, const std::vector<GraphValue>& operands,
                      std::uint32_t opset = 13) {
    Operands given{node, opset, {}};
    for (const GraphValue& operand : operands) {
        given.values.push_back(operand.type.sizes == Sizes{-1} ? nullptr : &operand);
    }
    const OperatorRow* row = find_operator(node.op);
    EXPECT_NE(row, nullptr) << node.op;
    Values results = evaluate_outputs(*row, given);
    // Before a run, only operands that determine sizes have values.
    std::vector<GraphValue> typed(operands);
    for (std::size_t i = 0; i < given.values.size() && row->infer != nullptr; ++i) {
        if (given.has(i) && (row->sizing & operand(static_cast<unsigned>(i))) == 0) {
            typed[i].numbers.clear();
            given.values[i] = &typed[i];
        }
    }
    const Types types = infer_outputs(*row, given);
    EXPECT_EQ(types.size(), results.size()) << node.op;
    for (std::size_t i = 0; i < types.size() && i < results.size(); ++i) {
        EXPECT_EQ(types[i], results[i].type) << node.op;
    }
    return results;
}

inline GraphValue run(const GraphNode& node, const std::vector<GraphValue>& operands,
                      std::uint32_t opset = 13) {
    return run_all(node, operands, opset).front();
}

/// The message of a run that must fail.
inline std::string refusal(const GraphNode& node, const std::vector<GraphValue>& operands,
                           std::uint32_t opset = 13) {
    return message_of([&] { run_all(node, operands, opset); });
}

/// Equal up to float32's rounding of a few operations.
inline void expect_near(const std::vector<double>& found, const std::vector<double>& wanted) {
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_NEAR(found[i], wanted[i], 1e-5) << i;
    }
}

}  // namespace npuscope::sample
