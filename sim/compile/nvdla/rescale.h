// SPDX-License-Identifier: Apache-2.0
// How the SDP brings sums back to int8. For made-up values: weights and inputs are uniform over
// int8, and each layer's results get a spread that neither saturates nor vanishes, from the number
// of products in a sum alone. Models bring their own scales.
#pragma once

#include <cstdint>
#include <optional>

#include "models/arith/fixed_point.h"
#include "sim/model/network.h"

namespace npuscope {

struct Rescale {
    Conversion convertor;            ///< accumulator to int8
    unsigned residual_shift = 0;     ///< brings an int8 residual to the accumulator's scale
    std::int16_t bias_limit = 0;     ///< largest bias, before its shift
    unsigned bias_shift = 0;         ///< of the bias, to the accumulator's scale
    unsigned bias_down = 0;          ///< bits that biases lose in memory, halves away from zero
    bool factor_per_kernel = false;  ///< the last stage that adds a bias multiplies, by kernel
    std::int16_t factor = 1;         ///< or by this one
    bool has_rest = false;           ///< the second stage adds what biases lack
    std::optional<std::int16_t> least{};  ///< the second stage takes no less
    unsigned least_shift = 0;
};

/// For sums of so many products of int8, of which `zeros` percent have a zero weight.
Rescale rescale_sum(std::uint64_t products, std::uint32_t zeros = 0);

/// A model's own.
Rescale rescale_given(const LayerNumbers& numbers);

/// The same for sums that are smaller by so many bits.
Rescale smaller(Rescale rescale, unsigned bits);

/// For the sum of two int8 values: three quarters of it.
Conversion rescale_add();

}  // namespace npuscope
