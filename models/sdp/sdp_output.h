// SPDX-License-Identifier: Apache-2.0
// The last step of the SDP: the output convertor on a run of values, the element types that they
// leave as, and what the saturation counter sees.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "models/arith/float16.h"
#include "models/layout/precision.h"
#include "models/sdp/sdp_stages.h"
#include "models/sdp/sdp_x_math.h"

namespace npuscope {

// source: NV_NVDLA_SDP_HLS_C_int.v: the shifter saturates to 17 bits, and only that is counted
constexpr double kShifterMax = 65535.0;
constexpr double kShifterMin = -65536.0;

/// Limits of the quotient before it is rounded; from the upper one on, or below the lower one, an
/// element counts as saturated.
struct CountLimits {
    double low;
    double high;
};
constexpr CountLimits kExactCount{kShifterMin, kShifterMax + 0.5};
constexpr CountLimits kCoarseCount{kShifterMin - 1.0, kShifterMax + 2.0};

inline std::uint64_t count_saturated(const SdpStages& stages, std::span<const double> values) {
    const Conversion& convertor = stages.convertor;
    const CountLimits limits = stages.coarse_saturation ? kCoarseCount : kExactCount;
    const double factor = std::ldexp(1.0, -static_cast<int>(convertor.shift));
    const double offset = convertor.offset;
    const double scale = convertor.scale;
    std::uint64_t saturated = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double scaled = (values[i] - offset) * scale * factor;
        const bool cut = scaled >= limits.high || scaled < limits.low;
        saturated += cut ? std::uint64_t{1} : std::uint64_t{0};
    }
    return saturated;
}

/// What one type of output is stored as, and the range that the convertor leaves it.
template <Precision out>
struct Output;
template <>
struct Output<Precision::Int8> {
    using Element = std::int8_t;
    static constexpr double low = -128.0;
    static constexpr double high = 127.0;
};
template <>
struct Output<Precision::Int16> {
    using Element = std::int16_t;
    static constexpr double low = -32768.0;
    static constexpr double high = 32767.0;
};
/// From an integer of 17 bits.
template <>
struct Output<Precision::Fp16> {
    using Element = std::int16_t;
    static constexpr double low = kShifterMin;
    static constexpr double high = kShifterMax;
};

/// In place; the results fit the output's range.
template <Precision out>
void through_convertor(const Conversion& convertor, std::span<double> values) {
    const double factor = rounding_factor(convertor.shift);
    const double offset = convertor.offset;
    const double scale = convertor.scale;
    for (double& value : values) {
        value = scale_round((value - offset) * scale, factor, Output<out>::low, Output<out>::high);
    }
}

inline void to_integers(std::span<const double> values, std::span<std::int32_t> integers) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        integers[i] = static_cast<std::int32_t>(values[i]);
    }
}

/// The low eight or sixteen bits.
template <class Element>
void to_elements(std::span<const std::int32_t> integers, Element* out) {
    for (std::size_t i = 0; i < integers.size(); ++i) {
        out[i] = static_cast<Element>(integers[i]);
    }
}

/// Elements of fp16 that have the largest magnitude: they count as saturated.
inline std::uint64_t count_largest(std::span<const std::int16_t> elements) {
    constexpr int kLargest = static_cast<int>(Fp16Format::largest);
    return static_cast<std::uint64_t>(std::ranges::count_if(
        elements, [](std::int16_t bits) { return (bits & 0x7FFF) == kLargest; }));
}

}  // namespace npuscope
