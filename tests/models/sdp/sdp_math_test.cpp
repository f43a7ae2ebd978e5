// SPDX-License-Identifier: Apache-2.0
#include "models/sdp/sdp_math.h"

#include <gtest/gtest.h>

#include "tests/models/sdp/oracle.h"

namespace npuscope::sdp_math_test {
namespace {

using oracle::Wide;

Tensor<std::int32_t> all_16_bit_values() {
    Tensor<std::int32_t> values(Shape{1, 256, 256});
    for (std::size_t i = 0; i < values.values.size(); ++i) {
        values.values[i] = static_cast<std::int32_t>(i) - 32768;
    }
    return values;
}

/// What the RTL's shifter flags: too large when rounded, too small when cut.
bool flagged(Wide product, unsigned shift) {
    const Wide floor = product >> shift;
    return oracle::shift_right(product, shift) > 65535 || floor < -65536;
}

const Tensor<std::int8_t>& bytes_of_result(const SdpResult& result) {
    return std::get<Tensor<std::int8_t>>(result.values);
}

TEST(SdpMath, TheConvertorMeetsTheOracleForEveryValue) {
    const Tensor<std::int32_t> input = all_16_bit_values();
    for (const Conversion& convertor :
         {Conversion{0, 1, 0}, Conversion{-3, 77, 9}, Conversion{1000, -32768, 17},
          Conversion{INT32_MIN, 32767, 30}, Conversion{7, 5, 1}, Conversion{0, 4, 1}}) {
        SdpStages stages;
        stages.convertor = convertor;
        stages.count_saturated = true;
        const SdpResult result = compute_sdp(stages, input, {}, {});
        std::uint64_t saturated = 0;
        for (std::size_t i = 0; i < input.values.size(); ++i) {
            const Wide product = (Wide{input.values[i]} - convertor.offset) * convertor.scale;
            const Wide want = oracle::clamp(oracle::shift_right(product, convertor.shift), 8);
            ASSERT_EQ(bytes_of_result(result).values[i], static_cast<std::int64_t>(want));
            saturated += flagged(product, convertor.shift) ? 1U : 0U;
        }
        EXPECT_EQ(result.counters.saturated, saturated);
    }
}

TEST(SdpMath, SaturationCountsTheShiftersSeventeenBitsNotTheByte) {
    SdpStages stages;
    stages.count_saturated = true;
    Tensor<std::int32_t> input(Shape{1, 1, 4});
    input.values = {200, 65535, 65536, -65537};
    const SdpResult result = compute_sdp(stages, input, {}, {});
    EXPECT_EQ(result.counters.saturated, 2U);
    EXPECT_EQ(bytes_of_result(result).values, (std::vector<std::int8_t>{127, 127, 127, -128}));
}

TEST(SdpMath, ANegativeValueCountsAsSaturatedWhenItsFloorIsTooSmall) {
    SdpStages stages;
    stages.count_saturated = true;
    stages.convertor.shift = 2;
    Tensor<std::int32_t> input(Shape{1, 1, 3});
    input.values = {-4 * 65536, -4 * 65536 - 1, 4 * 65535 + 1};
    EXPECT_EQ(compute_sdp(stages, input, {}, {}).counters.saturated, 1U);
}

TEST(SdpMath, NothingIsCountedUnlessAskedFor) {
    Tensor<std::int32_t> input(Shape{1, 1, 1}, 1 << 20);
    EXPECT_EQ(compute_sdp(SdpStages{}, input, {}, {}).counters.saturated, 0U);
}

TEST(SdpMath, StagesRunInOrderBsBnEw) {
    SdpStages stages;
    stages.bs.bypass = false;
    stages.bs.alu = {false, AluAlgorithm::Sum, OperandSource::Register, 3, 0};
    stages.bn.bypass = false;
    stages.bn.mul = {false, OperandSource::Register, 5, false};
    stages.ew.bypass = false;
    stages.ew.alu.bypass = false;
    stages.ew.alu.operand = -7;
    const Tensor<std::int8_t> input(Shape{8, 1, 1}, std::int8_t{2});
    const SdpResult result = compute_sdp(stages, input, {}, {});
    EXPECT_EQ(bytes_of_result(result),
              Tensor<std::int8_t>(Shape{8, 1, 1}, std::int8_t{(2 + 3) * 5 - 7}));
}

TEST(SdpMath, OperandsPerChannelAndPerElementMeetTheirOwnValue) {
    const Shape shape{8, 40, 60};  // planes longer than one run
    SdpStages stages;
    stages.bs.bypass = false;
    stages.bs.alu = {false, AluAlgorithm::Sum, OperandSource::Memory, 0, 0};
    stages.bn.bypass = false;
    stages.bn.alu = {false, AluAlgorithm::Sum, OperandSource::Memory, 0, 0};
    SdpOperands operands;
    operands[bs_stage].alu = Tensor<std::int16_t>(Shape{8, 1, 1});
    operands[bn_stage].alu = Tensor<std::int16_t>(shape);
    Tensor<std::int8_t> input(shape);
    for (std::uint32_t c = 0; c < 8; ++c) {
        operands[bs_stage].alu.values[c] = static_cast<std::int16_t>(10 * c);
    }
    for (std::size_t i = 0; i < input.values.size(); ++i) {
        input.values[i] = static_cast<std::int8_t>(i % 17);
        operands[bn_stage].alu.values[i] = static_cast<std::int16_t>(-(static_cast<int>(i) % 31));
    }
    const SdpResult result = compute_sdp(stages, input, operands, {});
    for (std::size_t i = 0; i < input.values.size(); ++i) {
        const auto c = static_cast<int>(i / (40 * 60));
        ASSERT_EQ(bytes_of_result(result).values[i],
                  static_cast<int>(i % 17) + 10 * c - static_cast<int>(i) % 31);
    }
}

TEST(SdpMath, ComparisonTellsOneDifferenceFromNone) {
    SdpStages stages;
    stages.ew.bypass = false;
    stages.ew.alu.bypass = false;
    stages.ew.alu.algorithm = AluAlgorithm::Equal;
    stages.ew.alu.source = OperandSource::Memory;
    stages.convertor = {5, 9, 2};  // is not involved
    const Shape shape{8, 3, 3};
    Tensor<std::int8_t> input(shape, std::int8_t{-4});
    SdpOperands operands;
    operands[ew_stage].alu = Tensor<std::int16_t>(shape, std::int16_t{-4});
    EXPECT_FALSE(compute_sdp(stages, input, operands, {}).counters.unequal);
    input.at(7, 2, 1) = 4;
    const SdpResult result = compute_sdp(stages, input, operands, {});
    EXPECT_TRUE(result.counters.unequal);
    EXPECT_EQ(bytes_of_result(result).at(7, 2, 1), 1);
    EXPECT_EQ(bytes_of_result(result).at(7, 2, 0), 0);
}

TEST(SdpMath, ZeroAccumulatorsInPadLanesShowTheOutputOffset) {
    SdpStages stages;
    stages.convertor = {-100, 1, 0};
    const Tensor<std::int32_t> lanes(Shape{8, 1, 1});
    EXPECT_EQ(bytes_of_result(compute_sdp(stages, lanes, {}, {})),
              Tensor<std::int8_t>(Shape{8, 1, 1}, std::int8_t{100}));
}

TEST(SdpMath, AMissingMemoryOperandIsOurBug) {
    SdpStages stages;
    stages.bs.bypass = false;
    stages.bs.alu = {false, AluAlgorithm::Sum, OperandSource::Memory, 0, 0};
    EXPECT_THROW(compute_sdp(stages, Tensor<std::int8_t>(Shape{8, 1, 1}), {}, {}),
                 std::logic_error);
}

}  // namespace
}  // namespace npuscope::sdp_math_test
