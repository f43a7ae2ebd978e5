// SPDX-License-Identifier: Apache-2.0
// How the SDP brings sums back to int8. For made-up values: weights and inputs are uniform over
// int8, and each layer's results get a spread that neither saturates nor vanishes, from the number
// of products in a sum alone. Models bring their own scales.
#pragma once

#include <cstdint>

#include "models/arith/fixed_point.h"
#include "models/base/quantity.h"
#include "sim/workload/layer_numbers.h"

namespace npuscope {

struct Rescale {
    Conversion convertor;            ///< accumulator to int8
    unsigned residual_shift = 0;     ///< brings an int8 residual to the accumulator's scale
    std::int16_t bias_limit = 0;     ///< largest bias, before its shift
    unsigned bias_shift = 0;         ///< of the bias, to the accumulator's scale
    unsigned bias_down = 0;          ///< bits that biases lose in memory, halves away from zero
    bool factor_per_kernel = false;  ///< the first stage multiplies, by one factor per kernel
    std::int16_t factor = 1;         ///< or by this one

    /// Of one kernel in memory.
    Bytes operand_bytes() const { return Bytes(factor_per_kernel ? 4 : 2); }
};

/// For sums of so many products of int8, of which `zeros` percent have a zero weight.
Rescale rescale_sum(std::uint64_t products, std::uint32_t zeros = 0);

/// floor((sum + bias) * scale / 2^shift), exactly: twice the product less an odd number is rounded,
/// so that there are no halves. Biases are multiples of 2^bias_shift.
Rescale rescale_exact(const LayerNumbers& numbers);

/// The same for sums that are smaller by so many bits.
Rescale smaller(Rescale rescale, unsigned bits);

/// For the sum of two int8 values: three quarters of it.
Conversion rescale_add();

}  // namespace npuscope
