// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "models/sdp/sdp_stage_math.h"
#include "tests/models/sdp/oracle.h"

namespace npuscope::sdp_x_math_test {
namespace {

using oracle::Wide;

std::int64_t expected(const SdpXStage& stage, std::int64_t x, std::int16_t alu, std::int16_t mul) {
    Wide value = x;
    if (!stage.alu.bypass) {
        const Wide operand = oracle::clamp(Wide{alu} * (Wide{1} << stage.alu.shift_left), 32);
        if (stage.alu.algorithm == AluAlgorithm::Max) {
            value = value > operand ? value : operand;
        } else if (stage.alu.algorithm == AluAlgorithm::Min) {
            value = value < operand ? value : operand;
        } else {
            value += operand;
        }
    }
    if (!stage.mul.bypass && stage.mul.prelu && value >= 0) {
        value = static_cast<std::int32_t>(static_cast<std::uint32_t>(value));
    } else {
        value = stage.mul.bypass ? value : value * mul;
        value = oracle::clamp(oracle::shift_right(value, stage.shift_right), 32);
    }
    return static_cast<std::int64_t>(stage.relu && value < 0 ? Wide{0} : value);
}

SdpXStage stage_of(AluAlgorithm algorithm, unsigned shift_right) {
    SdpXStage stage;
    stage.bypass = false;
    stage.alu.bypass = false;
    stage.alu.algorithm = algorithm;
    stage.mul.bypass = false;
    stage.shift_right = shift_right;
    return stage;
}

/// Runs `inputs` against one operand each and compares every value.
void check(const SdpXStage& stage, const std::vector<std::int32_t>& inputs, std::int16_t alu,
           std::int16_t mul) {
    std::vector<double> values(inputs.begin(), inputs.end());
    run_x_stage(stage, {{}, alu}, {{}, mul}, values);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        ASSERT_EQ(static_cast<std::int64_t>(values[i]), expected(stage, inputs[i], alu, mul))
            << "x " << inputs[i] << " alu " << alu << " mul " << mul << " shift "
            << stage.shift_right;
    }
}

std::vector<std::int32_t> all_16_bit_values() {
    std::vector<std::int32_t> values;
    for (std::int32_t x = -32768; x <= 32767; ++x) {
        values.push_back(x);
    }
    return values;
}

std::vector<std::int32_t> wide_values() {
    std::vector<std::int32_t> values{INT32_MIN, INT32_MIN + 1, -1, 0, 1, INT32_MAX - 1, INT32_MAX};
    std::mt19937 random(7);
    for (int i = 0; i < 4000; ++i) {
        values.push_back(static_cast<std::int32_t>(random()) >> (random() % 32));
    }
    return values;
}

TEST(SdpXMath, EveryDataValueMeetsTheOracleForEveryAlgorithm) {
    const std::vector<std::int32_t> inputs = all_16_bit_values();
    for (const AluAlgorithm algorithm : {AluAlgorithm::Max, AluAlgorithm::Min, AluAlgorithm::Sum}) {
        for (const unsigned shift : {0U, 1U, 5U, 16U, 31U, 47U}) {
            check(stage_of(algorithm, shift), inputs, -77, 12345);
        }
    }
}

TEST(SdpXMath, EveryMultiplierOperandMeetsTheOracle) {
    const SdpXStage stage = stage_of(AluAlgorithm::Sum, 9);
    for (int operand = -32768; operand <= 32767; ++operand) {
        check(stage, {-40000, -129, -1, 3, 32768, 2147483000}, 5,
              static_cast<std::int16_t>(operand));
    }
}

TEST(SdpXMath, WideValuesRoundAndSaturateAtEveryShift) {
    const std::vector<std::int32_t> inputs = wide_values();
    for (unsigned shift = 0; shift < 64; ++shift) {
        check(stage_of(AluAlgorithm::Sum, shift), inputs, 32767, -32768);
        check(stage_of(AluAlgorithm::Sum, shift), inputs, -32768, 32767);
        check(stage_of(AluAlgorithm::Sum, shift), inputs, 1, 1);
    }
}

TEST(SdpXMath, ExactHalvesGoAwayFromZeroUpToTheWidestProduct) {
    SdpXStage stage = stage_of(AluAlgorithm::Sum, 48);
    stage.alu.shift_left = 31;
    check(stage, {INT32_MIN}, -1, -32768);  // 2^47 / 2^48 = 0.5
    check(stage, {INT32_MIN + 1}, -1, -32768);
    stage.shift_right = 17;
    check(stage, {INT32_MIN, INT32_MAX, 65536, -65536, 98304, -98304}, 0, 1);
}

TEST(SdpXMath, TheOperandsLeftShiftSaturatesAt32Bits) {
    for (unsigned shift = 0; shift < 64; ++shift) {
        SdpXStage stage = stage_of(AluAlgorithm::Max, 0);
        stage.alu.shift_left = shift;
        check(stage, {INT32_MIN, -5, 0, 5}, 3, 1);
        stage.alu.algorithm = AluAlgorithm::Min;
        check(stage, {INT32_MAX, -5, 0, 5}, -3, 1);
    }
}

TEST(SdpXMath, TheShiftAppliesEvenWhenTheMultiplierIsBypassed) {
    SdpXStage stage = stage_of(AluAlgorithm::Sum, 3);
    stage.mul.bypass = true;
    check(stage, wide_values(), 100, 0);
    std::vector<double> values{12.0};
    stage.alu.bypass = true;
    run_x_stage(stage, {}, {}, values);
    EXPECT_EQ(values[0], 2.0);  // 1.5 away from zero
}

TEST(SdpXMath, PreluLetsPositiveValuesPassMultiplierAndShifter) {
    SdpXStage stage = stage_of(AluAlgorithm::Sum, 4);
    stage.mul.prelu = true;
    check(stage, wide_values(), 0, 321);
    check(stage, all_16_bit_values(), -9, -321);
}

TEST(SdpXMath, ASumBeyond31BitsWrapsWherePreluLetsItPass) {
    SdpXStage stage = stage_of(AluAlgorithm::Sum, 4);
    stage.mul.prelu = true;
    std::vector<double> values{2147483647.0};
    run_x_stage(stage, {{}, 1}, {{}, 7}, values);
    EXPECT_EQ(values[0], -2147483648.0);
    check(stage, {INT32_MAX, INT32_MAX - 3}, 32767, 7);
}

TEST(SdpXMath, ReluComesLast) {
    SdpXStage stage = stage_of(AluAlgorithm::Sum, 2);
    stage.relu = true;
    check(stage, all_16_bit_values(), -3, -2);
}

TEST(SdpXMath, PerElementOperandsMeetTheirOwnElement) {
    SdpXStage stage = stage_of(AluAlgorithm::Sum, 1);
    const std::vector<std::int16_t> alu{1, -2, 30000, -32768};
    const std::vector<std::int16_t> mul{7, 0, -1, 32767};
    const std::vector<std::int32_t> inputs{9, 9, -9, INT32_MIN};
    std::vector<double> values(inputs.begin(), inputs.end());
    run_x_stage(stage, {alu, 0}, {mul, 0}, values);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        EXPECT_EQ(static_cast<std::int64_t>(values[i]), expected(stage, inputs[i], alu[i], mul[i]));
    }
}

TEST(SdpXMath, ABypassedStageLeavesValuesAlone) {
    SdpXStage stage = stage_of(AluAlgorithm::Sum, 9);
    stage.bypass = true;
    std::vector<double> values{-5.0, 17.0};
    run_x_stage(stage, {{}, 3}, {{}, 3}, values);
    EXPECT_EQ(values, (std::vector<double>{-5.0, 17.0}));
}

}  // namespace
}  // namespace npuscope::sdp_x_math_test
