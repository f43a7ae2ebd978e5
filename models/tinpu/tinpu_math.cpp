// SPDX-License-Identifier: Apache-2.0
#include "models/tinpu/tinpu_math.h"

#include <algorithm>
#include <limits>

#include "models/arith/convolve.h"
#include "models/base/check.h"

namespace npuscope {
namespace {

/// 8-bit maps, signed or not, for kernels that multiply int8: an unsigned map is shifted down by
/// 128, and what that subtracts from every sum is added back.
struct MovedMap {
    Tensor<std::int8_t> values;
    std::int32_t moved = 0;
};

MovedMap move_to_int8(const Tensor<std::int32_t>& input, bool is_signed) {
    MovedMap map{Tensor<std::int8_t>(input.shape), is_signed ? 0 : 128};
    std::transform(input.values.begin(), input.values.end(), map.values.values.begin(),
                   [&](std::int32_t value) { return static_cast<std::int8_t>(value - map.moved); });
    return map;
}

std::vector<std::int64_t> weight_sums(const Kernels<std::int8_t>& weights) {
    std::vector<std::int64_t> sums(weights.shape.kernels, 0);
    const std::size_t size = weights.values.size() / std::max<std::size_t>(sums.size(), 1);
    for (std::size_t i = 0; i < weights.values.size(); ++i) {
        sums[i / size] += weights.values[i];
    }
    return sums;
}

Tensor<std::int64_t> widened(const Tensor<std::int32_t>& sums) {
    Tensor<std::int64_t> wide(sums.shape);
    std::copy(sums.values.begin(), sums.values.end(), wide.values.begin());
    return wide;
}

Tensor<std::int64_t> convolved(const MovedMap& map, const Kernels<std::int8_t>& weights,
                               Convolution geometry) {
    geometry.pad_value = -map.moved;
    Tensor<std::int64_t> sums = sums_fit_32_bits(weights.shape)
                                    ? widened(convolve(map.values, weights, geometry))
                                    : convolve_wide(map.values, weights, geometry);
    const std::vector<std::int64_t> of_weights = weight_sums(weights);
    const std::size_t plane = std::size_t{sums.shape.height} * sums.shape.width;
    for (std::size_t i = 0; i < sums.values.size(); ++i) {
        sums.values[i] += map.moved * of_weights[i / plane];
    }
    return sums;
}

Tensor<std::int64_t> convolved_by_channel(const TinpuJob& job, const MovedMap& map,
                                          const Kernels<std::int8_t>& weights) {
    Tensor<std::int64_t> sums(job.output.shape);
    const std::size_t in_plane = std::size_t{job.input.shape.height} * job.input.shape.width;
    const std::size_t out_plane = std::size_t{sums.shape.height} * sums.shape.width;
    const std::size_t taps = std::size_t{job.rows} * job.columns;
    for (std::uint32_t c = 0; c < job.output.shape.channels; ++c) {
        MovedMap one{Tensor<std::int8_t>({1, job.input.shape.height, job.input.shape.width}),
                     map.moved};
        Kernels<std::int8_t> kernel({1, 1, job.rows, job.columns});
        std::copy_n(map.values.values.begin() + static_cast<std::ptrdiff_t>(c * in_plane), in_plane,
                    one.values.values.begin());
        std::copy_n(weights.values.begin() + static_cast<std::ptrdiff_t>(c * taps), taps,
                    kernel.values.begin());
        const Tensor<std::int64_t> plane = convolved(one, kernel, job.geometry);
        std::copy(plane.values.begin(), plane.values.end(),
                  sums.values.begin() + static_cast<std::ptrdiff_t>(c * out_plane));
    }
    return sums;
}

/// Every input element adds a kernel's worth of products; weights are [k][c][r][s].
Tensor<std::int64_t> scattered(const TinpuJob& job, const Tensor<std::int32_t>& input,
                               const Kernels<std::int8_t>& weights) {
    const Convolution& g = job.geometry;
    Tensor<std::int64_t> sums(job.output.shape);
    const auto add = [&](std::uint32_t k, std::int64_t y, std::int64_t x, std::int64_t product) {
        if (y >= 0 && y < sums.shape.height && x >= 0 && x < sums.shape.width) {
            sums.at(k, static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(x)) += product;
        }
    };
    for (std::uint32_t c = 0; c < input.shape.channels; ++c) {
        for (std::uint32_t place = 0; place < input.shape.height * input.shape.width; ++place) {
            const std::uint32_t y = place / input.shape.width;
            const std::uint32_t x = place % input.shape.width;
            const std::int64_t value = input.at(c, y, x);
            for (std::uint32_t k = 0; k < weights.shape.kernels; ++k) {
                for (std::uint32_t tap = 0; tap < job.rows * job.columns; ++tap) {
                    const std::uint32_t r = tap / job.columns;
                    const std::uint32_t s = tap % job.columns;
                    add(k,
                        std::int64_t{y} * g.stride_y + std::int64_t{r} * g.dilation_y - g.pad_top,
                        std::int64_t{x} * g.stride_x + std::int64_t{s} * g.dilation_x - g.pad_left,
                        value * weights.at(k, c, r, s));
                }
            }
        }
    }
    return sums;
}

/// Elements of one window inside the input, and how many of its positions are in the padded input.
struct WindowTaps {
    std::int64_t sum = 0;
    std::int64_t inside = 0;
    std::int64_t padded = 0;
    std::int32_t largest = std::numeric_limits<std::int32_t>::min();
};

WindowTaps window_at(const TinpuJob& job, const Tensor<std::int32_t>& input, std::uint32_t c,
                     std::uint32_t out_y, std::uint32_t out_x) {
    const Convolution& g = job.geometry;
    WindowTaps taps;
    for (std::uint32_t tap = 0; tap < job.rows * job.columns; ++tap) {
        const std::int64_t y = std::int64_t{out_y} * g.stride_y +
                               std::int64_t{tap / job.columns} * g.dilation_y - g.pad_top;
        const std::int64_t x = std::int64_t{out_x} * g.stride_x +
                               std::int64_t{tap % job.columns} * g.dilation_x - g.pad_left;
        taps.padded += y < std::int64_t{input.shape.height} + job.pad_bottom &&
                       x < std::int64_t{input.shape.width} + job.pad_right;
        if (y >= 0 && y < input.shape.height && x >= 0 && x < input.shape.width) {
            const std::int32_t value =
                input.at(c, static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(x));
            taps.sum += value;
            ++taps.inside;
            taps.largest = std::max(taps.largest, value);
        }
    }
    return taps;
}

/// sum * area / count to the nearest integer.
std::int64_t rounded_quotient(std::int64_t product, std::int64_t count, HalfRounding rounding) {
    const std::int64_t doubled = 2 * product + count;  // floor(p / c + 1/2) = floor(d / 2c)
    const std::int64_t divisor = 2 * count;
    std::int64_t quotient = doubled / divisor;
    if (doubled % divisor < 0) {
        --quotient;
    }
    const bool tie = doubled % divisor == 0;
    return tie && rounding == HalfRounding::Even && quotient % 2 != 0 ? quotient - 1 : quotient;
}

template <class T, class Reduce>
Tensor<T> each_window(const TinpuJob& job, const Tensor<std::int32_t>& input, Reduce reduce) {
    Tensor<T> result(job.output.shape);
    for (std::uint32_t c = 0; c < result.shape.channels; ++c) {
        for (std::uint32_t y = 0; y < result.shape.height; ++y) {
            for (std::uint32_t x = 0; x < result.shape.width; ++x) {
                result.at(c, y, x) = reduce(window_at(job, input, c, y, x));
            }
        }
    }
    return result;
}

}  // namespace

Tensor<std::int64_t> tinpu_sums(const TinpuJob& job, const Tensor<std::int32_t>& input,
                                const Kernels<std::int8_t>& weights) {
    switch (job.work) {
        case TinpuWork::Convolution:
            return convolved(move_to_int8(input, job.input.is_signed), weights, job.geometry);
        case TinpuWork::Depthwise:
            return convolved_by_channel(job, move_to_int8(input, job.input.is_signed), weights);
        case TinpuWork::Transposed:
            return scattered(job, input, weights);
        case TinpuWork::AveragePool:
        case TinpuWork::MaxPool:
            break;
    }
    NPU_CHECK(false, "a pool has no weights");
}

Tensor<std::int64_t> tinpu_pool_sums(const TinpuJob& job, const Tensor<std::int32_t>& input) {
    const std::int64_t area = std::int64_t{job.rows} * job.columns;
    return each_window<std::int64_t>(job, input, [&](const WindowTaps& taps) {
        const std::int64_t count = job.count_padding ? taps.padded : taps.inside;
        return count == 0 ? std::int64_t{0}
                          : rounded_quotient(taps.sum * area, count, job.rounding);
    });
}

Tensor<std::int32_t> tinpu_max_pool(const TinpuJob& job, const Tensor<std::int32_t>& input) {
    return each_window<std::int32_t>(job, input,
                                     [](const WindowTaps& taps) { return taps.largest; });
}

Tensor<std::int32_t> tinpu_result(const TinpuJob& job, const TinpuOperands& operands,
                                  ClipCounters& clipped) {
    if (job.work == TinpuWork::MaxPool) {
        return tinpu_max_pool(job, operands.input);
    }
    const Tensor<std::int64_t> sums = job.work == TinpuWork::AveragePool
                                          ? tinpu_pool_sums(job, operands.input)
                                          : tinpu_sums(job, operands.input, operands.weights);
    const BnormStage stage{operands.constants, job.clip};
    return bnorm(sums, stage, operands.residual ? &*operands.residual : nullptr, &clipped);
}

}  // namespace npuscope
