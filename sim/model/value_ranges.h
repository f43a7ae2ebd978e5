// SPDX-License-Identifier: Apache-2.0
// What is known of a tensor's values before anything runs: whether they are whole, and between
// which limits they lie. How an operator changes them is said by its row (operators.h). An input of
// floats is taken to hold 8-bit integers: a model for a TINPU says so by its layers, and a run
// checks what it is given.
#pragma once

#include <map>
#include <string>

#include "sim/model/graph.h"

namespace npuscope {

struct ValueRange {
    bool whole = false;
    NumberRange range{};
    bool assumed = false;  ///< of an input of floats: whether they are signed is not known
};

/// A node with what is known of its operands.
struct RangeOperands {
    const Graph& graph;
    const GraphNode& node;
    const std::map<std::string, ValueRange>& known;

    /// Everything is possible where nothing is known.
    const ValueRange& at(std::size_t index) const;
    /// The element type of the first output.
    ElementType result() const { return graph.types.at(node.outputs.front()).element; }
};

/// Of all tensors. `given`: of inputs whose values are known better than their types say.
std::map<std::string, ValueRange> value_ranges(const Graph& graph,
                                               const std::map<std::string, ValueRange>& given = {});

/// Of some numbers.
ValueRange range_of_values(const GraphValue& value);

/// Fits a signed or an unsigned integer of so many bits.
bool fits_bits(const NumberRange& range, unsigned bits);

/// Whether the node only gives a tensor other sizes, or another type for the same numbers. `ranges`
/// of the node's graph: a cast moves nothing where every number fits.
bool moves_nothing(const Graph& graph, const std::map<std::string, ValueRange>& ranges,
                   const GraphNode& node);

}  // namespace npuscope
