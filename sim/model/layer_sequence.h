// SPDX-License-Identifier: Apache-2.0
// The integer sequence of a quantised layer: either exactly the model's values, or close to them in
// a form that the hardware supports.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/model/convolved_form.h"
#include "sim/model/quantised_form.h"

namespace npuscope {

/// An integer sequence: clip(floor(((sum + bias) * scale + offset) / divisor)).
struct LayerSequence {
    std::vector<double> bias{};            ///< per kernel
    std::vector<double> scale{};           ///< per kernel; empty: 1
    double offset = 0;                     ///< half a unit, plus the output's zero point
    std::vector<double> divisor{};         ///< 2^n, per kernel or one
    bool to_even = false;                  ///< rounded, ties to even, instead of floor
    double input_zero = 0;                 ///< subtracted by the sums; also the padding value
    std::vector<double> fine{};            ///< weights of the fine map; empty: not used
    bool real = false;                     ///< weights and sums are real numbers
    std::optional<Deviation> deviation{};  ///< of results that are close to the layer's
    std::string reason{};                  ///< why there is no sequence; empty: there is one
};

inline constexpr double largest_bias = 2147483647;  // sums have 32 bits

// source: TI NNC for MCUs, User's Guide v2.1.0, 24 bits with 8-bit weights
inline constexpr double largest_norm_bias = 8388607;

/// Per kernel: the weights' sum and the largest power of two that divides all of them.
struct KernelFacts {
    double sum = 0;
    double reach = 0;          ///< largest magnitude of its sums for any input
    std::int64_t granule = 0;  ///< 0: all weights are 0
};
std::vector<KernelFacts> kernel_facts(const QuantisedLayer& layer);
/// The largest power of two that divides both, as `granule` of KernelFacts; 0: only 0 does not count.
std::int64_t common_granule(std::int64_t granule, double weight);
/// Share of results that differ between rounding halves to even and any other way of rounding them:
/// half of the sums that lie halfway between two results. A sum is a multiple of `granule` plus
/// `bias`; a result is 2^shift sums.
double share_of_halves(double bias, std::int64_t granule, int shift);

/// One value, or one per kernel; `none` if empty.
inline double of_kernel(const std::vector<double>& numbers, std::size_t kernel, double none) {
    return numbers.empty() ? none : numbers[numbers.size() == 1 ? 0 : kernel % numbers.size()];
}

/// Computes the same results as the layer, for any input.
LayerSequence exact_sequence(const QuantisedLayer& layer);
/// The same results if all scales are powers of two, ties rounded to even. `input_high`: the
/// largest value of its input map, if known; results with an odd zero point need 16-bit biases.
LayerSequence even_sequence(const QuantisedLayer& layer, std::optional<double> input_high);
/// Arbitrary scales as 15-bit integers and one shift for all kernels. Kernels with far larger biases
/// than sums get coarser weights, if the others' results would otherwise be off.
LayerSequence rounded_sequence(QuantisedLayer& layer);
/// The input a second time, minus its zero point, divided by 8 and rounded: its weights are the
/// remainders of the input's weights, in eighths.
struct FineMap {
    double steps = 8;
    double zero = 0;  ///< how its zero is stored
};
/// Nothing if no window reads both: depth-wise and one-channel maps are stored row by row.
std::optional<FineMap> fine_map(const ConvolvedLayer& form);
/// A right shift per kernel only: the part of its scale beyond a power of two goes into the
/// weights, which are rounded again; their errors sum to nearly 0 in each kernel.
LayerSequence folded_sequence(ConvolvedLayer& form, const FineMap* fine);
/// The same with real weights, biases and sums: only results halfway between two values differ from
/// the layer's; they are rounded up.
LayerSequence real_sequence(QuantisedLayer& layer);
/// Makes the layer read both maps, which the host joins, with the weights of both.
void read_both(ConvolvedLayer& form, const FineMap& map, const std::vector<double>& fine);

/// Gives a layer the sizes that TINPU patterns require: one group, or depth-wise; channels in
/// multiples of four; no padding if the input has a zero point; a clip to the full range of the
/// result's type. The host nodes for this pad before the layer, and crop and clip after it.
void fit_patterns(const GraphView& view, ConvolvedLayer& form);
/// Gives a convolution sizes that the registers of a convolution unit take. The host nodes for this
/// rearrange the map before the layer, and in part its results.
void fit_registers(ConvolvedLayer& form);

}  // namespace npuscope
