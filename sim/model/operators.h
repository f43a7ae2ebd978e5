// SPDX-License-Identifier: Apache-2.0
// ONNX's operators, plain and exact: results are those of real numbers, stored as the element type
// stores them (float32 rounded once, integers wrapped). A sum of integers in float32 is therefore
// exact as long as the sum itself fits, whatever its order. One row per operator; what comes out is
// known from the operands alone. source: ONNX operator definitions, opset 7 to 21
#pragma once

#include <string_view>
#include <vector>

#include "sim/model/graph.h"

namespace npuscope {

/// A node with its operands. Where types are inferred, operands that are no constants have no
/// numbers.
struct Operands {
    const GraphNode& node;
    std::uint32_t opset;
    std::vector<const GraphValue*> values;  ///< null: left out

    bool has(std::size_t index) const { return index < values.size() && values[index] != nullptr; }
    /// NPU_CHECK that it is there: the table's row says how many are.
    const GraphValue& at(std::size_t index) const;
    const Sizes& sizes(std::size_t index) const { return at(index).type.sizes; }
    ElementType element(std::size_t index) const { return at(index).type.element; }
};

using Values = std::vector<GraphValue>;
using Types = std::vector<TensorType>;

/// How the element types of operands go together: not at all, all the same, all the same float.
enum class TypeRule { Any, Same, Float };

struct OperatorRow {
    std::string_view op;
    std::size_t least;  ///< inputs that must be there
    std::size_t most;   ///< 0: any number
    TypeRule types;
    Values (*evaluate)(const Operands&);
    /// Types without numbers, for operators that are slow to evaluate; null: evaluate zeros.
    Types (*infer)(const Operands&);
};

/// Null where the operator is unknown.
const OperatorRow* find_operator(std::string_view op);

/// Types of a node's outputs, or its outputs; ConfigError without a place for operands or
/// attributes that do not fit the operator.
Types infer_outputs(const OperatorRow& row, const Operands& operands);
Values evaluate_outputs(const OperatorRow& row, const Operands& operands);

}  // namespace npuscope
