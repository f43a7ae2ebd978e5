// SPDX-License-Identifier: Apache-2.0
#include "models/arith/convolve_simd.h"

#include <algorithm>
#include <cstring>

// Highway compiles the part between HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/arith/convolve_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace npuscope {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Sums = hn::ScalableTag<std::int32_t>;
using Values = hn::ScalableTag<std::int16_t>;
using Vector = hn::Vec<Sums>;

/// acc + a0 * b0 + a1 * b1 in every 32-bit lane.
HWY_INLINE Vector multiply_pairs(hn::Vec<Values> a, hn::Vec<Values> b, Vector accumulated) {
    const Sums sums;
    Vector rest = hn::Zero(sums);
    const Vector first = hn::ReorderWidenMulAccumulate(sums, a, b, accumulated, rest);
    return hn::RearrangeToOddPlusEven(first, rest);
}

HWY_INLINE hn::Vec<Values> broadcast_pair(const std::int16_t* pair) {
    std::int32_t bits = 0;
    std::memcpy(&bits, pair, sizeof(bits));
    return hn::BitCast(Values(), hn::Set(Sums(), bits));
}

/// Two vectors of positions, four kernels: all channel pairs and taps.
/// `pairs` points at the first position, `weights` at the kernel block, `to` at the first sum.
HWY_NOINLINE void raster_tile(const RasterPlan& plan, std::size_t channel_pairs,
                              const std::int16_t* pairs, const std::int16_t* weights,
                              std::int32_t* to, std::size_t to_pitch) {
    const Sums sums;
    const Values values;
    const std::size_t lanes = hn::Lanes(sums);
    Vector a0 = hn::Zero(sums), a1 = a0, b0 = a0, b1 = a0, c0 = a0, c1 = a0, d0 = a0, d1 = a0;
    for (std::size_t c = 0; c < channel_pairs; ++c) {
        const std::int16_t* channel = pairs + c * plan.channel_size() * 2;
        for (const std::size_t offset : plan.tap_offsets()) {
            const auto x0 = hn::LoadU(values, channel + offset * 2);
            const auto x1 = hn::LoadU(values, channel + (offset + lanes) * 2);
            const auto wa = broadcast_pair(weights);
            a0 = multiply_pairs(x0, wa, a0);
            a1 = multiply_pairs(x1, wa, a1);
            const auto wb = broadcast_pair(weights + 2);
            b0 = multiply_pairs(x0, wb, b0);
            b1 = multiply_pairs(x1, wb, b1);
            const auto wc = broadcast_pair(weights + 4);
            c0 = multiply_pairs(x0, wc, c0);
            c1 = multiply_pairs(x1, wc, c1);
            const auto wd = broadcast_pair(weights + 6);
            d0 = multiply_pairs(x0, wd, d0);
            d1 = multiply_pairs(x1, wd, d1);
            weights += 2 * kernel_block;
        }
    }
    hn::StoreU(a0, sums, to);
    hn::StoreU(a1, sums, to + lanes);
    hn::StoreU(b0, sums, to + to_pitch);
    hn::StoreU(b1, sums, to + to_pitch + lanes);
    hn::StoreU(c0, sums, to + 2 * to_pitch);
    hn::StoreU(c1, sums, to + 2 * to_pitch + lanes);
    hn::StoreU(d0, sums, to + 3 * to_pitch);
    hn::StoreU(d1, sums, to + 3 * to_pitch + lanes);
}

/// The output rows out of one block's raster of positions.
void copy_rows(const RasterPlan& plan, const std::vector<std::int32_t>& raster,
               std::size_t raster_pitch, std::size_t first_kernel, Tensor<std::int32_t>& sums) {
    const std::size_t height = sums.shape.height;
    const std::size_t width = sums.shape.width;
    const std::size_t last =
        std::min<std::size_t>(first_kernel + kernel_block, sums.shape.channels);
    for (std::size_t k = first_kernel; k < last; ++k) {
        const std::int32_t* from = raster.data() + (k - first_kernel) * raster_pitch;
        for (std::size_t y = 0; y < height; ++y) {
            std::memcpy(sums.values.data() + (k * height + y) * width, from + y * plan.pitch(),
                        width * sizeof(std::int32_t));
        }
    }
}

void convolve_raster(const RasterPlan& plan, const std::vector<std::int16_t>& pairs,
                     const std::vector<std::int16_t>& weights, Tensor<std::int32_t>& sums) {
    const std::size_t step = 2 * hn::Lanes(Sums());
    const std::size_t channel_pairs = pairs.size() / (2 * plan.channel_size());
    const std::size_t block = channel_pairs * plan.tap_offsets().size() * kernel_block * 2;
    const std::size_t raster_pitch = plan.positions() + position_slack;
    std::vector<std::int32_t> raster(kernel_block * raster_pitch);
    const std::int16_t* block_weights = weights.data();
    for (std::size_t k = 0; k < sums.shape.channels; k += kernel_block, block_weights += block) {
        for (std::size_t position = 0; position < plan.positions(); position += step) {
            raster_tile(plan, channel_pairs, pairs.data() + position * 2, block_weights,
                        raster.data() + position, raster_pitch);
        }
        copy_rows(plan, raster, raster_pitch, k, sums);
    }
}

/// Dot products of one widened kernel with up to four columns; `length` is a multiple of 64.
HWY_NOINLINE void column_tile(const std::int16_t* kernel, const std::int16_t* columns,
                              std::size_t pitch, std::size_t length, std::int32_t* to) {
    const Sums sums;
    const Values values;
    Vector a = hn::Zero(sums), b = a, c = a, d = a;
    for (std::size_t i = 0; i < length; i += hn::Lanes(values)) {
        const auto weight = hn::LoadU(values, kernel + i);
        a = multiply_pairs(weight, hn::LoadU(values, columns + i), a);
        b = multiply_pairs(weight, hn::LoadU(values, columns + pitch + i), b);
        c = multiply_pairs(weight, hn::LoadU(values, columns + 2 * pitch + i), c);
        d = multiply_pairs(weight, hn::LoadU(values, columns + 3 * pitch + i), d);
    }
    to[0] = hn::GetLane(hn::SumOfLanes(sums, a));
    to[1] = hn::GetLane(hn::SumOfLanes(sums, b));
    to[2] = hn::GetLane(hn::SumOfLanes(sums, c));
    to[3] = hn::GetLane(hn::SumOfLanes(sums, d));
}

template <class T>
void convolve_any_columns(const Columns& columns, const Kernels<T>& kernels,
                          Tensor<std::int32_t>& sums) {
    const std::size_t outputs = std::size_t{sums.shape.height} * sums.shape.width;
    std::vector<std::int16_t> kernel(columns.pitch, 0);
    std::vector<std::int16_t> tail;  // the last positions, repeated to a whole tile
    const std::size_t whole = outputs / 4 * 4;
    if (whole < outputs) {
        tail.assign(4 * columns.pitch, 0);
        std::copy(columns.values.begin() + static_cast<std::ptrdiff_t>(whole * columns.pitch),
                  columns.values.end(), tail.begin());
    }
    std::int32_t tile[4] = {};
    for (std::size_t k = 0; k < sums.shape.channels; ++k) {
        std::copy_n(kernels.values.data() + k * columns.length, columns.length, kernel.data());
        for (std::size_t position = 0; position < outputs; position += 4) {
            const std::int16_t* from =
                position < whole ? columns.values.data() + position * columns.pitch : tail.data();
            column_tile(kernel.data(), from, columns.pitch, columns.pitch, tile);
            std::copy_n(tile, std::min<std::size_t>(4, outputs - position),
                        sums.values.data() + k * outputs + position);
        }
    }
}

void convolve_byte_columns(const Columns& columns, const Kernels<std::int8_t>& kernels,
                           Tensor<std::int32_t>& sums) {
    convolve_any_columns(columns, kernels, sums);
}

void convolve_word_columns(const Columns& columns, const Kernels<std::int16_t>& kernels,
                           Tensor<std::int32_t>& sums) {
    convolve_any_columns(columns, kernels, sums);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace npuscope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npuscope {

HWY_EXPORT(convolve_raster);
HWY_EXPORT(convolve_byte_columns);
HWY_EXPORT(convolve_word_columns);

void convolve_raster(const RasterPlan& plan, const std::vector<std::int16_t>& pairs,
                     const std::vector<std::int16_t>& weights, Tensor<std::int32_t>& sums) {
    HWY_DYNAMIC_DISPATCH(convolve_raster)(plan, pairs, weights, sums);
}

void convolve_columns(const Columns& columns, const Kernels<std::int8_t>& kernels,
                      Tensor<std::int32_t>& sums) {
    HWY_DYNAMIC_DISPATCH(convolve_byte_columns)(columns, kernels, sums);
}

void convolve_columns(const Columns& columns, const Kernels<std::int16_t>& kernels,
                      Tensor<std::int32_t>& sums) {
    HWY_DYNAMIC_DISPATCH(convolve_word_columns)(columns, kernels, sums);
}

}  // namespace npuscope
#endif
