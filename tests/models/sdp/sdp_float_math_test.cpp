// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "models/arith/float16.h"
#include "models/sdp/sdp_lut_math.h"
#include "models/sdp/sdp_math.h"
#include "models/sdp/sdp_stage_math.h"

namespace npuscope {
namespace {

constexpr std::int16_t kNan = 0x7e01;
constexpr std::int16_t kInf = 0x7c00;

std::int16_t fp16(float value) { return static_cast<std::int16_t>(narrow(value)); }

SdpStages fp16_stages(Precision output = Precision::Fp16) {
    SdpStages stages;
    stages.processing = Precision::Fp16;
    stages.output = output;
    return stages;
}

std::vector<std::int16_t> run(const SdpStages& stages, const std::vector<std::int16_t>& values,
                              const SdpOperands& operands = {}) {
    Tensor<std::int16_t> source(Shape{1, 1, static_cast<std::uint32_t>(values.size())});
    source.values = values;
    return std::get<Tensor<std::int16_t>>(compute_sdp(stages, source, operands, {}).values).values;
}

TEST(SdpFloatMath, WithoutStagesEveryNumberPassesAndInfinitiesAreClamped) {
    std::vector<std::int16_t> values;
    for (int pattern = 0; pattern < 65536; ++pattern) {
        values.push_back(static_cast<std::int16_t>(pattern));
    }
    const std::vector<std::int16_t> passed = run(fp16_stages(), values);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const bool inf = is_inf(static_cast<Fp16>(values[i]));
        ASSERT_EQ(passed[i], static_cast<std::int16_t>(inf ? values[i] - 1 : values[i])) << i;
    }
}

TEST(SdpFloatMath, AnXStageAddsThenMultipliesThenCuts) {
    SdpStages stages = fp16_stages();
    stages.bs.bypass = false;
    stages.bs.alu = {false, AluAlgorithm::Sum, OperandSource::Register, fp16(1.5F), 7};
    stages.bs.mul = {false, OperandSource::Memory, 0, false};
    stages.bs.shift_right = 9;  // has no effect
    stages.bs.relu = true;
    SdpOperands operands;
    operands[bs_stage].mul = Tensor<std::int16_t>(Shape{1, 1, 4});
    operands[bs_stage].mul.values = {fp16(2.0F), fp16(-3.0F), fp16(0.5F), fp16(4.0F)};
    EXPECT_EQ(run(stages, {fp16(1.0F), fp16(2.0F), fp16(-5.5F), fp16(0.25F)}, operands),
              (std::vector<std::int16_t>{fp16(5.0F), 0, 0, fp16(7.0F)}));
}

TEST(SdpFloatMath, PreluScalesWhatHasASign) {
    SdpStages stages = fp16_stages();
    stages.bn.bypass = false;
    stages.bn.mul = {false, OperandSource::Register, fp16(0.25F), true};
    EXPECT_EQ(run(stages, {fp16(3.0F), fp16(-8.0F)}),
              (std::vector<std::int16_t>{fp16(3.0F), fp16(-2.0F)}));
}

TEST(SdpFloatMath, TheElementWiseStageMultipliesBeforeItAddsAndKeepsFp32Registers) {
    SdpStages stages = fp16_stages();
    stages.ew.bypass = false;
    stages.ew.mul.bypass = false;
    stages.ew.mul.operand = std::bit_cast<std::int32_t>(1.0F / 3.0F);
    stages.ew.alu.bypass = false;
    stages.ew.alu.operand = std::bit_cast<std::int32_t>(0.1F);
    const float expected = 7.0F * (1.0F / 3.0F) + 0.1F;
    EXPECT_EQ(run(stages, {fp16(7.0F)}), (std::vector<std::int16_t>{fp16(expected)}));
}

TEST(SdpFloatMath, NansFlushToZeroInValuesAndOperandsWhereAskedTo) {
    SdpStages stages = fp16_stages();
    stages.bs.bypass = false;
    stages.bs.alu = {false, AluAlgorithm::Sum, OperandSource::Memory, 0, 0};
    stages.count_input_specials = stages.count_nan_outputs = true;
    SdpOperands operands;
    operands[bs_stage].alu = Tensor<std::int16_t>(Shape{1, 1, 3});
    operands[bs_stage].alu.values = {fp16(1.0F), kNan, kInf};
    const std::vector<std::int16_t> values{kNan, fp16(2.0F), fp16(3.0F)};
    EXPECT_EQ(run(stages, values, operands), (std::vector<std::int16_t>{kNan, kNan, 0x7bff}));
    Tensor<std::int16_t> source(Shape{1, 1, 3});
    source.values = {kNan, kInf, kInf};
    const SdpResult counted = compute_sdp(stages, source, operands, {});
    EXPECT_EQ(counted.counters.inputs, (SpecialCount{1, 2}));
    EXPECT_EQ(counted.counters.nan_outputs, 2U);
    stages.nan_to_zero = true;
    EXPECT_EQ(run(stages, values, operands),
              (std::vector<std::int16_t>{fp16(1.0F), fp16(2.0F), 0x7bff}));
}

TEST(SdpFloatMath, AccumulatorsAreFp32) {
    Tensor<std::int32_t> accumulators(Shape{1, 1, 2});
    accumulators.values = {std::bit_cast<std::int32_t>(1e6F), std::bit_cast<std::int32_t>(0.1F)};
    const SdpResult result = compute_sdp(fp16_stages(), accumulators, {}, {});
    EXPECT_EQ(std::get<Tensor<std::int16_t>>(result.values).values,
              (std::vector<std::int16_t>{0x7bff, fp16(0.1F)}));
}

TEST(SdpFloatMath, Int16IsMadeOfTheFp16) {
    EXPECT_EQ(run(fp16_stages(Precision::Int16),
                  {fp16(2.5F), fp16(-2.5F), fp16(40000.0F), kNan, fp16(0.49F)}),
              (std::vector<std::int16_t>{3, -3, 32767, -32768, 0}));
}

TEST(SdpMathPrecisions, IntegersLeaveInTheTypeAskedFor) {
    SdpStages stages;
    stages.convertor = {10, 3, 1};
    Tensor<std::int16_t> source(Shape{1, 1, 4});
    source.values = {1000, -1000, 32767, 11};
    stages.output = Precision::Int16;
    EXPECT_EQ(std::get<Tensor<std::int16_t>>(compute_sdp(stages, source, {}, {}).values).values,
              (std::vector<std::int16_t>{1485, -1515, 32767, 2}));
    stages.output = Precision::Int8;
    EXPECT_EQ(std::get<Tensor<std::int8_t>>(compute_sdp(stages, source, {}, {}).values).values,
              (std::vector<std::int8_t>{127, -128, 127, 2}));
    stages.output = Precision::Fp16;
    stages.count_saturated = true;
    const SdpResult floats = compute_sdp(stages, source, {}, {});
    EXPECT_EQ(std::get<Tensor<std::int16_t>>(floats.values).values,
              (std::vector<std::int16_t>{fp16(1485), fp16(-1515), fp16(49136), fp16(2)}));
    EXPECT_EQ(floats.counters.saturated, 0U);
}

TEST(SdpMathPrecisions, TheCoarseCountLeavesOutWhatLiesOneBeyond) {
    SdpStages stages;
    stages.count_saturated = true;
    stages.output = Precision::Int16;
    Tensor<std::int32_t> source(Shape{1, 1, 4});
    source.values = {65536, 65537, -65537, -65538};
    EXPECT_EQ(compute_sdp(stages, source, {}, {}).counters.saturated, 4U);
    stages.coarse_saturation = true;
    EXPECT_EQ(compute_sdp(stages, source, {}, {}).counters.saturated, 2U);
}

/// Tables over [0, 64) and [0, 256): entry i holds i * i / 16 and i / 4.
LookupTables sample_tables() {
    LookupTables tables;
    for (std::size_t i = 0; i < tables.le.size(); ++i) {
        tables.le[i] = fp16(static_cast<float>(i * i) / 16.0F);
    }
    for (std::size_t i = 0; i < tables.lo.size(); ++i) {
        tables.lo[i] = fp16(static_cast<float>(i) / 4.0F);
    }
    return tables;
}

LookupConfig sample_lut() {
    LookupConfig lut;
    lut.le_function = LeFunction::Linear;
    lut.le = {std::bit_cast<std::int32_t>(0.0F),
              std::bit_cast<std::int32_t>(64.0F),
              0,
              {fp16(2.0F), 0},
              {fp16(0.5F), 0}};
    lut.lo = {std::bit_cast<std::int32_t>(100.0F), std::bit_cast<std::int32_t>(356.0F), 0, {}, {}};
    return lut;
}

TEST(SdpFloatLut, InterpolatesInsideAndContinuesOutside) {
    const LookupConfig lut = sample_lut();
    const LookupTables tables = sample_tables();
    std::vector<float> values{3.5F, -2.0F, 110.25F, 1000.0F, std::bit_cast<float>(0x7f800001U)};
    LookupCounters counters;
    run_sdp_lut(lut, tables, values, counters);
    EXPECT_EQ(values[0], (9.0F + 16.0F) / 32.0F);
    EXPECT_EQ(values[1], -4.0F);                   // below both: LE's slope
    EXPECT_EQ(values[2], 10.25F / 4.0F);           // LO only
    EXPECT_EQ(values[3], 256.0F + 936.0F * 0.5F);  // above both: LE's slope
    EXPECT_TRUE(is_nan(values[4]));                // below both
    EXPECT_EQ(counters, (LookupCounters{2, 1, 2, 1, 1}));
}

TEST(SdpFloatLut, ExponentTablesCountInPowersOfTwo) {
    LookupConfig lut = sample_lut();
    lut.le_function = LeFunction::Exponent;
    lut.le_index_offset = -2;
    EXPECT_EQ(sdp_lut_index(0.24F, LookupTable::Le, lut).hit, LookupHit::Underflow);
    const LookupIndex place = sdp_lut_index(6.0F, LookupTable::Le, lut);
    EXPECT_EQ(place.index, 4U);
    EXPECT_EQ(place.fraction, std::uint64_t{1} << 34U);
    EXPECT_EQ(sdp_lut_index(0x1p62F, LookupTable::Le, lut).hit, LookupHit::Overflow);
    lut.lo.index_select = 3;
    EXPECT_EQ(sdp_lut_index(110.0F, LookupTable::Lo, lut).index, 1U);
    EXPECT_EQ(sdp_lut_index(110.0F, LookupTable::Lo, lut).fraction, std::uint64_t{1} << 33U);
}

}  // namespace
}  // namespace npuscope
