// SPDX-License-Identifier: Apache-2.0
#include "models/cacc/cacc_math.h"

#include "models/arith/round.h"

namespace npuscope {

namespace {

constexpr unsigned fraction_bits = 16;  // source: nv_small RTL, NV_NVDLA_CACC_CALC_int8.v

template <class Sum>
AccumulatedSums truncate_all(const Tensor<Sum>& sums, std::uint32_t clip_truncate) {
    AccumulatedSums result{Tensor<std::int32_t>(sums.shape), 0};
    for (std::size_t i = 0; i < sums.values.size(); ++i) {
        const Narrowed<std::int32_t> narrowed = truncate_sum(sums.values[i], clip_truncate);
        result.values.values[i] = narrowed.value;
        result.saturated += narrowed.saturated ? 1U : 0U;
    }
    return result;
}

/// The same for sums that fit as they are: no bit below the fraction, nothing to saturate. Shift and
/// rounding are taken apart so that nothing overflows and the loop becomes vector code.
void truncate_in_place(Tensor<std::int32_t>& sums, std::uint32_t clip_truncate) {
    const auto below = static_cast<std::int32_t>((1U << clip_truncate) - 1);
    const std::int32_t half = (below >> 1) + 1;
    for (std::int32_t& sum : sums.values) {
        const std::int32_t rest = (sum & below) + half - (sum < 0 ? 1 : 0);
        sum = (sum >> clip_truncate) + (rest >> clip_truncate);
    }
}

}  // namespace

Narrowed<std::int32_t> truncate_sum(std::int64_t sum, std::uint32_t clip_truncate) {
    // Bits that fall below the fraction are gone before the rounding looks at them.
    const unsigned lost = clip_truncate > fraction_bits ? clip_truncate - fraction_bits : 0;
    const Narrowed<std::int64_t> narrowed =
        shift_right_saturate(sum >> lost, clip_truncate - lost, {64, 32});
    return {static_cast<std::int32_t>(narrowed.value), narrowed.saturated};
}

AccumulatedSums accumulate(const Tensor<std::int8_t>& data, const Kernels<std::int8_t>& kernels,
                           const Accumulation& accumulation) {
    const Convolution& convolution = accumulation.convolution;
    const std::uint32_t truncate = accumulation.clip_truncate;
    if (partial_sum_bound(kernels) > max_of_bits<std::int64_t>(accumulation.accumulator.bits)) {
        return truncate_all(
            convolve_saturating(data, kernels, convolution, accumulation.accumulator), truncate);
    }
    if (!sums_fit_32_bits(kernels.shape)) {
        return truncate_all(convolve_wide(data, kernels, convolution), truncate);
    }
    AccumulatedSums result{convolve(data, kernels, convolution), 0};
    if (truncate > fraction_bits) {
        return truncate_all(result.values, truncate);
    }
    if (truncate > 0) {
        truncate_in_place(result.values, truncate);
    }
    return result;
}

}  // namespace npuscope
