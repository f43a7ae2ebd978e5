// SPDX-License-Identifier: Apache-2.0
// Layers with scales and zero points, read from either form: QLinearConv, QLinearMatMul, and
// operators between DequantizeLinear and QuantizeLinear.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "sim/model/graph.h"

namespace npuscope {

/// As a 32-bit float holds it.
inline double rounded_float(double number) {
    return static_cast<double>(static_cast<float>(number));
}
inline constexpr double largest_scale = 32767;  // source: NVDLA_SDP.rdl, 16-bit operands
/// The largest shift for which a real factor times 2^shift still fits as a scale.
inline int shift_before(double factor) {
    return static_cast<int>(std::floor(std::log2(largest_scale / factor)));
}
/// Division by 2^shift with ties rounded to even, by two multiplications whose shifts round ties
/// away from zero: x `first` >> shift + 1, then x `second` >> `second_shift`. The first produces
/// `first` steps per two results; `first` is one more than a multiple of four, so that ties round
/// down to an even result and up from an odd one, and no other sum is affected.
struct EvenDivision {
    std::int64_t first = 1;
    std::int64_t second = 1;
    int second_shift = 0;
};
/// `most_scale`: the maximum multiplier of `first`, within 15 bits. Nothing if there is none.
std::optional<EvenDivision> even_division(int shift, double most_scale);

/// 16-bit integers: no 8-bit integer sequence computes them.
inline bool is_wide(ElementType type) {
    return type == ElementType::Int16 || type == ElementType::Uint16;
}
/// 8-bit integers.
inline bool is_byte(ElementType type) {
    return type == ElementType::Int8 || type == ElementType::Uint8;
}
/// Whether windows of the node extend beyond its input.
bool has_padding(const GraphNode& node);

inline bool is_power_of_two(double number) {
    int exponent = 0;
    return number > 0 && std::frexp(number, &exponent) == 0.5;
}

/// A product's bias, one number or as many as kernels along its last size; nothing if it differs
/// between rows of the result.
std::optional<std::vector<double>> bias_of_kernels(const GraphValue& bias, std::size_t kernels);

/// One layer with scales and zero points, read from either form.
struct QuantisedLayer {
    GraphNode anchor;
    bool is_conv = true;
    bool is_pool = false;        ///< MaxPool between equal scales: needs no sequence
    bool is_transposed = false;  ///< weights [C K R S]
    std::string input;           ///< integers
    std::string output;          ///< integers
    ElementType output_type = ElementType::Int8;
    GraphValue weights;           ///< integers; for a product [C K]
    std::vector<double> bias;     ///< empty, or one per kernel
    std::vector<double> factors;  ///< input scale x weight scale / output scale, per kernel
    double input_zero = 0;
    double output_zero = 0;
    double low = 0;  ///< of the output's integers, after a clipping activation
    double high = 0;
    bool exact_factors = true;       ///< their floating-point product is exact
    std::vector<std::size_t> after;  ///< nodes after the anchor that belong to it
    std::string obstacle;            ///< why it has no sequence, if already known
};

/// Integers with their scale and zero point, from a DequantizeLinear.
struct Dequantised {
    std::string tensor;
    std::vector<double> scales;
    std::vector<double> zeros{0};
    std::int64_t axis = 1;  ///< along which there are several scales; negative: from the end
};

/// What `tensor` was dequantised from; nothing if its scale or zero point is not constant.
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
/// Nothing if no such QuantizeLinear with constant operands follows.
std::optional<Requantised> requantised(const GraphView& view, const std::string& tensor);

/// A map of integers with one scale and zero point.
struct ScaledMap {
    std::string tensor;
    ElementType type = ElementType::Int8;
    double scale = 1;
    double zero = 0;
};
/// The operands of a sum or product of maps, and its quantiser.
struct TwoMaps {
    ScaledMap a;
    ScaledMap b;
    Requantised end;
};
/// Of an Add or Mul between quantisers, a QLinearAdd or a QLinearMul; nothing if the node is none of
/// these, or a scale or zero point is not one constant.
std::optional<TwoMaps> two_maps(const GraphView& view, const GraphNode& node);

/// The largest value of an integer map, if its producer determines it; nothing otherwise.
std::optional<double> high_of(const GraphView& view, const std::string& tensor);

// The sum of two maps of different scales as one integer operator,
//
//     clip(floor((relu(((a - a_zero) * factor + (b - b_zero) * 2^left) * gain) + offset) * scale
//                / 2^shift + 1/2) + zero)
//
// where no sum lies halfway between two results. `zero` makes the largest result 127. The ratio of
// the maps then has 15 bits. If `b` is read twice, (b - b_zero) * 2^before is also added to (a -
// a_zero), and the factor corrects the ratio's difference from a power of two. If an SDP has a
// third stage, `b` has its own factor instead of 2^left. If all scales are powers of two, ties are
// rounded to even instead: then `factor`, `gain` and `scale` are 1.

struct ScaledSum {
    std::int64_t a_zero = 0;
    std::int64_t b_zero = 0;
    std::int64_t factor = 1;  ///< up to 15 bits; negative if the gain is negative
    std::int64_t left = 0;
    std::int64_t other = 0;  ///< the factor of `b`, up to 15 bits; 0: it is shifted
    bool reads_twice = false;
    std::int64_t before = 0;
    bool relu = false;  ///< otherwise no activation except the clip
    bool to_even = false;
    std::int64_t gain = 1;
    std::int64_t offset = 0;
    std::int64_t scale = 1;  ///< up to 15 bits
    std::int64_t shift = 0;
    std::int64_t zero = 0;
    double low = 0;
    double high = 0;

    double of(double a, double b) const;
    /// What the output's convertor subtracts where the maps' zeros are stored as these integers; its
    /// register has 32 bits.
    std::int64_t subtracted(std::int64_t a_stored, std::int64_t b_stored) const;
};
inline constexpr const char* scaled_sum_op = "npuscope.ScaledSum";
/// The node `a`, `b` -> `output`, with `sum` as its attributes.
GraphNode scaled_sum_node(const ScaledSum& sum, const std::string& a, const std::string& b,
                          const Requantised& end);
ScaledSum scaled_sum_of(const GraphNode& node);
/// An operator on maps as one integer node, and the nodes after it that the node replaces.
struct IntegerForm {
    GraphNode node;
    std::vector<std::size_t> after;
    std::optional<Deviation> deviation{};  ///< nothing: its results are the model's
};
/// What the stages of an SDP do for a sum besides multiplying one map and shifting the other.
struct SumStages {
    bool twice = false;  ///< both of two stages read the second map
    bool third = false;  ///< a third one multiplies it
};
/// For an Add between dequantised maps, or a QLinearAdd; nothing if it is not such a sum.
std::optional<IntegerForm> read_quantised_sum(const GraphView& view, std::size_t index,
                                              const SumStages& stages);

// The product of two maps, or of a map and one value per channel, as one integer operator:
//
//     clip(round((relu((a - a_zero) * (b - b_zero) * gain) + offset) * scale / 2^shift) + zero)
//
// with ties away from zero. `zero` makes the largest result 127; `gain` only serves a finer scale.

struct ScaledProduct {
    std::int64_t a_zero = 0;
    std::int64_t b_zero = 0;
    std::int64_t gain = 1;
    std::int64_t offset = 0;
    std::int64_t scale = 1;  ///< up to 15 bits
    std::int64_t shift = 1;
    std::int64_t zero = 0;
    bool relu = false;  ///< otherwise no activation except the clip
    double low = 0;
    double high = 0;

    double of(double a, double b) const;
};
inline constexpr const char* scaled_product_op = "npuscope.ScaledProduct";
ScaledProduct scaled_product_of(const GraphNode& node);
/// For a Mul between dequantised maps; nothing if it is not such a product, or if more than 500 per
/// million results would differ from the model's.
std::optional<IntegerForm> read_quantised_product(const GraphView& view, std::size_t index);

// A PRelu with one slope per channel: y = (code - map_zero) * gain, below 0 y * slope /
// 2^slope_shift,
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
/// For a PRelu of a dequantised map; nothing if it is not one, or if more than 500 per million
/// results would differ from the model's.
std::optional<IntegerForm> read_quantised_prelu(const GraphView& view, std::size_t index);

// A function of one map of 8-bit integers, as a table of the results' integers: an activation
// between two quantisers, or any chain of them.

inline constexpr const char* lookup_op = "npuscope.Lookup";
inline constexpr std::int64_t lookup_codes = 256;  ///< of the map, lowest first
/// Without name, inputs and outputs; `results`: the 8-bit result of every code.
GraphNode lookup_node(const GraphValue& results);

/// Nothing if node `index` is not such a layer.
std::optional<QuantisedLayer> read_quantised_layer(const GraphView& view, std::size_t index);

}  // namespace npuscope
