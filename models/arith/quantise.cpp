// SPDX-License-Identifier: Apache-2.0
#include "models/arith/quantise.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/arith/quantise.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace npuscope {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::ScalableTag<float>;
using Integers = hn::RebindToSigned<Floats>;

/// float32 products of whole vectors; returns how many values are done, and if all were numbers.
template <class T>
bool quantise_vectors(const float* values, std::size_t count, float factor, T* fixed,
                      std::size_t* done) {
    const Floats floats;
    const hn::Rebind<T, Floats> narrow;
    const auto by = hn::Set(floats, factor);
    const auto low = hn::Set(floats, static_cast<float>(std::numeric_limits<T>::min()));
    const auto high = hn::Set(floats, static_cast<float>(largest_fixed<T>));
    auto numbers = hn::Eq(by, by);
    std::size_t i = 0;
    for (; i + hn::Lanes(floats) <= count; i += hn::Lanes(floats)) {
        const auto value = hn::Mul(hn::LoadU(floats, values + i), by);
        const auto known = hn::Eq(value, value);
        numbers = hn::And(numbers, known);
        const auto clipped = hn::Min(hn::Max(hn::IfThenElseZero(known, value), low), high);
        hn::StoreU(hn::DemoteTo(narrow, hn::NearestInt(clipped)), narrow, fixed + i);
    }
    *done = i;
    return hn::AllTrue(floats, numbers);
}

bool quantise_bytes(const float* values, std::size_t count, float factor, std::int8_t* fixed,
                    std::size_t* done) {
    return quantise_vectors(values, count, factor, fixed, done);
}
bool quantise_halves(const float* values, std::size_t count, float factor, std::int16_t* fixed,
                     std::size_t* done) {
    return quantise_vectors(values, count, factor, fixed, done);
}

/// fixed / factor; vectors of int32 widened from the narrow integers.
template <class T>
std::size_t dequantise_vectors(const T* fixed, std::size_t count, float factor, float* values) {
    const Floats floats;
    const Integers integers;
    const hn::Rebind<T, Floats> narrow;
    const auto by = hn::Set(floats, factor);
    std::size_t i = 0;
    for (; i + hn::Lanes(floats) <= count; i += hn::Lanes(floats)) {
        const auto wide = hn::PromoteTo(integers, hn::LoadU(narrow, fixed + i));
        hn::StoreU(hn::Div(hn::ConvertTo(floats, wide), by), floats, values + i);
    }
    return i;
}
std::size_t dequantise_bytes(const std::int8_t* fixed, std::size_t count, float factor,
                             float* values) {
    return dequantise_vectors(fixed, count, factor, values);
}
std::size_t dequantise_halves(const std::int16_t* fixed, std::size_t count, float factor,
                              float* values) {
    return dequantise_vectors(fixed, count, factor, values);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace npuscope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npuscope {

HWY_EXPORT(quantise_bytes);
HWY_EXPORT(quantise_halves);
HWY_EXPORT(dequantise_bytes);
HWY_EXPORT(dequantise_halves);

namespace {

template <class T, class Real>
T rounded(Real product) {
    if constexpr (std::is_same_v<T, float>) {
        return static_cast<float>(std::nearbyint(product));
    } else {
        const Real low = std::numeric_limits<T>::min();
        const Real high = largest_fixed<T>;
        return static_cast<T>(std::nearbyint(std::clamp(product, low, high)));
    }
}

template <class T>
T quantise_one(float value, float factor, QuantiseMath math) {
    const float single = value * factor;
    if (std::isnan(single)) {
        return T{};
    }
    return math == QuantiseMath::Float32
               ? rounded<T>(single)
               : rounded<T>(static_cast<double>(value) * static_cast<double>(factor));
}

}  // namespace

std::vector<float> quantise_factors(std::span<const float> scale, std::span<const int> radix) {
    const std::size_t count = std::max(scale.size(), radix.size());
    const bool agree = (scale.size() == count || scale.size() == 1) &&
                       (radix.size() == count || radix.size() == 1);
    std::vector<float> factors;
    for (std::size_t i = 0; agree && i < count; ++i) {
        factors.push_back(
            std::ldexp(scale[scale.size() == 1 ? 0 : i], radix[radix.size() == 1 ? 0 : i]));
    }
    return factors;
}

template <class T>
bool quantise(std::span<const float> values, float factor, QuantiseMath math, T* fixed) {
    std::size_t done = 0;
    bool numbers = true;
    if (math == QuantiseMath::Float32) {
        if constexpr (std::is_same_v<T, std::int8_t>) {
            numbers = HWY_DYNAMIC_DISPATCH(quantise_bytes)(values.data(), values.size(), factor,
                                                           fixed, &done);
        } else if constexpr (std::is_same_v<T, std::int16_t>) {
            numbers = HWY_DYNAMIC_DISPATCH(quantise_halves)(values.data(), values.size(), factor,
                                                            fixed, &done);
        }
    }
    for (; done < values.size(); ++done) {
        numbers = numbers && !std::isnan(values[done] * factor);
        fixed[done] = quantise_one<T>(values[done], factor, math);
    }
    return numbers;
}

template <class T>
bool quantise_each(std::span<const float> values, std::span<const float> factors, QuantiseMath math,
                   T* fixed) {
    bool numbers = true;
    for (std::size_t i = 0; i < values.size(); ++i) {
        numbers = numbers && !std::isnan(values[i] * factors[i]);
        fixed[i] = quantise_one<T>(values[i], factors[i], math);
    }
    return numbers;
}

template <class T>
void dequantise(std::span<const T> fixed, float factor, float* values) {
    std::size_t done = 0;
    if constexpr (std::is_same_v<T, std::int8_t>) {
        done = HWY_DYNAMIC_DISPATCH(dequantise_bytes)(fixed.data(), fixed.size(), factor, values);
    } else if constexpr (std::is_same_v<T, std::int16_t>) {
        done = HWY_DYNAMIC_DISPATCH(dequantise_halves)(fixed.data(), fixed.size(), factor, values);
    }
    for (; done < fixed.size(); ++done) {
        values[done] = static_cast<float>(fixed[done]) / factor;
    }
}

template <class T>
void dequantise_each(std::span<const T> fixed, std::span<const float> factors, float* values) {
    for (std::size_t i = 0; i < fixed.size(); ++i) {
        values[i] = static_cast<float>(fixed[i]) / factors[i];
    }
}

template bool quantise(std::span<const float>, float, QuantiseMath, std::int8_t*);
template bool quantise(std::span<const float>, float, QuantiseMath, std::int16_t*);
template bool quantise(std::span<const float>, float, QuantiseMath, float*);
template bool quantise_each(std::span<const float>, std::span<const float>, QuantiseMath,
                            std::int8_t*);
template bool quantise_each(std::span<const float>, std::span<const float>, QuantiseMath,
                            std::int16_t*);
template bool quantise_each(std::span<const float>, std::span<const float>, QuantiseMath, float*);
template void dequantise(std::span<const std::int8_t>, float, float*);
template void dequantise(std::span<const std::int16_t>, float, float*);
template void dequantise(std::span<const float>, float, float*);
template void dequantise_each(std::span<const std::int8_t>, std::span<const float>, float*);
template void dequantise_each(std::span<const std::int16_t>, std::span<const float>, float*);
template void dequantise_each(std::span<const float>, std::span<const float>, float*);

}  // namespace npuscope
#endif  // HWY_ONCE
