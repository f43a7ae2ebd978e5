// SPDX-License-Identifier: Apache-2.0
#include "models/conv/cacc_math.h"

#include <algorithm>
#include <limits>

#include "models/arith/convolve.h"
#include "models/arith/fixed_point.h"
#include "models/arith/winograd.h"

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

/// The same for sums that fit as they are: no bit below the fraction, nothing to saturate. Shift
/// and rounding are separated so that nothing overflows and the loop is vectorised.
void truncate_in_place(Tensor<std::int32_t>& sums, std::uint32_t clip_truncate) {
    const auto below = static_cast<std::int32_t>((1U << clip_truncate) - 1);
    const std::int32_t half = (below >> 1) + 1;
    for (std::int32_t& sum : sums.values) {
        const std::int32_t rest = (sum & below) + half - (sum < 0 ? 1 : 0);
        sum = (sum >> clip_truncate) + (rest >> clip_truncate);
    }
}

/// Data and kernels of one batch whose sums are integers.
template <class T>
bool may_saturate(const Kernels<T>& kernels, const Accumulation& accumulation) {
    const std::int64_t largest = max_of_bits<std::int64_t>(accumulation.accumulator.bits);
    const KernelShape& shape = kernels.shape;
    const std::int64_t product =
        std::int64_t{std::numeric_limits<T>::min()} * std::numeric_limits<T>::min();
    const std::int64_t products = std::int64_t{shape.channels} * shape.rows * shape.columns;
    // for any weights, then for the actual ones
    return products > largest / product && partial_sum_bound(kernels) > largest;
}

AccumulatedSums accumulate_direct(const Tensor<std::int8_t>& data,
                                  const Kernels<std::int8_t>& kernels,
                                  const Accumulation& accumulation) {
    const Convolution& convolution = accumulation.convolution;
    const std::uint32_t truncate = accumulation.clip_truncate;
    if (may_saturate(kernels, accumulation)) {
        return truncate_all(
            convolve_saturating(data, kernels, convolution, accumulation.accumulator), truncate);
    }
    if (!sums_fit_32_bits(kernels.shape)) {
        return truncate_all(convolve_wide(data, kernels, convolution), truncate);
    }
    AccumulatedSums result{convolve(data, kernels, convolution, accumulation.arranged), 0};
    if (truncate > fraction_bits) {
        return truncate_all(result.values, truncate);
    }
    if (truncate > 0) {
        truncate_in_place(result.values, truncate);
    }
    return result;
}

AccumulatedSums accumulate_direct(const Tensor<std::int16_t>& data,
                                  const Kernels<std::int16_t>& kernels,
                                  const Accumulation& accumulation) {
    const Convolution& convolution = accumulation.convolution;
    if (accumulation.precision == Precision::Fp16) {
        return {convolve_fp16(data, kernels, convolution, accumulation.accumulator.order), 0};
    }
    return truncate_all(
        may_saturate(kernels, accumulation)
            ? convolve_saturating(data, kernels, convolution, accumulation.accumulator)
            : convolve_wide(data, kernels, convolution),
        accumulation.clip_truncate);
}

template <class T>
AccumulatedSums accumulate_winograd(const Tensor<T>& data, const Kernels<T>& kernels,
                                    const Accumulation& accumulation) {
    if constexpr (sizeof(T) == 2) {
        if (accumulation.precision == Precision::Fp16) {
            return {convolve_winograd_fp16(data, kernels, accumulation.convolution), 0};
        }
    }
    return truncate_all(
        convolve_winograd(data, kernels, accumulation.convolution, accumulation.patch_truncate),
        accumulation.clip_truncate);
}

/// Lines [first, first + count) of every channel.
template <class T>
Tensor<T> lines_of(const Tensor<T>& data, std::uint32_t first, std::uint32_t count) {
    Tensor<T> part({data.shape.channels, count, data.shape.width});
    for (std::uint32_t c = 0; c < data.shape.channels; ++c) {
        const auto from =
            data.values.begin() + static_cast<std::ptrdiff_t>(data.index(c, first, 0));
        std::copy_n(from, std::size_t{count} * data.shape.width,
                    part.values.begin() + static_cast<std::ptrdiff_t>(part.index(c, 0, 0)));
    }
    return part;
}

/// Batch by batch; the results follow one another.
template <class T>
AccumulatedSums accumulate_batches(const Tensor<T>& data, const Kernels<T>& kernels,
                                   const Accumulation& accumulation) {
    const std::uint32_t batches = accumulation.batches;
    const std::uint32_t lines = data.shape.height / batches;
    const Convolution& geometry = accumulation.convolution;
    Accumulation alone = accumulation;
    alone.arranged = nullptr;  // each has its own data
    AccumulatedSums all{Tensor<std::int32_t>({kernels.shape.kernels, geometry.out_height * batches,
                                              geometry.out_width}),
                        0};
    for (std::uint32_t batch = 0; batch < batches; ++batch) {
        const AccumulatedSums one =
            accumulate_direct(lines_of(data, batch * lines, lines), kernels, alone);
        const std::size_t size = std::size_t{geometry.out_height} * geometry.out_width;
        for (std::uint32_t k = 0; k < kernels.shape.kernels; ++k) {
            const auto from = one.values.values.begin() + static_cast<std::ptrdiff_t>(k * size);
            std::copy_n(from, size, &all.values.at(k, batch * geometry.out_height, 0));
        }
        all.saturated += one.saturated;
    }
    return all;
}

template <class T>
AccumulatedSums accumulate_one(const Tensor<T>& data, const Kernels<T>& kernels,
                               const Accumulation& accumulation) {
    if (accumulation.winograd) {
        return accumulate_winograd(data, kernels, accumulation);
    }
    return accumulation.batches > 1 ? accumulate_batches(data, kernels, accumulation)
                                    : accumulate_direct(data, kernels, accumulation);
}

}  // namespace

Narrowed<std::int32_t> truncate_sum(std::int64_t sum, std::uint32_t clip_truncate) {
    // Bits shifted below the fraction are lost before rounding.
    const unsigned lost = clip_truncate > fraction_bits ? clip_truncate - fraction_bits : 0;
    const Narrowed<std::int64_t> narrowed =
        shift_right_saturate(sum >> lost, clip_truncate - lost, {64, 32});
    return {static_cast<std::int32_t>(narrowed.value), narrowed.saturated};
}

AccumulatedSums accumulate(const ElementTensor& data, const WeightKernels& kernels,
                           const Accumulation& accumulation) {
    if (accumulation.precision == Precision::Int8) {
        return accumulate_one(std::get<Tensor<std::int8_t>>(data),
                              std::get<Kernels<std::int8_t>>(kernels), accumulation);
    }
    return accumulate_one(std::get<Tensor<std::int16_t>>(data),
                          std::get<Kernels<std::int16_t>>(kernels), accumulation);
}

}  // namespace npuscope
