// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>

#include "sim/config/field_types.h"

namespace npuscope {
namespace {

struct Row {
    std::string_view text;
    UnitKind kind;
    std::uint64_t value;
};

TEST(QuantityText, ReadsNumbersWithAndWithoutUnits) {
    const Row rows[] = {{"0", UnitKind::Plain, 0},
                        {"512", UnitKind::Plain, 512},
                        {"0x80000000", UnitKind::ByteAddress, 0x80000000},
                        {"0XfF", UnitKind::Plain, 255},
                        {"18446744073709551615", UnitKind::Plain, ~0ULL},
                        {"128 KiB", UnitKind::ByteCount, 131072},
                        {"2MiB", UnitKind::ByteCount, 2 << 20},
                        {"64 B", UnitKind::ByteCount, 64},
                        {"64", UnitKind::ByteCount, 64},
                        {"1.5 KiB", UnitKind::ByteCount, 1536},
                        {"1 GHz", UnitKind::Frequency, 1'000'000'000},
                        {"1.2 GHz", UnitKind::Frequency, 1'200'000'000},
                        {"50 cycles", UnitKind::CycleCount, 50},
                        {"1 cycle", UnitKind::CycleCount, 1}};
    for (const Row& row : rows) {
        const auto result = parse_quantity(row.text, row.kind);
        ASSERT_TRUE(std::holds_alternative<std::uint64_t>(result)) << row.text;
        EXPECT_EQ(std::get<std::uint64_t>(result), row.value) << row.text;
    }
}

TEST(QuantityText, RefusesWhatIsNoNumberOfTheKind) {
    const Row rows[] = {{"", UnitKind::Plain, 0},
                        {"010", UnitKind::Plain, 0},
                        {"00", UnitKind::Plain, 0},
                        {"-1", UnitKind::Plain, 0},
                        {"+1", UnitKind::Plain, 0},
                        {"1_000", UnitKind::Plain, 0},
                        {"1e3", UnitKind::Plain, 0},
                        {"1.5", UnitKind::Plain, 0},
                        {"0x", UnitKind::Plain, 0},
                        {"0xg", UnitKind::Plain, 0},
                        {"0x10000000000000000", UnitKind::Plain, 0},
                        {"18446744073709551616", UnitKind::Plain, 0},
                        {"16777216 TiB", UnitKind::ByteCount, 0},
                        {"17179869184 GiB", UnitKind::ByteCount, 0},
                        {"12 KB", UnitKind::ByteCount, 0},
                        {"1.0001 KiB", UnitKind::ByteCount, 0},
                        {"50 cycles", UnitKind::ByteCount, 0},
                        {"50 ns", UnitKind::CycleCount, 0},
                        {"5 B", UnitKind::Plain, 0},
                        {" 5", UnitKind::Plain, 0}};
    for (const Row& row : rows) {
        const auto result = parse_quantity(row.text, row.kind);
        EXPECT_TRUE(std::holds_alternative<QuantityFault>(result)) << row.text;
    }
}

TEST(QuantityText, FaultNamesTheTextAndTheWayToWriteIt) {
    const auto fault = std::get<QuantityFault>(parse_quantity("010", UnitKind::CycleCount));
    EXPECT_EQ(fault.sentence, "'010' looks octal");
    EXPECT_EQ(fault.remedy, "write cycles as 50 or 50 cycles");
    const auto wrong_unit = std::get<QuantityFault>(parse_quantity("12 KB", UnitKind::ByteCount));
    EXPECT_EQ(wrong_unit.sentence, "'12 KB' is not a number of bytes");
    const auto sentence = [](const char* text, UnitKind kind) {
        return std::get<QuantityFault>(parse_quantity(text, kind)).sentence;
    };
    EXPECT_EQ(sentence("1.5", UnitKind::Plain), "'1.5' is not a whole number");
    EXPECT_EQ(sentence("0.3 KiB", UnitKind::ByteCount), "'0.3 KiB' is not a whole number of bytes");
    EXPECT_EQ(sentence("1.0000000001 GHz", UnitKind::Frequency),
              "'1.0000000001 GHz' is not a whole number of hertz");
    EXPECT_EQ(sentence("0.0000000001 GiB", UnitKind::ByteCount),
              "'0.0000000001 GiB' has more than 9 decimals");
    EXPECT_EQ(std::get<std::uint64_t>(parse_quantity("1.50000000000 GHz", UnitKind::Frequency)),
              1'500'000'000U);
    EXPECT_EQ(std::get<std::uint64_t>(parse_quantity("20.000000001 GHz", UnitKind::Frequency)),
              20'000'000'001U);
    EXPECT_EQ(sentence("17179869184 GiB", UnitKind::ByteCount),
              "'17179869184 GiB' does not fit into 64 bits");
}

TEST(QuantityText, SpellsValuesWithTheLargestExactUnit) {
    EXPECT_EQ(format_quantity(131072, UnitKind::ByteCount), "128 KiB");
    EXPECT_EQ(format_quantity(1000, UnitKind::ByteCount), "1000 B");
    EXPECT_EQ(format_quantity(0, UnitKind::ByteCount), "0 B");
    EXPECT_EQ(format_quantity(1'000'000'000, UnitKind::Frequency), "1 GHz");
    EXPECT_EQ(format_quantity(50, UnitKind::CycleCount), "50 cycles");
    EXPECT_EQ(format_quantity(0x80000000, UnitKind::ByteAddress), "0x80000000");
    EXPECT_EQ(format_quantity(7, UnitKind::Plain), "7");
}

TEST(QuantityText, WhatIsWrittenIsReadBackForEveryKindAndMagnitude) {
    std::mt19937_64 random(1);
    for (const UnitKind kind : {UnitKind::Plain, UnitKind::ByteCount, UnitKind::Frequency,
                                UnitKind::CycleCount, UnitKind::ByteAddress}) {
        for (int i = 0; i < 2000; ++i) {
            const std::uint64_t value = random() >> (random() % 64) << (random() % 40);
            const auto back = parse_quantity(format_quantity(value, kind), kind);
            ASSERT_TRUE(std::holds_alternative<std::uint64_t>(back)) << value;
            ASSERT_EQ(std::get<std::uint64_t>(back), value);
        }
    }
}

}  // namespace
}  // namespace npuscope
