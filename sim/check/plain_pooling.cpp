// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <utility>

#include "models/arith/fixed_point.h"
#include "models/pdp/pdp_math.h"
#include "sim/check/plain_operators.h"

namespace npuscope {
namespace {

/// The part of a window that is inside the input, along one axis.
struct WindowPart {
    std::int64_t first = 0;
    std::int64_t end = 0;
    std::uint32_t missing = 0;
};

WindowPart window_part(std::uint32_t output, std::uint32_t stride, std::uint32_t pad,
                       std::uint32_t kernel, std::uint32_t size) {
    const std::int64_t start = std::int64_t{output} * stride - pad;
    WindowPart part{std::max<std::int64_t>(start, 0), std::min<std::int64_t>(start + kernel, size),
                    0};
    part.missing = kernel - static_cast<std::uint32_t>(part.end - part.first);
    return part;
}

std::int32_t pool_integers(const PdpPooling& pooling, const Tensor<std::int32_t>& input,
                           std::uint32_t c, const WindowPart& rows, const WindowPart& columns) {
    const bool bytes = pooling.precision == Precision::Int8;
    // source: NV_NVDLA_PDP_CORE_cal1d.v and cal2d.v, widths of sums
    const unsigned line_bits = bytes ? 11 : 32;
    const unsigned window_bits = bytes ? 14 : 32;
    const auto wire = [](std::int64_t value, unsigned bits) {
        return sign_extend(static_cast<std::uint64_t>(value), bits);
    };
    std::int64_t sum = 0;
    std::int32_t most = std::numeric_limits<std::int32_t>::min();
    std::int32_t least = std::numeric_limits<std::int32_t>::max();
    for (std::int64_t y = rows.first; y < rows.end; ++y) {
        std::int64_t line = wire(pooling.pad_value[columns.missing], line_bits);
        for (std::int64_t x = columns.first; x < columns.end; ++x) {
            const std::int32_t value =
                input.at(c, static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(x));
            line += value;
            most = std::max(most, value);
            least = std::min(least, value);
        }
        sum += wire(line, line_bits);
    }
    switch (pooling.method) {
        case PoolingMethod::Max:
            return most;
        case PoolingMethod::Min:
            return least;
        case PoolingMethod::Average:
            break;
    }
    sum += wire(std::int64_t{pooling.pad_value[rows.missing]} * pooling.kernel_width, window_bits);
    const auto all = static_cast<std::int32_t>(sum);
    return bytes ? std::int32_t{pdp_average(all, pooling.recip_width, pooling.recip_height)}
                 : std::int32_t{pdp_average_int16(all, pooling.recip_width, pooling.recip_height)};
}

/// The window as a cube of its own: the order of fp16 sums is the unit's.
std::int32_t pool_floats_of(PdpPooling pooling, const Tensor<std::int32_t>& input, std::uint32_t c,
                            const WindowPart& rows, const WindowPart& columns) {
    Tensor<std::int16_t> window({1, static_cast<std::uint32_t>(rows.end - rows.first),
                                 static_cast<std::uint32_t>(columns.end - columns.first)});
    for (std::uint32_t y = 0; y < window.shape.height; ++y) {
        for (std::uint32_t x = 0; x < window.shape.width; ++x) {
            window.at(0, y, x) =
                static_cast<std::int16_t>(input.at(c, static_cast<std::uint32_t>(rows.first) + y,
                                                   static_cast<std::uint32_t>(columns.first) + x));
        }
    }
    pooling.pad_top = rows.missing;
    pooling.parts = {{0, window.shape.width, columns.missing, 0, 1}};
    pooling.output = {1, 1, 1};
    return pool_floats(pooling, window).values.front();
}

}  // namespace

PlainSurface plain_pdp(const SparseMemory& memory, const PdpJob& job, const PlainCubes* flying) {
    const PdpPooling& pooling = job.pooling;
    const Tensor<std::int32_t> input =
        flying != nullptr ? flying->front() : plain_cube(memory, *job.source);
    const std::uint32_t left = pooling.parts.front().pad_left;
    PlainSurface surface;
    surface.shape = job.output;
    surface.shape.channels = std::min(job.destination.shape.channels, input.shape.channels);
    surface.precision = pooling.precision;
    Tensor<std::int32_t> result(surface.shape);
    for (std::uint32_t c = 0; c < surface.shape.channels; ++c) {
        for (std::uint32_t y = 0; y < surface.shape.height; ++y) {
            const WindowPart rows = window_part(y, pooling.stride_y, pooling.pad_top,
                                                pooling.kernel_height, input.shape.height);
            for (std::uint32_t x = 0; x < surface.shape.width; ++x) {
                const WindowPart columns =
                    window_part(x, pooling.stride_x, left, pooling.kernel_width, input.shape.width);
                result.at(c, y, x) = pooling.precision == Precision::Fp16
                                         ? pool_floats_of(pooling, input, c, rows, columns)
                                         : pool_integers(pooling, input, c, rows, columns);
            }
        }
    }
    surface.batches = {std::move(result)};
    surface.address = [cube = job.destination](const SurfacePlace& place) {
        return in_cube(cube, place);
    };
    return surface;
}

}  // namespace npuscope
