// SPDX-License-Identifier: Apache-2.0
#include "models/sdp/sdp_lut_math.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/models/sdp/oracle.h"

namespace npuscope::sdp_lut_math_test {
namespace {

using oracle::Wide;

/// The result of one table, computed with 128-bit fractions.
struct Answer {
    LookupHit hit = LookupHit::Hit;
    std::int64_t value = 0;
};

Answer outside(LookupHit hit, std::int64_t y, std::int64_t distance, const LookupSlope& slope) {
    const Wide product = Wide{distance} * slope.scale;
    const Wide step = slope.shift < 0
                          ? product * (Wide{1} << static_cast<unsigned>(-slope.shift))
                          : oracle::shift_right(product, static_cast<unsigned>(slope.shift));
    return {hit, static_cast<std::int64_t>(oracle::clamp(y + oracle::clamp(step, 32), 32))};
}

/// Entry `index` begins at distance `begin` and is `length` long, times 2^scale_bits.
template <class Entries>
std::int64_t between(const Entries& entries, std::size_t index, Wide into, Wide length) {
    const Wide fraction = (into << 35U) / length;
    const Wide sum = entries[index] * ((Wide{1} << 35U) - fraction) + entries[index + 1] * fraction;
    return static_cast<std::int64_t>(oracle::shift_right(sum, 35));
}

template <class Entries>
Answer linear(std::int64_t x, const Entries& entries, const LookupRange& range) {
    const std::int64_t distance = x - range.start;
    if (distance <= 0) {
        return outside(LookupHit::Underflow, entries.front(), distance, range.underflow);
    }
    const bool fine = range.index_select < 0;
    const Wide length = fine ? Wide{1} : Wide{1} << static_cast<unsigned>(range.index_select);
    const Wide scaled =
        fine ? Wide{distance} << static_cast<unsigned>(-range.index_select) : Wide{distance};
    if (scaled / length >= static_cast<Wide>(entries.size()) - 1) {
        return outside(LookupHit::Overflow, entries.back(), x - range.end, range.overflow);
    }
    return {LookupHit::Hit,
            between(entries, static_cast<std::size_t>(scaled / length), scaled % length, length)};
}

Answer exponent(std::int64_t x, const LookupTables& tables, const LookupConfig& config) {
    const std::int64_t distance = x - config.le.start;
    const std::int64_t first =
        config.le_index_offset < 0 ? 0 : std::int64_t{1} << config.le_index_offset;
    int log2 = -1;
    while (distance > 0 && (std::int64_t{1} << (log2 + 1)) <= distance) {
        ++log2;
    }
    if (distance <= 0 || log2 < config.le_index_offset) {
        return outside(LookupHit::Underflow, tables.le.front(), distance - first,
                       config.le.underflow);
    }
    const int index = log2 - config.le_index_offset;
    if (index >= 64) {
        return outside(LookupHit::Overflow, tables.le.back(), x - config.le.end,
                       config.le.overflow);
    }
    const std::int64_t length = std::int64_t{1} << log2;
    return {LookupHit::Hit,
            between(tables.le, static_cast<std::size_t>(index), distance - length, length)};
}

std::int64_t expected(std::int64_t x, const LookupTables& tables, const LookupConfig& config) {
    const Answer le = config.le_function == LeFunction::Linear ? linear(x, tables.le, config.le)
                                                               : exponent(x, tables, config);
    const Answer lo = linear(x, tables.lo, config.lo);
    LookupTable chosen = config.hybrid_priority;
    if (le.hit == LookupHit::Underflow && lo.hit == LookupHit::Underflow) {
        chosen = config.underflow_priority;
    } else if (le.hit == LookupHit::Overflow && lo.hit == LookupHit::Overflow) {
        chosen = config.overflow_priority;
    } else if (le.hit == LookupHit::Hit && lo.hit != LookupHit::Hit) {
        chosen = LookupTable::Le;
    } else if (le.hit != LookupHit::Hit && lo.hit == LookupHit::Hit) {
        chosen = LookupTable::Lo;
    }
    return chosen == LookupTable::Le ? le.value : lo.value;
}

LookupTables random_tables(std::mt19937& random) {
    LookupTables tables;
    for (std::int16_t& entry : tables.le) {
        entry = static_cast<std::int16_t>(random());
    }
    for (std::int16_t& entry : tables.lo) {
        entry = static_cast<std::int16_t>(random());
    }
    return tables;
}

LookupRange random_range(std::mt19937& random, std::int64_t start, int select) {
    const auto slope = [&random] {
        return LookupSlope{static_cast<std::int16_t>(random()),
                           static_cast<int>(random() % 32) - 16};
    };
    return {start, start + static_cast<std::int64_t>(random() % 100000), select, slope(), slope()};
}

LookupConfig random_config(std::mt19937& random) {
    const auto table = [&random] { return random() % 2 == 0 ? LookupTable::Le : LookupTable::Lo; };
    const auto start = [&random] { return static_cast<std::int64_t>(random() % 60000) - 30000; };
    LookupConfig config;
    config.le_function = random() % 2 == 0 ? LeFunction::Exponent : LeFunction::Linear;
    config.le_index_offset = static_cast<int>(random() % 20) - 6;
    config.le = random_range(random, start(), static_cast<int>(random() % 14) - 3);
    config.lo = random_range(random, start(), static_cast<int>(random() % 12) - 3);
    config.underflow_priority = table();
    config.overflow_priority = table();
    config.hybrid_priority = table();
    return config;
}

void check(const std::vector<std::int32_t>& inputs, const LookupTables& tables,
           const LookupConfig& config) {
    std::vector<std::int32_t> values = inputs;
    LookupCounters counters;
    run_sdp_lut(config, tables, values, counters);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        ASSERT_EQ(values[i], expected(inputs[i], tables, config)) << "x " << inputs[i];
    }
    EXPECT_EQ(counters.underflow + counters.overflow + counters.hybrid, inputs.size());
}

TEST(SdpLutMath, EverySixteenBitInputMeetsTheOracleUnderRandomSettings) {
    std::mt19937 random(3);
    std::vector<std::int32_t> inputs;
    for (std::int32_t x = -32768; x <= 32767; ++x) {
        inputs.push_back(x);
    }
    for (int round = 0; round < 40; ++round) {
        check(inputs, random_tables(random), random_config(random));
    }
}

TEST(SdpLutMath, WideInputsMeetTheOracle) {
    std::mt19937 random(5);
    for (int round = 0; round < 100; ++round) {
        LookupConfig config = random_config(random);
        config.le.index_select += 16;
        config.lo.index_select += 16;
        std::vector<std::int32_t> inputs;
        for (int i = 0; i < 500; ++i) {  // keeps x - start below 2^31
            inputs.push_back(static_cast<std::int32_t>(random() >> 2U) - (1 << 28));
        }
        check(inputs, random_tables(random), config);
    }
}

LookupConfig linear_config() {
    LookupConfig config;
    config.le_function = LeFunction::Linear;
    config.le.start = 100;
    config.lo.start = 100;
    return config;
}

TEST(SdpLutMath, TheStartItselfUnderflows) {
    const LookupConfig config = linear_config();
    EXPECT_EQ(sdp_lut_index(100, LookupTable::Le, config).hit, LookupHit::Underflow);
    EXPECT_EQ(sdp_lut_index(101, LookupTable::Le, config).hit, LookupHit::Hit);
}

TEST(SdpLutMath, TheLastEntriesAreOnlyReachedAsOverflow) {
    const LookupConfig config = linear_config();
    EXPECT_EQ(sdp_lut_index(163, LookupTable::Le, config).index, 63U);
    EXPECT_EQ(sdp_lut_index(164, LookupTable::Le, config).hit, LookupHit::Overflow);
    EXPECT_EQ(sdp_lut_index(355, LookupTable::Lo, config).index, 255U);
    EXPECT_EQ(sdp_lut_index(356, LookupTable::Lo, config).hit, LookupHit::Overflow);
}

TEST(SdpLutMath, AnExponentBelowTheOffsetUnderflows) {
    LookupConfig config;
    config.le_index_offset = 4;
    EXPECT_EQ(sdp_lut_index(15, LookupTable::Le, config).hit, LookupHit::Underflow);
    EXPECT_EQ(sdp_lut_index(16, LookupTable::Le, config).hit, LookupHit::Hit);
    EXPECT_EQ(sdp_lut_index(24, LookupTable::Le, config).fraction, std::uint64_t{1} << 34U);
}

TEST(SdpLutMath, DistancesOf31BitsAndMoreAreTakenForNegativeByTheSignDetector) {
    LookupConfig config;
    config.le.start = INT32_MIN;
    // 2^31: one sign bit, so the leading position reads 30; the bits below it are 0
    EXPECT_EQ(sdp_lut_index(0, LookupTable::Le, config).index, 30U);
    // 3 * 2^30: two leading ones, position 29
    EXPECT_EQ(sdp_lut_index(1 << 30, LookupTable::Le, config).index, 29U);
    EXPECT_EQ(sdp_lut_index(INT32_MAX, LookupTable::Le, config).hit, LookupHit::Overflow);
}

TEST(SdpLutMath, CountersFollowTheTableThatAnswers) {
    LookupConfig config = linear_config();
    config.lo.start = 0;
    config.lo.index_select = 4;
    std::vector<std::int32_t> values{-5, 50, 120, 3000, 100000};
    LookupCounters counters;
    run_sdp_lut(config, {}, values, counters);
    EXPECT_EQ(counters, (LookupCounters{1, 1, 3, 1, 3}));
}

}  // namespace
}  // namespace npuscope::sdp_lut_math_test
