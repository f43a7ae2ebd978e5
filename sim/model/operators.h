// SPDX-License-Identifier: Apache-2.0
// Reference ONNX operators: results are computed as real numbers and stored as the element type
// stores them (float32 rounded once, integers wrapped). A sum of integers in float32 is therefore
// exact as long as the sum itself fits, in any order. Results depend only on the operands. An
// operator is one row of its family's file, which holds all that the simulator knows of it.
// source: ONNX operator definitions, opset 7 to 24
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/model/graph.h"

namespace npuscope {

/// A node with its operands. During type inference, non-constant operands have no values.
struct Operands {
    const GraphNode& node;
    std::uint32_t opset;
    std::vector<const GraphValue*> values;  ///< null: omitted

    bool has(std::size_t index) const { return index < values.size() && values[index] != nullptr; }
    /// NPU_CHECK that it exists: the table's row defines how many there are.
    const GraphValue& at(std::size_t index) const;
    const Sizes& sizes(std::size_t index) const { return at(index).type.sizes; }
    ElementType element(std::size_t index) const { return at(index).type.element; }
};

/// A node with what is known of its operands.
struct RangeOperands {
    const Graph& graph;
    const GraphNode& node;
    const ValueRanges& known;

    /// The full range if nothing is known.
    const ValueRange& at(std::size_t index) const;
    /// The element type of the first output.
    ElementType result() const { return graph.types.at(node.outputs.front()).element; }
};

using Values = std::vector<GraphValue>;
using Types = std::vector<TensorType>;

/// How the element types of operands must match: not at all, all the same, all the same float.
enum class TypeRule { Any, Same, Float };

/// MACs of an operator with weights.
enum class MacRule {
    None,
    OutputsByKernel,  ///< each output sums a kernel: all weights / their first size
    InputsByKernel,   ///< each input is multiplied by as many
    OutputsByRows,    ///< each output sums a column: the last size but one, with transB the last
    StepsByWeights,   ///< each step multiplies by the input's weights and by the recurrent ones
    Subscripts        ///< those of an Einsum: results by what each of them sums
};

/// Whether the result is the first operand's memory viewed with other sizes or another type.
enum class ViewRule { Never, Always, WhereNumbersFit };

struct InputCount {
    std::size_t least = 0;  ///< required
    std::size_t most = 0;   ///< maximum; 0: any number
};

using Evaluate = Values (*)(const Operands&);
using Infer = Types (*)(const Operands&);
using Check = void (*)(const Operands&);
using Range = ValueRange (*)(const RangeOperands&);

struct OperatorRow {
    std::string_view op;
    InputCount inputs{};
    TypeRule types = TypeRule::Any;
    Evaluate evaluate = nullptr;
    /// Result types without values, for operators that are slow to evaluate; null: evaluate zeros.
    Infer infer = nullptr;
    std::string_view attributes{};  ///< separated by spaces
    /// Bit mask of the operands whose values determine the result's sizes: they must be constants.
    std::uint32_t sizing = 0;
    /// Throws if constant operands or attributes contradict each other.
    Check check = nullptr;
    bool takes_infinity = false;  ///< also as a limit, and NaN
    bool folds = true;            ///< evaluated at once if all operands are constants
    bool of_sizes = false;        ///< its results depend only on the sizes of its operands
    /// The value range of its results; null: that of their type, or of the operand that it moves.
    Range range = nullptr;
    MacRule macs = MacRule::None;
    std::size_t weights = 1;  ///< the operand that holds the weights
    ViewRule view = ViewRule::Never;
    bool elementwise = false;  ///< each result depends only on the elements at its position
    bool moves = false;        ///< results are elements of the first operand, whatever their values
};

/// Bit of an operand in OperatorRow::sizing.
constexpr std::uint32_t operand(unsigned index) { return std::uint32_t{1} << index; }

/// Null where the operator is unknown.
const OperatorRow* find_operator(std::string_view op);

/// Those that the host computes, by name, without npuscope's own.
std::vector<const OperatorRow*> host_operators();
/// Those of ONNX that it does not compute: known by name, simulated by shape alone.
std::vector<std::string> other_operators();

/// A Resize whose results are all elements of its operand: the nearest ones, no values outside it.
bool repeats_nearest(const GraphNode& node);

/// ConfigError without a location, with the nearest name, if the node's operator is not an ONNX
/// operator, or has an attribute that the operator does not have. Operators of other domains and
/// attributes of operators that the host does not know are not checked.
void check_names(const GraphNode& node);

/// A node's output types, or its outputs; ConfigError without a location if operands or attributes
/// do not fit the operator.
Types infer_outputs(const OperatorRow& row, const Operands& operands);
Values evaluate_outputs(const OperatorRow& row, const Operands& operands);
/// The first output of a node whose operands are constants, with `first` in place of the first of
/// them unless it is null; nothing if one of them is not.
std::optional<GraphValue> constant_result(const Graph& graph, const GraphNode& node,
                                          const GraphValue* first = nullptr);

/// MACs of a node of a prepared graph; 0 for an operator that the host does not know.
std::uint64_t count_macs(const Graph& graph, const GraphNode& node);

namespace host {

/// ConfigError without a location if a constant operand holds NaN, or an infinity where it is a
/// weight, a scale or a size.
void require_finite(const OperatorRow& row, const Operands& operands);

// The families, one file each.
std::span<const OperatorRow> bitwise_operators();
std::span<const OperatorRow> comparison_operators();
std::span<const OperatorRow> counted_operators();
std::span<const OperatorRow> elementwise_operators();
std::span<const OperatorRow> integer_operators();
std::span<const OperatorRow> loss_operators();
std::span<const OperatorRow> matrix_operators();
/// Multiplications of an Einsum, of operands without values.
std::uint64_t einsum_macs(const Operands& operands);
std::span<const OperatorRow> moving_operators();
std::span<const OperatorRow> normalisation_operators();
std::span<const OperatorRow> pooling_operators();
std::span<const OperatorRow> product_operators();
std::span<const OperatorRow> quantised_operators();
std::span<const OperatorRow> recurrent_operators();
std::span<const OperatorRow> reduction_operators();
std::span<const OperatorRow> reshaping_operators();
std::span<const OperatorRow> resizing_operators();
std::span<const OperatorRow> sampling_operators();
std::span<const OperatorRow> scattering_operators();
std::span<const OperatorRow> selecting_operators();
std::span<const OperatorRow> spectral_operators();

}  // namespace host

}  // namespace npuscope
