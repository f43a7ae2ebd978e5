// SPDX-License-Identifier: Apache-2.0
// One layer of a model as an NVDLA computes it: sums of stored int8, and its integer sequence in
// the stages of the SDP, exactly:
//
//     clip(floor((sum + bias) * scale / 2^shift) + residual)
//
// or, where no scaled sum lies halfway between two results (prepare_graph.h, ScaleForm::Rounded),
//
//     clip(round((sum + bias) * scale / 2^shift) + zero)
//
// floor(z / 2^n) is the rounded (2 z + 1 - 2^n) / 2^(n + 1), whose halves never occur. Operands
// have 16 bits, values between the stages 32. source: NVDLA_SDP.rdl; NVDLA doc v1/ias/precision.rst
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/compile/partition.h"
#include "sim/model/network.h"
#include "sim/model/quantised_form.h"

namespace npuscope {

// Feature maps lie in memory as int8, each value less the map's zero point, which makes the largest
// one 127. So the convertor's saturation is the upper clip of every map, and the lower one of those
// that use all 256 codes.

/// Of a map whose numbers fit 8 bits, signed or unsigned.
inline std::int32_t stored_zero(const NumberRange& range) {
    return static_cast<std::int32_t>(range.high) - 127;
}

inline bool uses_all_codes(const NumberRange& range) { return range.high - range.low == 255; }

// source: NVDLA_SDP.rdl, operands of 16 bits; NVDLA doc v1/ias/precision.rst, values of 32
inline constexpr std::int64_t largest_operand = 32767;
inline constexpr std::int64_t largest_factor = 16383;  ///< of a floor, where it is doubled
inline constexpr std::int64_t largest_sum = 2147483647;

/// Of products of one kernel, whole numbers.
struct IntegerSequence {
    std::vector<std::int8_t> weights;  ///< kernel, channel of its group, row, column
    std::vector<std::int64_t> bias;    ///< per kernel
    std::vector<std::int64_t> scale;   ///< per kernel, 0 or more
    unsigned shift = 0;
    NumberRange input;                      ///< its values, of 8 bits
    std::optional<NumberRange> residual{};  ///< likewise
    NumberRange result;                     ///< after the clip, likewise
    /// Added to the rounded quotient. Nothing: the quotient is rounded down; no sum lies halfway
    /// where there is one.
    std::optional<std::int64_t> zero{};
    std::optional<EvenDivision> even{};  ///< by which halves go to even, where they do
    std::int64_t input_zero = 0;         ///< taken off the input; padding counts as it
    std::vector<std::int64_t> first{};   ///< per kernel, multiplied before; empty: all are 1
};

/// What a diagnostic of a sequence names as its field; another one is about the sums.
inline constexpr std::string_view bias_field = "bias";
inline constexpr std::string_view scale_field = "scale";

Diagnostic problem_at(const GraphView& model, std::size_t node, std::string sentence,
                      std::string remedy);
/// The numbers of a feature map; a problem of `reader` where int8 with a zero point cannot hold them.
std::optional<NumberRange> map_range(const GraphView& model, const std::string& tensor,
                                     std::size_t reader, Diagnostics& problems);

/// Turns a sequence into the layer's numbers of the stages, and the ReLU of the last one that has
/// work; or answers why they cannot compute it.
std::optional<Diagnostic> stage_sequence(IntegerSequence sequence, Layer& layer);

/// In the convertor: what is left of an even division, and `zero` added to its results, before which the
/// steps are doubled where it is odd.
Conversion second_division(const EvenDivision& even, std::int64_t zero);

/// clip(a + b) of stored values.
Layer stage_sum(const NumberRange& a, const NumberRange& b, const NumberRange& result);

/// Windows of one direction as such of rows, over maps of one column.
inline Window plane_window(Window window) {
    if (window.axes.size() == 1) {
        window.axes.push_back(WindowAxis{});
    }
    return window;
}
/// Kernel, stride, padding and dilation of a layer; of a pool that is no convolution none of the last.
/// The problem where they make no layer.
std::optional<Diagnostic> set_window(const Window& window, bool convolves, Layer& layer);

// Layers as they are lowered lack their names and sources. What stands against it goes to `problems`;
// the result is then not to be used.

Layer lower_layer(const GraphView& model, const Candidate& candidate, Diagnostics& problems);

/// An addition of two feature maps and the clip after it.
struct Sum {
    std::size_t node = 0;
    std::vector<std::size_t> nodes;
    std::vector<std::string> terms;
    std::string output;
    ClipStep clip;
};
/// A product of two maps (quantised_form.h), node `index`.
Layer lower_product(const GraphView& model, std::size_t index, Diagnostics& problems);
/// Maps of `group` one after the other, by channels.
Layer lower_concat(const GraphView& model, const NodeGroup& group, Diagnostics& problems);
/// Where a Slice begins that takes each number between two of channels, rows and columns; nothing of another one.
std::optional<Shape> slice_begin(const GraphView& model, const GraphNode& node);
Layer lower_slice(const GraphView& model, std::size_t index, Diagnostics& problems);
/// A function of one map (quantised_form.h), node `index`.
Layer lower_lookup(const GraphView& model, std::size_t index, Diagnostics& problems);
/// A PRelu with a slope for each channel (quantised_form.h), node `index`.
Layer lower_prelu(const GraphView& model, std::size_t index, Diagnostics& problems);
Layer lower_sum(const GraphView& model, const Sum& sum, Diagnostics& problems);

}  // namespace npuscope
