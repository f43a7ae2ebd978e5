// SPDX-License-Identifier: Apache-2.0
// One layer of a model as an NVDLA computes it: sums of stored int8, and its integer sequence in
// the SDP stages, exactly:
//
//     clip(floor((sum + bias) * scale / 2^shift) + residual)
//
// or, where no scaled sum lies halfway between two results (prepare_graph.h, ScaleForm::Rounded),
//
//     clip(round((sum + bias) * scale / 2^shift) + zero)
//
// floor(z / 2^n) is the rounded (2 z + 1 - 2^n) / 2^(n + 1), where ties never occur. Operands are
// 16-bit, values between the stages 32-bit. source: NVDLA_SDP.rdl; NVDLA doc v1/ias/precision.rst
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

// Feature maps are stored as int8, each value minus the map's zero point, which makes the largest
// one 127. So the convertor's saturation is the upper clip of every map, and the lower one of those
// that use all 256 codes.

/// Zero point of a map whose values fit 8 bits, signed or unsigned.
inline std::int32_t stored_zero(const NumberRange& range) {
    return static_cast<std::int32_t>(range.high) - 127;
}

inline bool uses_all_codes(const NumberRange& range) { return range.high - range.low == 255; }

// source: NVDLA_SDP.rdl, 16-bit operands; NVDLA doc v1/ias/precision.rst, 32-bit values
inline constexpr std::int64_t largest_operand = 32767;
inline constexpr std::int64_t largest_factor = 16383;  ///< of a floor, where it is doubled
inline constexpr std::int64_t largest_sum = 2147483647;

/// Weights of each kernel, and what is applied to its sums, in integers.
struct IntegerSequence {
    std::vector<std::int8_t> weights;  ///< kernel, channel of its group, row, column
    std::vector<std::int64_t> bias;    ///< per kernel
    std::vector<std::int64_t> scale;   ///< per kernel, 0 or more
    unsigned shift = 0;
    NumberRange input;                      ///< its 8-bit values
    std::optional<NumberRange> residual{};  ///< its 8-bit values
    NumberRange result;                     ///< its 8-bit values, after the clip
    /// Added to the rounded quotient, where no sum lies halfway. Nothing: the quotient is rounded
    /// down.
    std::optional<std::int64_t> zero{};
    std::optional<EvenDivision> even{};  ///< which rounds ties to even, where needed
    std::int64_t input_zero = 0;         ///< subtracted from the input; padding has this value
    std::vector<std::int64_t> first{};   ///< per kernel, multiplied before; empty: all are 1
};

/// What a diagnostic of a sequence names as its field; any other is about the sums.
inline constexpr std::string_view bias_field = "bias";
inline constexpr std::string_view scale_field = "scale";

Diagnostic problem_at(const GraphView& model, std::size_t node, std::string sentence,
                      std::string remedy);
/// Values of a feature map; a problem of `reader` where int8 with a zero point cannot hold them.
std::optional<NumberRange> map_range(const GraphView& model, const std::string& tensor,
                                     std::size_t reader, Diagnostics& problems);

/// Converts a sequence to the layer's values for the stages, and the ReLU of the last one in use;
/// or returns why they cannot compute it.
std::optional<Diagnostic> stage_sequence(IntegerSequence sequence, Layer& layer);

/// The convertor's part of an even division, and `zero` added to its results; where `zero` is odd,
/// the steps are doubled before.
Conversion second_division(const EvenDivision& even, std::int64_t zero);

/// clip(a + b) of stored values.
Layer stage_sum(const NumberRange& a, const NumberRange& b, const NumberRange& result);

/// One-dimensional windows as windows of rows, over maps of one column.
inline Window plane_window(Window window) {
    if (window.axes.size() == 1) {
        window.axes.push_back(WindowAxis{});
    }
    return window;
}
/// Kernel, stride, padding and dilation of a layer; a pool that is no convolution has no dilation.
/// Returns the problem where they make no layer.
std::optional<Diagnostic> set_window(const Window& window, bool convolves, Layer& layer);
/// The MACs of the model's layer, if this one has other sizes.
void take_macs(const GraphNode& node, Layer& layer);

// Lowered layers lack their names and sources. Problems are added to `problems`; the result must
// then not be used.

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
/// Maps of `group`, concatenated by channels.
Layer lower_concat(const GraphView& model, const NodeGroup& group, Diagnostics& problems);
/// Start of a Slice that takes a range of channels, rows and columns; nothing for others.
std::optional<Shape> slice_begin(const GraphView& model, const GraphNode& node);
Layer lower_slice(const GraphView& model, std::size_t index, Diagnostics& problems);
/// A function of one map (quantised_form.h), node `index`.
Layer lower_lookup(const GraphView& model, std::size_t index, Diagnostics& problems);
/// A PRelu with a slope for each channel (quantised_form.h), node `index`.
Layer lower_prelu(const GraphView& model, std::size_t index, Diagnostics& problems);
Layer lower_sum(const GraphView& model, const Sum& sum, Diagnostics& problems);

}  // namespace npuscope
