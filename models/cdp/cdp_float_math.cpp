// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>
#include <span>
#include <vector>

#include "models/arith/float16.h"
#include "models/cdp/cdp_lut_math.h"
#include "models/cdp/cdp_math.h"

namespace npuscope {
namespace {

constexpr int kFraction = static_cast<int>(kCdpFractionBits);

/// The low 32 bits of a bound's 38: an fp32 pattern.
float bound_of(std::int64_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(static_cast<std::uint64_t>(bits)));
}

float fp16_of(std::int16_t bits) { return widen_to_fp17(static_cast<Fp16>(bits)); }

/// One table as a value sees it.
struct FloatTable {
    std::span<const std::int16_t> entries;
    const LookupRange& range;
    bool exponent = false;
    int index_offset = 0;

    std::uint32_t last() const { return static_cast<std::uint32_t>(entries.size() - 1); }
};

LookupIndex exponent_index(float distance, const FloatTable& table) {
    const int index = std::ilogb(distance) - table.index_offset;
    if (index < 0) {
        return {LookupHit::Underflow, 0, 0};
    }
    if (index >= static_cast<int>(table.last())) {
        return {LookupHit::Overflow, table.last(), 0};
    }
    const std::uint32_t mantissa =
        std::bit_cast<std::uint32_t>(distance) & Fp32Format::mantissa_mask;
    return {LookupHit::Hit, static_cast<std::uint32_t>(index),
            mantissa >> (Fp32Format::mantissa_bits - kCdpFractionBits)};
}

LookupIndex linear_index(float distance, const FloatTable& table) {
    const auto place =
        static_cast<float>(std::ldexp(static_cast<double>(distance), -table.range.index_select));
    if (place >= static_cast<float>(table.last())) {
        return {LookupHit::Overflow, table.last(), 0};
    }
    const auto index = static_cast<std::uint32_t>(place);
    const auto fraction =
        static_cast<std::uint64_t>(std::ldexp(place - static_cast<float>(index), kFraction));
    return {LookupHit::Hit, index, fraction};
}

LookupIndex index_of(float value, const FloatTable& table) {
    const float distance = float_sub<Fp32Rules>(value, bound_of(table.range.start));
    if (is_nan(distance) || distance <= 0.0F) {
        return {LookupHit::Underflow, 0, 0};
    }
    return table.exponent ? exponent_index(distance, table) : linear_index(distance, table);
}

float extend(std::int16_t y, float distance, std::int16_t slope) {
    const float step = float_mul<Fp17Rules>(narrow_to_fp17(distance), fp16_of(slope));
    return float_add<Fp17Rules>(step, fp16_of(y));
}

float interpolate_float(std::int16_t y0, std::int16_t y1, std::uint64_t fraction) {
    const float rise = narrow_to_fp17(
        float_sub<Fp32Rules>(widen(static_cast<Fp16>(y1)), widen(static_cast<Fp16>(y0))));
    const float step = float_mul<Fp17Rules>(rise, fp17_from_fraction(fraction, kFraction));
    return float_add<Fp17Rules>(step, fp16_of(y0));
}

float float_answer(float value, const LookupIndex& place, const FloatTable& table) {
    const LookupRange& range = table.range;
    if (place.hit == LookupHit::Underflow) {
        float edge = bound_of(range.start);
        if (table.exponent) {
            edge = float_add<Fp32Rules>(edge, std::ldexp(1.0F, table.index_offset));
        }
        return extend(table.entries.front(), float_sub<Fp32Rules>(value, edge),
                      range.underflow.scale);
    }
    if (place.hit == LookupHit::Overflow) {
        return extend(table.entries.back(), float_sub<Fp32Rules>(value, bound_of(range.end)),
                      range.overflow.scale);
    }
    return interpolate_float(table.entries[place.index], table.entries[place.index + 1U],
                             place.fraction);
}

class FloatNormalizer {
 public:
    FloatNormalizer(const CdpNormalization& normalization, const LookupTables& tables,
                    const Tensor<std::int16_t>& input)
        : normalization_(normalization),
          le_{tables.le, normalization.lut.le,
              normalization.lut.le_function == LeFunction::Exponent,
              normalization.lut.le_index_offset},
          lo_{tables.lo, normalization.lut.lo},
          plane_(std::size_t{input.shape.height} * input.shape.width),
          values_(input.values.size()),
          squares_(input.values.size()) {
        // lanes and neighbours beyond the last channel are 0
        for (std::size_t i = 0; i < normalization.channels * plane_; ++i) {
            const float value = fp16_of(input.values[i]);
            values_[i] = normalization.nan_to_zero && is_nan(value) ? 0.0F : value;
            squares_[i] = float_mul<Fp32Rules>(values_[i], values_[i]);
        }
    }

    std::int16_t process(std::size_t i, LookupCounters& counters) const {
        const float found = look_up(sum_around(i), counters);
        const float center = values_[i];
        if (normalization_.multiply_bypass) {
            return store(is_nan(center) ? center : found);
        }
        return store(float_mul<Fp17Rules>(center, found));
    }

 private:
    static std::int16_t store(float value) {
        return static_cast<std::int16_t>(narrow_from_fp17(value));
    }

    float square(std::size_t i, std::int64_t distance) const {
        const std::int64_t place =
            static_cast<std::int64_t>(i) + distance * static_cast<std::int64_t>(plane_);
        const bool inside = place >= 0 && place < static_cast<std::int64_t>(squares_.size());
        return inside ? squares_[static_cast<std::size_t>(place)] : 0.0F;
    }

    float pair(std::size_t i, std::int64_t distance) const {
        return float_add<Fp32Rules>(square(i, -distance), square(i, distance));
    }

    float sum_around(std::size_t i) const {
        if (normalization_.square_sum_bypass) {
            return values_[i];
        }
        float sum = float_add<Fp32Rules>(pair(i, 1), squares_[i]);
        for (std::int64_t distance = 2; distance <= normalization_.local_size / 2; ++distance) {
            sum = float_add<Fp32Rules>(sum, pair(i, distance));
        }
        return sum;
    }

    float look_up(float value, LookupCounters& counters) const {
        const LookupIndex le = index_of(value, le_);
        const LookupIndex lo = index_of(value, lo_);
        count_cdp_lookup(le.hit, lo.hit, counters);
        return choose_table(le.hit, lo.hit, normalization_.lut) == LookupTable::Le
                   ? float_answer(value, le, le_)
                   : float_answer(value, lo, lo_);
    }

    const CdpNormalization& normalization_;
    FloatTable le_;
    FloatTable lo_;
    std::size_t plane_;
    std::vector<float> values_;
    std::vector<float> squares_;
};

}  // namespace

CdpResult normalise_floats(const CdpNormalization& normalization, const Tensor<std::int16_t>& input,
                           const LookupTables& tables) {
    const FloatNormalizer normalizer(normalization, tables, input);
    Tensor<std::int16_t> values(input.shape);
    CdpCounters counters;
    for (std::size_t i = 0; i < values.values.size(); ++i) {
        values.values[i] = normalizer.process(i, counters.lut);
    }
    return {std::move(values), counters};
}

}  // namespace npuscope
