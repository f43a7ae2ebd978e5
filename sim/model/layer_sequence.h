// SPDX-License-Identifier: Apache-2.0
// The integer sequence of a quantised layer: in exactly the model's numbers, or near them in a form that
// the hardware has.
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
    double offset = 0;                     ///< half a unit, and the output's zero point
    std::vector<double> divisor{};         ///< 2^n, per kernel or one
    bool to_even = false;                  ///< rounded, halves to even, in place of the floor
    double input_zero = 0;                 ///< that the sums take off; padding counts as it
    std::vector<double> fine{};            ///< weights of the fine map; empty: it is not read
    bool real = false;                     ///< weights and sums are real numbers
    std::optional<Deviation> deviation{};  ///< of results that are near the layer's
    std::string reason{};                  ///< why there is none; empty: there is one
};

inline constexpr double largest_bias = 2147483647;  // sums have 32 bits

// source: TI NNC for MCUs, User's Guide v2.1.0, 24 bits with weights of 8 bits
inline constexpr double largest_norm_bias = 8388607;

/// Kernel by kernel: the weights' sum and the largest power of two that divides all of them.
struct KernelFacts {
    double sum = 0;
    double reach = 0;          ///< of its products with any input, at most
    std::int64_t granule = 0;  ///< 0: all weights are 0
};
std::vector<KernelFacts> kernel_facts(const QuantisedLayer& layer);

/// One number, or one per kernel; `none` where there is none.
inline double of_kernel(const std::vector<double>& numbers, std::size_t kernel, double none) {
    return numbers.empty() ? none : numbers[numbers.size() == 1 ? 0 : kernel % numbers.size()];
}

/// The same numbers as the layer's, whatever the input.
LayerSequence exact_sequence(const QuantisedLayer& layer);
/// The same numbers where all scales are powers of two, halves rounded to even. `input_high`: the largest
/// number of its input's map, where that is known; results with an odd zero need biases of 16 bits.
LayerSequence even_sequence(const QuantisedLayer& layer, std::optional<double> input_high);
/// Scales of any kind as integers of 15 bits and one shift for all kernels.
LayerSequence rounded_sequence(const QuantisedLayer& layer);
/// The input a second time, less its zero point divided by 8 and rounded: its weights are what those of the input
/// lack, in eighths.
struct FineMap {
    double steps = 8;
    double zero = 0;  ///< how its zero is stored
};
/// Nothing where no window reads both: of depth-wise layers and one channel they lie row by row.
std::optional<FineMap> fine_map(const ConvolvedLayer& form);
/// A right shift for each kernel alone: what its scale is more than a power of two goes into the
/// weights, which are rounded again; their errors sum to nearly 0 in each kernel.
LayerSequence folded_sequence(QuantisedLayer& layer, const FineMap* fine);
/// Likewise with real weights, biases and sums: of the layer's results those alone differ that lie halfway
/// between two, which are rounded up.
LayerSequence real_sequence(QuantisedLayer& layer);
/// Gives the layer both maps, which the host puts together, and the weights of both.
void read_both(ConvolvedLayer& form, const FineMap& map, const std::vector<double>& fine);

/// Gives a layer the sizes that the patterns of a TINPU ask for: one group, or depth-wise; channels in
/// fours; no padding where the input has a zero point; a clip to all that the result's type holds. What
/// that takes are nodes of the host, which pad before the layer and cut and clip after it.
void fit_patterns(const GraphView& view, ConvolvedLayer& form);

}  // namespace npuscope
