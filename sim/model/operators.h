// SPDX-License-Identifier: Apache-2.0
// ONNX's operators, plain and exact: results are those of real numbers, stored as the element type
// stores them (float32 rounded once, integers wrapped). A sum of integers in float32 is therefore
// exact as long as the sum itself fits, whatever its order. What comes out is known from the
// operands alone. An operator is one row of its family's file, which says all that the simulator
// knows of it. source: ONNX operator definitions, opset 7 to 21
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sim/model/graph.h"

namespace npuscope {

/// A node with its operands. Where types are inferred, operands that are not constants have no
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

/// A node with what is known of its operands.
struct RangeOperands {
    const Graph& graph;
    const GraphNode& node;
    const ValueRanges& known;

    /// Everything is possible where nothing is known.
    const ValueRange& at(std::size_t index) const;
    /// The element type of the first output.
    ElementType result() const { return graph.types.at(node.outputs.front()).element; }
};

using Values = std::vector<GraphValue>;
using Types = std::vector<TensorType>;

/// How the element types of operands go together: not at all, all the same, all the same float.
enum class TypeRule { Any, Same, Float };

/// Multiplications of an operator with weights.
enum class MacRule {
    None,
    OutputsByKernel,  ///< each output sums a kernel: all weights / their first size
    InputsByKernel,   ///< each input is spread by as many
    OutputsByRows     ///< each output sums a column: all weights / their last size
};

/// Whether the result is the first operand's memory seen with other sizes or another type.
enum class ViewRule { Never, Always, WhereNumbersFit };

struct InputCount {
    std::size_t least = 0;  ///< must be there
    std::size_t most = 0;   ///< 0: any number
};

using Evaluate = Values (*)(const Operands&);
using Infer = Types (*)(const Operands&);
using Range = ValueRange (*)(const RangeOperands&);

struct OperatorRow {
    std::string_view op;
    InputCount inputs{};
    TypeRule types = TypeRule::Any;
    Evaluate evaluate = nullptr;
    /// Types without numbers, for operators that are slow to evaluate; null: evaluate zeros.
    Infer infer = nullptr;
    std::string_view attributes{};  ///< with blanks between them
    /// Bits of the operands whose numbers decide the sizes of the result: they must be constants.
    std::uint32_t sizing = 0;
    /// Throws where constant operands or attributes contradict each other.
    void (*check)(const Operands&) = nullptr;
    bool takes_infinity = false;  ///< constant operands need not be finite
    bool folds = true;            ///< computed at once where all operands are constants
    bool of_sizes = false;        ///< its results follow from the sizes of its operands alone
    /// The range of its results' values; null: what their type holds.
    Range range = nullptr;
    MacRule macs = MacRule::None;
    std::size_t weights = 1;  ///< the operand that is multiplied with
    ViewRule view = ViewRule::Never;
    bool elementwise = false;  ///< each result follows from the elements at its place alone
    bool moves = false;        ///< results are elements of the first operand, whatever these are
};

/// Bit of an operand in OperatorRow::sizing.
constexpr std::uint32_t operand(unsigned index) { return std::uint32_t{1} << index; }

/// Null where the operator is unknown.
const OperatorRow* find_operator(std::string_view op);

/// A Resize whose results are elements of its operand: the nearest ones, and no numbers beyond it.
bool repeats_nearest(const GraphNode& node);

/// ConfigError without a place, with the nearest name, where the node's operator is not one of
/// ONNX's own, or has an attribute that the operator does not have. Operators of other domains and
/// attributes of operators that the host does not know are not looked at.
void check_names(const GraphNode& node);

/// Types of a node's outputs, or its outputs; ConfigError without a place for operands or
/// attributes that do not fit the operator.
Types infer_outputs(const OperatorRow& row, const Operands& operands);
Values evaluate_outputs(const OperatorRow& row, const Operands& operands);

/// Multiplications of a node of a prepared graph; 0 for an operator that the host does not know.
std::uint64_t count_macs(const Graph& graph, const GraphNode& node);

namespace host {

// The families, one file each.
std::span<const OperatorRow> comparison_operators();
std::span<const OperatorRow> elementwise_operators();
std::span<const OperatorRow> integer_operators();
std::span<const OperatorRow> moving_operators();
std::span<const OperatorRow> resizing_operators();
std::span<const OperatorRow> normalisation_operators();
std::span<const OperatorRow> product_operators();
std::span<const OperatorRow> quantised_operators();
std::span<const OperatorRow> recurrent_operators();
std::span<const OperatorRow> reduction_operators();
std::span<const OperatorRow> reshaping_operators();
std::span<const OperatorRow> selecting_operators();

}  // namespace host

}  // namespace npuscope
