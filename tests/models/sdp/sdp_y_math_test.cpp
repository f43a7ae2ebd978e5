// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "models/sdp/sdp_stage_math.h"
#include "tests/models/sdp/oracle.h"

namespace npuscope::sdp_y_math_test {
namespace {

using oracle::Wide;

std::int64_t expected(const SdpYStage& stage, std::int64_t x, std::int64_t mul, std::int64_t alu) {
    Wide value = x;
    if (!stage.mul.bypass && !(stage.mul.prelu && x >= 0)) {
        value = oracle::clamp(oracle::shift_right(value * mul, stage.mul.shift_right), 32);
    }
    if (stage.alu.bypass) {
        return static_cast<std::int64_t>(value);
    }
    switch (stage.alu.algorithm) {
        case AluAlgorithm::Max:
            return static_cast<std::int64_t>(value > alu ? value : alu);
        case AluAlgorithm::Min:
            return static_cast<std::int64_t>(value < alu ? value : alu);
        case AluAlgorithm::Sum:
            return static_cast<std::int64_t>(oracle::clamp(value + alu, 32));
        case AluAlgorithm::Equal:
            break;
    }
    return value == alu ? 0 : 1;
}

SdpYStage stage_of(AluAlgorithm algorithm, unsigned shift) {
    SdpYStage stage;
    stage.bypass = false;
    stage.mul.bypass = false;
    stage.mul.shift_right = shift;
    stage.alu.bypass = false;
    stage.alu.algorithm = algorithm;
    return stage;
}

std::int32_t random_value(std::mt19937& random) {
    return static_cast<std::int32_t>(random()) >> (random() % 32);
}

TEST(SdpYMath, RegisterOperandsMeetTheOracleForEveryAlgorithmAndShift) {
    std::mt19937 random(11);
    for (const AluAlgorithm algorithm :
         {AluAlgorithm::Max, AluAlgorithm::Min, AluAlgorithm::Sum, AluAlgorithm::Equal}) {
        for (unsigned shift = 0; shift < 80; ++shift) {
            SdpYStage stage = stage_of(algorithm, shift);
            stage.mul.operand = random_value(random);
            stage.alu.operand = random_value(random);
            stage.mul.prelu = shift % 5 == 0;
            std::vector<std::int32_t> inputs{INT32_MIN, -1, 0, 1, INT32_MAX, stage.alu.operand};
            for (int i = 0; i < 200; ++i) {
                inputs.push_back(random_value(random));
            }
            std::vector<std::int32_t> values = inputs;
            run_y_stage(stage, {}, {}, values);
            for (std::size_t i = 0; i < inputs.size(); ++i) {
                ASSERT_EQ(values[i],
                          expected(stage, inputs[i], stage.mul.operand, stage.alu.operand));
            }
        }
    }
}

TEST(SdpYMath, TheWidestProductRoundsAtTheLastShift) {
    SdpYStage stage = stage_of(AluAlgorithm::Sum, 63);
    stage.alu.bypass = true;
    stage.mul.operand = INT32_MIN;
    std::vector<std::int32_t> values{INT32_MIN, INT32_MIN + 1};
    run_y_stage(stage, {}, {}, values);
    EXPECT_EQ(values, (std::vector<std::int32_t>{1, 0}));  // 2^62 / 2^63 = 0.5
}

TEST(SdpYMath, TheShiftIsSkippedWithTheMultiplier) {
    SdpYStage stage = stage_of(AluAlgorithm::Sum, 5);
    stage.mul.bypass = true;
    stage.alu.operand = 2;
    std::vector<std::int32_t> values{64};
    run_y_stage(stage, {}, {}, values);
    EXPECT_EQ(values[0], 66);
}

TEST(SdpYMath, EveryOperandPassesItsConvertorLikeTheOracle) {
    for (const unsigned shift : {0U, 1U, 7U, 16U, 40U, 48U, 63U}) {
        const SdpOperandConvertor convertor{false, {-2147483647, -32768, shift}};
        for (int operand = -32768; operand <= 32767; ++operand) {
            const Wide product = (Wide{operand} + 2147483647) * -32768;
            const Wide want = oracle::clamp(oracle::shift_right(product, shift), 32);
            ASSERT_EQ(convert_operand(convertor, static_cast<std::int16_t>(operand)),
                      static_cast<std::int64_t>(want));
        }
    }
}

TEST(SdpYMath, ABypassedConvertorExtendsTheSign) {
    EXPECT_EQ(convert_operand({true, {5, 5, 5}}, -32768), -32768);
}

TEST(SdpYMath, MemoryOperandsAreConvertedRegisterOperandsAreNot) {
    SdpYStage stage = stage_of(AluAlgorithm::Sum, 0);
    stage.mul.bypass = true;
    stage.alu.convertor = {false, {10, 3, 0}};
    stage.alu.operand = 20;
    std::vector<std::int32_t> values{1};
    run_y_stage(stage, {{}, 20}, {}, values);
    EXPECT_EQ(values[0], 21);
    stage.alu.source = OperandSource::Memory;
    values = {1};
    run_y_stage(stage, {{}, 20}, {}, values);
    EXPECT_EQ(values[0], 31);
}

}  // namespace
}  // namespace npuscope::sdp_y_math_test
