// SPDX-License-Identifier: Apache-2.0
#include "models/cdp/cdp_lut_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace npuscope::cdp_lut_math_test {
namespace {

__extension__ typedef __int128 Wide;

Wide half_away(Wide value, unsigned shift) {
    const Wide magnitude = value < 0 ? -value : value;
    const Wide quotient = (magnitude + ((Wide{1} << shift) >> 1)) / (Wide{1} << shift);
    return value < 0 ? -quotient : quotient;
}

std::int64_t clamp16(Wide value) {
    return static_cast<std::int64_t>(std::clamp<Wide>(value, -32768, 32767));
}

struct Answer {
    LookupHit hit = LookupHit::Hit;
    std::int64_t value = 0;
};

Answer outside(LookupHit hit, std::int64_t y, std::int64_t distance, const LookupSlope& slope) {
    const Wide product = Wide{distance} * slope.scale;
    const Wide step = slope.shift < 0 ? product * (Wide{1} << static_cast<unsigned>(-slope.shift))
                                      : half_away(product, static_cast<unsigned>(slope.shift));
    return {hit, clamp16(y + step)};
}

/// `into` of `length` from entry `index` on, the fraction cut to 16 bits.
template <class Entries>
Answer between(const Entries& entries, std::int64_t index, std::int64_t into, std::int64_t length) {
    const auto i = static_cast<std::size_t>(index);
    const std::int64_t fraction = into * 65536 / length;
    return {LookupHit::Hit,
            clamp16(entries[i] + half_away(Wide{entries[i + 1] - entries[i]} * fraction, 16))};
}

template <class Entries>
Answer linear(std::int64_t x, const Entries& entries, const LookupRange& range) {
    const std::int64_t distance = x - range.start;
    if (distance <= 0) {
        return outside(LookupHit::Underflow, entries.front(), distance, range.underflow);
    }
    const int select = range.index_select;
    const std::int64_t length = select < 0 ? 1 : std::int64_t{1} << select;
    const std::int64_t scaled = select < 0 ? distance << -select : distance;
    if (scaled / length >= static_cast<std::int64_t>(entries.size()) - 1) {
        return outside(LookupHit::Overflow, entries.back(), x - range.end, range.overflow);
    }
    return between(entries, scaled / length, scaled % length, length);
}

Answer exponent(std::int64_t x, const LookupTables& tables, const LookupConfig& config) {
    const std::int64_t distance = x - config.le.start;
    const int offset = config.le_index_offset;
    int log2 = -1;
    for (std::int64_t rest = distance; rest > 0; rest /= 2) {
        ++log2;
    }
    if (distance <= 0 || log2 < offset) {
        const std::int64_t first = offset < 0 ? 0 : std::int64_t{1} << offset;
        return outside(LookupHit::Underflow, tables.le.front(), distance - first,
                       config.le.underflow);
    }
    if (log2 - offset >= 64) {
        return outside(LookupHit::Overflow, tables.le.back(), x - config.le.end,
                       config.le.overflow);
    }
    const std::int64_t length = std::int64_t{1} << log2;
    return between(tables.le, log2 - offset, distance - length, length);
}

std::int64_t expected(std::int64_t x, const LookupTables& tables, const LookupConfig& config) {
    const Answer le = config.le_function == LeFunction::Linear ? linear(x, tables.le, config.le)
                                                               : exponent(x, tables, config);
    const Answer lo = linear(x, tables.lo, config.lo);
    const bool le_hit = le.hit == LookupHit::Hit;
    const bool lo_hit = lo.hit == LookupHit::Hit;
    if (le_hit != lo_hit) {
        return le_hit ? le.value : lo.value;
    }
    LookupTable chosen = config.hybrid_priority;
    if (!le_hit && le.hit == lo.hit) {
        chosen =
            le.hit == LookupHit::Underflow ? config.underflow_priority : config.overflow_priority;
    }
    return chosen == LookupTable::Le ? le.value : lo.value;
}

LookupConfig random_config(std::mt19937& random) {
    const auto table = [&random] { return random() % 2 == 0 ? LookupTable::Le : LookupTable::Lo; };
    const auto range = [&random](int lowest, int highest) {
        const auto slope = [&random] {
            return LookupSlope{static_cast<std::int16_t>(random()),
                               static_cast<int>(random() % 32) - 16};
        };
        const auto start = static_cast<std::int64_t>(random() % 40000) - 20000;
        const int select =
            lowest + static_cast<int>(random() % static_cast<unsigned>(highest - lowest + 1));
        return LookupRange{start, start + static_cast<std::int64_t>(random() % 600000), select,
                           slope(), slope()};
    };
    LookupConfig config;
    config.le_function = random() % 2 == 0 ? LeFunction::Exponent : LeFunction::Linear;
    config.le_index_offset = static_cast<int>(random() % 24) - 8;
    config.le = range(-4, 18);
    config.lo = range(-4, 16);
    config.underflow_priority = table();
    config.overflow_priority = table();
    config.hybrid_priority = table();
    return config;
}

TEST(CdpLutMath, EverySumOfSquaresMeetsTheOracleUnderRandomSettings) {
    std::mt19937 random(29);
    for (int round = 0; round < 60; ++round) {
        LookupTables tables;
        for (std::int16_t& entry : tables.le) {
            entry = static_cast<std::int16_t>(random());
        }
        for (std::int16_t& entry : tables.lo) {
            entry = static_cast<std::int16_t>(random());
        }
        const LookupConfig config = random_config(random);
        LookupCounters counters;
        std::uint64_t looked_up = 0;
        for (std::int32_t x = -256; x <= 9 * 65536; x += 1 + x / 4096, ++looked_up) {
            ASSERT_EQ(cdp_lookup(x, config, tables, counters), expected(x, tables, config)) << x;
        }
        EXPECT_EQ(counters.underflow + counters.overflow + counters.hybrid + counters.le_hit +
                      counters.lo_hit,
                  looked_up);
    }
}

TEST(CdpLutMath, EntryEdgesAreWhereTheTablesSay) {
    LookupConfig config;
    config.le_function = LeFunction::Linear;
    config.le.index_select = 2;
    config.lo.index_select = 1;
    EXPECT_EQ(cdp_lut_index(0, LookupTable::Le, config).hit, LookupHit::Underflow);
    EXPECT_EQ(cdp_lut_index(255, LookupTable::Le, config).index, 63U);
    EXPECT_EQ(cdp_lut_index(255, LookupTable::Le, config).fraction, 49152U);
    EXPECT_EQ(cdp_lut_index(256, LookupTable::Le, config).hit, LookupHit::Overflow);
    EXPECT_EQ(cdp_lut_index(511, LookupTable::Lo, config).index, 255U);
    EXPECT_EQ(cdp_lut_index(512, LookupTable::Lo, config).hit, LookupHit::Overflow);
}

TEST(CdpLutMath, ComparisonsSeeTheLow22BitsOfAStart) {
    LookupConfig config;
    config.lo.start = std::int64_t{1} << 22U;  // 0 on the comparator's wire
    EXPECT_EQ(cdp_lut_index(5, LookupTable::Lo, config).index, 5U);
    config.lo.start = (std::int64_t{1} << 22U) - 3;  // -3
    EXPECT_EQ(cdp_lut_index(-3, LookupTable::Lo, config).hit, LookupHit::Underflow);
    EXPECT_EQ(cdp_lut_index(-2, LookupTable::Lo, config).index, 1U);
}

TEST(CdpLutMath, AnIndexSelectCountsWithItsLowSixBits) {
    LookupConfig config;
    config.lo.index_select = 64 + 3;
    EXPECT_EQ(cdp_lut_index(16, LookupTable::Lo, config).index, 2U);
    config.lo.index_select = 63;  // -1
    EXPECT_EQ(cdp_lut_index(16, LookupTable::Lo, config).index, 32U);
}

TEST(CdpLutMath, EachElementIsCountedOnce) {
    LookupConfig config;
    config.le_function = LeFunction::Linear;
    config.le.start = 100;
    LookupCounters counters;
    for (const std::int32_t x : {-1, 50, 120, 200, 1000}) {
        cdp_lookup(x, config, {}, counters);
    }
    EXPECT_EQ(counters, (LookupCounters{1, 1, 1, 0, 2}));
}

}  // namespace
}  // namespace npuscope::cdp_lut_math_test
