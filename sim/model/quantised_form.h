// SPDX-License-Identifier: Apache-2.0
// Layers that carry scales and zero points, read from either form: QLinearConv, QLinearMatMul, and
// operators between DequantizeLinear and QuantizeLinear.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "sim/model/graph.h"

namespace npuscope {

/// As a float of 32 bits holds it.
inline double rounded_float(double number) {
    return static_cast<double>(static_cast<float>(number));
}
inline constexpr double largest_scale = 32767;  // source: NVDLA_SDP.rdl, operands of 16 bits
/// The largest shift before which a real factor, times 2^shift, is a scale that fits.
inline int shift_before(double factor) {
    return static_cast<int>(std::floor(std::log2(largest_scale / factor)));
}
/// Division by 2^shift that rounds halves to even, of two multiplications whose shifts round halves away
/// from zero: x `first` >> shift + 1, then x `second` >> `second_shift`. The first one gives `first` steps
/// for each two results; `first` is one more than a multiple of four, so that an odd result keeps a half
/// of them rounded down and an even one a half rounded up, and no sum between is moved.
struct EvenDivision {
    std::int64_t first = 1;
    std::int64_t second = 1;
    int second_shift = 0;
};
/// `most_scale`: what `first` is multiplied with at most, within 15 bits. Nothing where there is none.
std::optional<EvenDivision> even_division(int shift, double most_scale);

/// Integers of 16 bits: no integer sequence of 8 bits computes them.
inline bool is_wide(ElementType type) {
    return type == ElementType::Int16 || type == ElementType::Uint16;
}
/// Integers of 8 bits.
inline bool is_byte(ElementType type) {
    return type == ElementType::Int8 || type == ElementType::Uint8;
}
/// Whether windows of the node reach over its input.
bool has_padding(const GraphNode& node);

inline bool is_power_of_two(double number) {
    int exponent = 0;
    return number > 0 && std::frexp(number, &exponent) == 0.5;
}

/// One layer with scales and zero points, read from either form.
struct QuantisedLayer {
    GraphNode anchor;
    bool is_conv = true;
    bool is_pool = false;        ///< MaxPool between equal scales: it needs no sequence
    bool is_transposed = false;  ///< weights [C K R S]
    std::string input;           ///< integers
    std::string output;          ///< integers
    ElementType output_type = ElementType::Int8;
    GraphValue weights;           ///< integers; of a product [C K]
    std::vector<double> bias;     ///< empty, or one per kernel
    std::vector<double> factors;  ///< input scale x weight scale / output scale, per kernel
    double input_zero = 0;
    double output_zero = 0;
    double low = 0;  ///< of the output's integers, after an activation that clips
    double high = 0;
    bool exact_factors = true;       ///< their floating-point product loses nothing
    std::vector<std::size_t> after;  ///< nodes after the anchor that belong to it
    std::string obstacle;            ///< why it has no sequence, if that is plain already
};

/// Integers with their scale and zero point, from a DequantizeLinear.
struct Dequantised {
    std::string tensor;
    std::vector<double> scales;
    std::vector<double> zeros{0};
};

/// What `tensor` was dequantised from; nothing where its scale or zero point is not constant.
std::optional<Dequantised> dequantised(const GraphView& view, const std::string& tensor);

/// The QuantizeLinear after a tensor, and a Relu or Clip between them.
struct Requantised {
    std::string output;  ///< integers
    ElementType type = ElementType::Int8;
    double scale = 1;
    double zero = 0;
    double low = 0;  ///< of the integers, after the activation
    double high = 0;
    std::vector<std::size_t> nodes;
};
/// Nothing where no such end of constant numbers follows.
std::optional<Requantised> requantised(const GraphView& view, const std::string& tensor);

/// A constant operand of one number.
std::optional<double> number_of(const GraphView& view, const GraphNode& node, std::size_t input);

/// The largest number of a map of integers, as far as its producer tells; nothing where it does not.
std::optional<double> high_of(const GraphView& view, const std::string& tensor);

// The sum of two maps of different scales as one operator of integers,
//
//     clip(floor((relu(((a - a_zero) * factor + (b - b_zero) * 2^left) * gain) + offset) * scale
//                / 2^shift + 1/2) + zero)
//
// where no sum lies halfway between two results. `zero` makes the largest result 127. The ratio of the maps
// has 15 bits then. Where `b` is read twice, (b - b_zero) * 2^before is added to (a - a_zero), too, and
// the factor says what the ratio differs from a power of two. Where an SDP has a third stage, `b` has a factor
// of its own in place of 2^left. Where all scales are powers of two, halves
// are rounded to even instead: then `factor`, `gain` and `scale` are 1.

struct ScaledSum {
    std::int64_t a_zero = 0;
    std::int64_t b_zero = 0;
    std::int64_t factor = 1;  ///< up to 15 bits; below 0 with a gain below 0
    std::int64_t left = 0;
    std::int64_t other = 0;  ///< the factor of `b`, up to 15 bits; 0: it is shifted
    bool reads_twice = false;
    std::int64_t before = 0;
    bool relu = false;  ///< or no activation but the clip
    bool to_even = false;
    std::int64_t gain = 1;
    std::int64_t offset = 0;
    std::int64_t scale = 1;  ///< up to 15 bits
    std::int64_t shift = 0;
    std::int64_t zero = 0;
    double low = 0;
    double high = 0;

    double of(double a, double b) const;
};
inline constexpr const char* scaled_sum_op = "npuscope.ScaledSum";
/// The node `a`, `b` -> `output`, or what it says.
GraphNode scaled_sum_node(const ScaledSum& sum, const std::string& a, const std::string& b,
                          const Requantised& end);
ScaledSum scaled_sum_of(const GraphNode& node);
/// An operator of maps as one node of integers, and the nodes after it that the node replaces.
struct IntegerForm {
    GraphNode node;
    std::vector<std::size_t> after;
    std::optional<Deviation> deviation{};  ///< nothing: its numbers are the model's
};
/// What the stages of an SDP do for a sum beside multiplying one map and shifting the other.
struct SumStages {
    bool twice = false;  ///< both of two stages read the second map
    bool third = false;  ///< a third one multiplies it
};
/// Of a node Add between dequantised maps, or a QLinearAdd; nothing where it is no such sum, or has none.
std::optional<IntegerForm> read_quantised_sum(const GraphView& view, std::size_t index,
                                              const SumStages& stages);

// The product of two maps, or of a map and a number for each channel, likewise:
//
//     clip(round((relu((a - a_zero) * (b - b_zero) * gain) + offset) * scale / 2^shift) + zero)
//
// with halves away from zero. `zero` makes the largest result 127; `gain` is only there for a finer scale.

struct ScaledProduct {
    std::int64_t a_zero = 0;
    std::int64_t b_zero = 0;
    std::int64_t gain = 1;
    std::int64_t offset = 0;
    std::int64_t scale = 1;  ///< up to 15 bits
    std::int64_t shift = 1;
    std::int64_t zero = 0;
    bool relu = false;  ///< or no activation but the clip
    double low = 0;
    double high = 0;

    double of(double a, double b) const;
};
inline constexpr const char* scaled_product_op = "npuscope.ScaledProduct";
ScaledProduct scaled_product_of(const GraphNode& node);
/// Of a node Mul between dequantised maps; nothing where it is no such product, or more than 500 of a
/// million results would differ from the model's.
std::optional<IntegerForm> read_quantised_product(const GraphView& view, std::size_t index);

// A PRelu with a slope for each channel, likewise: of y = (code - map_zero) * gain, below 0 y * slope / 2^slope_shift,
//
//     clip(round((y + offset) * scale / 2^shift) + zero)

struct ScaledPrelu {
    std::int64_t map_zero = 0;
    std::int64_t gain = 1;
    std::vector<std::int64_t> slopes;  ///< up to 15 bits each
    std::int64_t slope_shift = 0;
    std::int64_t offset = 0;
    std::int64_t scale = 1;  ///< up to 15 bits
    std::int64_t shift = 1;
    std::int64_t zero = 0;
    double low = 0;
    double high = 0;

    double result(double code, std::int64_t slope) const;
};
inline constexpr const char* scaled_prelu_op = "npuscope.ScaledPrelu";
ScaledPrelu scaled_prelu_of(const GraphNode& node);
/// Of a node PRelu of a dequantised map; nothing where it is none, or more than 500 of a
/// million results would differ from the model's.
std::optional<IntegerForm> read_quantised_prelu(const GraphView& view, std::size_t index);

// A function of one map of 8-bit integers, as a table of the results' integers: what an activation between
// two quantisers is, and any chain of them.

inline constexpr const char* lookup_op = "npuscope.Lookup";
inline constexpr std::int64_t lookup_codes = 256;  ///< of the map, the lowest one first
/// Without a name, inputs and outputs; `results` of every code, of 8 bits.
GraphNode lookup_node(const GraphValue& results);

/// Nothing where node `index` is not such a layer.
std::optional<QuantisedLayer> read_quantised_layer(const GraphView& view, std::size_t index);

}  // namespace npuscope
