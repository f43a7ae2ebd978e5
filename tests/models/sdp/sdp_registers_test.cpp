// SPDX-License-Identifier: Apache-2.0
#include "models/sdp/sdp_registers.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <random>

#include "models/base/error.h"
#include "models/sdp/sdp_rdma_registers.h"
#include "tests/support/refusal.h"
#include "tests/support/registers.h"

namespace npuscope {
namespace {

using ::testing::HasSubstr;

/// A pass-through from 0x1000 to 0x2000, 5 x 3 x 10; everything else holds rubbish.
class SdpJobTest : public ::testing::Test {
 protected:
    SdpJobTest() : sdp_(sdp_block), rdma_(sdp_rdma_block) {
        fill_registers(sdp_, 0xffffffff);
        fill_registers(rdma_, 0xffffffff);
        for (RegisterValues* unit : {&sdp_, &rdma_}) {
            write_field(*unit, "D_DATA_CUBE_WIDTH", "WIDTH", 4);
            write_field(*unit, "D_DATA_CUBE_HEIGHT", "HEIGHT", 2);
            write_field(*unit, "D_DATA_CUBE_CHANNEL", "CHANNEL", 9);
            unit->set(find_register(unit->block(), "D_FEATURE_MODE_CFG")->offset, 0);
        }
        place_surface(sdp_, "DST", 0x2000, 40, 120);
        place_surface(rdma_, "SRC", 0x1000, 48, 144);
        write_field(sdp_, "D_DATA_FORMAT", "PROC_PRECISION", 0);
        write_field(sdp_, "D_DATA_FORMAT", "OUT_PRECISION", 0);
    }

    void enable_bs_memory_alu() {
        sdp_.set(find_register(sdp_.block(), "D_DP_BS_CFG")->offset, 0x58);  // sum, MUL bypassed
        write_field(sdp_, "D_DP_BS_ALU_CFG", "BS_ALU_SRC", 1);
        rdma_.set(find_register(rdma_.block(), "D_BRDMA_CFG")->offset, 0x02);  // ALU, 1 byte
        place_surface(rdma_, "BS", 0x3000, 3, 5);
    }
    SdpJob decode() const {
        return decoded([this](Diagnostics& findings) {
            return decode_sdp(sdp_, rdma_, config_, datapath_, findings);
        });
    }
    std::string refusal() const {
        return refusal_of([this] { decode(); });
    }

    RegisterValues sdp_;
    RegisterValues rdma_;
    SdpConfig config_;
    DatapathConfig datapath_;
};

TEST_F(SdpJobTest, APassThroughIgnoresWhateverUnusedRegistersHold) {
    const SdpJob job = decode();
    EXPECT_EQ(job.shape, (Shape{10, 3, 5}));
    ASSERT_TRUE(job.source.has_value());
    EXPECT_EQ(job.source->base, Address(0x1000));
    EXPECT_EQ(job.source->shape, (Shape{16, 3, 5}));
    ASSERT_TRUE(job.destination.has_value());
    EXPECT_EQ(job.destination->surface_stride, Bytes(120));
    EXPECT_TRUE(job.stages.bs.bypass && job.stages.bn.bypass && job.stages.ew.bypass);
    EXPECT_FALSE(job.operands[bs_stage] || job.operands[bn_stage] || job.operands[ew_stage]);
    EXPECT_EQ(job.stages.convertor, (Conversion{-1, -1, 63}));
}

TEST_F(SdpJobTest, AFlyingJobNeverReadsTheReadDmasRegisters) {
    write_field(sdp_, "D_FEATURE_MODE_CFG", "FLYING_MODE", 1);
    fill_registers(rdma_, 0x5a5a5a5b);
    EXPECT_TRUE(decode().flying());
    EXPECT_FALSE(decode().reads_memory());
}

TEST_F(SdpJobTest, AJobForThePdpHasNoDestination) {
    write_field(sdp_, "D_FEATURE_MODE_CFG", "OUTPUT_DST", 1);
    place_surface(sdp_, "DST", 3, 3, 3);
    EXPECT_TRUE(decode().to_pdp);
    EXPECT_FALSE(decode().destination.has_value());
}

TEST_F(SdpJobTest, APixelCubeIsPackedWhateverItsStridesSay) {
    for (RegisterValues* unit : {&sdp_, &rdma_}) {
        write_field(*unit, "D_DATA_CUBE_WIDTH", "WIDTH", 0);
        write_field(*unit, "D_DATA_CUBE_HEIGHT", "HEIGHT", 0);
    }
    place_surface(sdp_, "DST", 0x2000, 3, 5);
    EXPECT_EQ(decode().destination->surface_stride, Bytes(8));
    EXPECT_EQ(decode().source->surface_stride, Bytes(8));
}

TEST_F(SdpJobTest, AnOperandFromMemoryComesWithItsSurface) {
    enable_bs_memory_alu();
    const SdpJob job = decode();
    ASSERT_TRUE(job.operands[bs_stage].has_value());
    EXPECT_TRUE(job.operands[bs_stage]->alu);
    EXPECT_FALSE(job.operands[bs_stage]->mul);
    EXPECT_EQ(job.operands[bs_stage]->surface.base, Address(0x3000));
    EXPECT_EQ(job.operands[bs_stage]->surface.spread, OperandSpread::PerChannel);
    EXPECT_EQ(job.operands[bs_stage]->surface.atom(), Bytes(8));
    EXPECT_EQ(job.stages.bs.shift_right, 63U);  // eight bits written, six wired
}

TEST_F(SdpJobTest, APairOfTwoByteOperandsPerElementMakesAtomsOf32Bytes) {
    enable_bs_memory_alu();
    sdp_.set(find_register(sdp_.block(), "D_DP_BS_CFG")->offset, 0x48);
    write_field(sdp_, "D_DP_BS_MUL_CFG", "BS_MUL_SRC", 1);
    rdma_.set(find_register(rdma_.block(), "D_BRDMA_CFG")->offset, 0x1c);
    place_surface(rdma_, "BS", 0x3000, 160, 480);
    const SdpJob job = decode();
    EXPECT_TRUE(job.operands[bs_stage]->alu && job.operands[bs_stage]->mul);
    EXPECT_EQ(job.operands[bs_stage]->surface.atom(), Bytes(32));
    EXPECT_EQ(job.operands[bs_stage]->surface.line_stride, Bytes(160));
}

TEST_F(SdpJobTest, AbsentStagesMustBeBypassed) {
    config_.bs = false;
    enable_bs_memory_alu();
    EXPECT_THAT(refusal(), HasSubstr("NVDLA_SDP.D_DP_BS_CFG_0.BS_BYPASS = 0"));
    write_field(sdp_, "D_DP_BS_CFG", "BS_BYPASS", 1);
    config_.bn = false;
    write_field(sdp_, "D_DP_BN_CFG", "BN_BYPASS", 0);
    EXPECT_THAT(refusal(), HasSubstr("BN_BYPASS"));
    write_field(sdp_, "D_DP_BN_CFG", "BN_BYPASS", 1);
    write_field(sdp_, "D_DP_EW_CFG", "EW_BYPASS", 0);
    EXPECT_THAT(refusal(), HasSubstr("EW_BYPASS"));
}

TEST_F(SdpJobTest, LookupsNeedTables) {
    config_.element_wise = true;
    config_.lut = false;
    sdp_.set(find_register(sdp_.block(), "D_DP_EW_CFG")->offset, 0x12);
    EXPECT_THAT(refusal(), HasSubstr("EW_LUT_BYPASS"));
    config_.lut = true;
    EXPECT_FALSE(decode().stages.ew.lut_bypass);
    EXPECT_EQ(decode().stages.ew.lut.le.underflow, (LookupSlope{-1, -1}));
}

TEST_F(SdpJobTest, OnlyTheElementWiseStageCompares) {
    enable_bs_memory_alu();
    write_field(sdp_, "D_DP_BS_CFG", "BS_ALU_ALGO", 3);
    EXPECT_THAT(refusal(), HasSubstr("BS_ALU_ALGO = 3"));
    write_field(sdp_, "D_DP_BS_CFG", "BS_BYPASS", 1);
    config_.element_wise = true;
    sdp_.set(find_register(sdp_.block(), "D_DP_EW_CFG")->offset, 0x5c);
    write_field(sdp_, "D_DP_EW_ALU_CFG", "EW_ALU_SRC", 0);
    EXPECT_TRUE(decode().stages.compares());
    EXPECT_FALSE(decode().destination.has_value());
    write_field(sdp_, "D_FEATURE_MODE_CFG", "OUTPUT_DST", 1);
    EXPECT_THAT(refusal(), HasSubstr("OUTPUT_DST"));
}

TEST_F(SdpJobTest, OtherPrecisionsAndModesAreRefused) {
    write_field(sdp_, "D_DATA_FORMAT", "PROC_PRECISION", 1);
    EXPECT_THAT(refusal(), HasSubstr("PROC_PRECISION = 1"));
    write_field(sdp_, "D_DATA_FORMAT", "PROC_PRECISION", 0);
    write_field(sdp_, "D_DATA_FORMAT", "OUT_PRECISION", 2);
    EXPECT_THAT(refusal(), HasSubstr("OUT_PRECISION = 2"));
    write_field(sdp_, "D_DATA_FORMAT", "OUT_PRECISION", 0);
    write_field(rdma_, "D_FEATURE_MODE_CFG", "IN_PRECISION", 1);
    EXPECT_THAT(refusal(), HasSubstr("IN_PRECISION = 1"));
    write_field(sdp_, "D_FEATURE_MODE_CFG", "WINOGRAD", 1);
    EXPECT_THAT(refusal(), HasSubstr("WINOGRAD"));
    write_field(sdp_, "D_FEATURE_MODE_CFG", "WINOGRAD", 0);
    write_field(sdp_, "D_FEATURE_MODE_CFG", "BATCH_NUMBER", 1);
    EXPECT_THAT(refusal(), HasSubstr("BATCH_NUMBER"));
}

/// Registers of `input` from memory, `processing` and `output`, on an NPU with all types.
class SdpConversionTest : public SdpJobTest {
 protected:
    void convert(std::uint32_t input, std::uint32_t processing, std::uint32_t output) {
        datapath_.int16 = datapath_.fp16 = true;
        write_field(rdma_, "D_FEATURE_MODE_CFG", "IN_PRECISION", input);
        write_field(rdma_, "D_FEATURE_MODE_CFG", "PROC_PRECISION", processing);
        write_field(sdp_, "D_DATA_FORMAT", "PROC_PRECISION", processing);
        write_field(sdp_, "D_DATA_FORMAT", "OUT_PRECISION", output);
    }
};

TEST_F(SdpConversionTest, EveryValidCellOfTable30IsAccepted) {
    struct Cell {
        std::uint32_t input, processing, output;
    };
    for (const Cell& cell :
         {Cell{0, 0, 0}, {0, 0, 1}, {1, 0, 0}, {1, 1, 1}, {1, 1, 2}, {2, 2, 1}, {2, 2, 2}}) {
        convert(cell.input, cell.processing, cell.output);
        EXPECT_EQ(refusal(), "accepted") << cell.input << cell.output;
    }
}

TEST_F(SdpConversionTest, Fp16ToInt8IsRefusedByItsCell) {
    convert(2, 2, 0);
    EXPECT_EQ(refusal(),
              "NVDLA_SDP.D_DATA_FORMAT_0: table 30 (SDP), fp16 feature data to int8 is not a valid "
              "combination");
}

TEST_F(SdpConversionTest, Int8ToFp16IsRefusedFromMemoryAndOnTheFly) {
    convert(0, 0, 2);
    const std::string sentence =
        "NVDLA_SDP.D_DATA_FORMAT_0: table 30 (SDP), int8 feature data to fp16 is not a valid "
        "combination";
    EXPECT_EQ(refusal(), sentence);
    write_field(sdp_, "D_FEATURE_MODE_CFG", "FLYING_MODE", 1);
    EXPECT_EQ(refusal(), sentence);
}

TEST_F(SdpConversionTest, Int16BecomesInt8OnlyProcessedAsInt8AndFromMemory) {
    convert(1, 1, 0);
    EXPECT_THAT(refusal(), HasSubstr("int16 can be output as int8 only where int8 is processed"));
    write_field(sdp_, "D_FEATURE_MODE_CFG", "FLYING_MODE", 1);
    EXPECT_THAT(refusal(), HasSubstr("int16 from the accumulators cannot be output as int8"));
}

TEST_F(SdpJobTest, TheReadDmaMustAgreeOnCubeAndMode) {
    write_field(rdma_, "D_DATA_CUBE_WIDTH", "WIDTH", 5);
    EXPECT_THAT(refusal(), HasSubstr("NVDLA_SDP_RDMA.D_DATA_CUBE_WIDTH_0.WIDTH = 5"));
    write_field(rdma_, "D_DATA_CUBE_WIDTH", "WIDTH", 4);
    write_field(rdma_, "D_FEATURE_MODE_CFG", "FLYING_MODE", 1);
    EXPECT_THAT(refusal(), HasSubstr("FLYING_MODE"));
}

TEST_F(SdpJobTest, MisalignedSurfacesAreRefused) {
    place_surface(sdp_, "DST", 0x2004, 40, 120);
    EXPECT_THAT(refusal(), HasSubstr("D_DST_BASE_ADDR_LOW"));
    place_surface(sdp_, "DST", 0x2000, 41, 120);
    EXPECT_THAT(refusal(), HasSubstr("D_DST_LINE_STRIDE"));
    place_surface(sdp_, "DST", 0x2000, 40, 121);
    EXPECT_THAT(refusal(), HasSubstr("D_DST_SURFACE_STRIDE"));
    place_surface(sdp_, "DST", 0x2000, 40, 120);
    place_surface(rdma_, "SRC", 0x1001, 48, 144);
    EXPECT_THAT(refusal(), HasSubstr("D_SRC_BASE_ADDR_LOW"));
    place_surface(rdma_, "SRC", 0x1000, 48, 144);
    enable_bs_memory_alu();
    place_surface(rdma_, "BS", 0x3001, 8, 8);
    EXPECT_THAT(refusal(), HasSubstr("D_BS_BASE_ADDR_LOW"));
}

TEST_F(SdpJobTest, AnOperandDmaMustFetchWhatItsStageTakes) {
    enable_bs_memory_alu();
    write_field(rdma_, "D_BRDMA_CFG", "BRDMA_DISABLE", 1);
    EXPECT_THAT(refusal(), HasSubstr("BRDMA_DISABLE = 1"));
    write_field(rdma_, "D_BRDMA_CFG", "BRDMA_DISABLE", 0);
    for (const std::uint32_t use : {0U, 2U, 3U}) {
        write_field(rdma_, "D_BRDMA_CFG", "BRDMA_DATA_USE", use);
        EXPECT_THAT(refusal(), HasSubstr("BRDMA_DATA_USE")) << use;
    }
}

class RandomStages {
 public:
    std::uint32_t number(std::uint32_t high) {
        return std::uniform_int_distribution<std::uint32_t>(0, high)(random_);
    }
    bool flag() { return number(1) == 1; }
    std::int16_t half() { return static_cast<std::int16_t>(number(0xffff)); }
    OperandSource source() { return flag() ? OperandSource::Memory : OperandSource::Register; }
    Conversion conversion() {
        return {static_cast<std::int32_t>(number(0xffffffffU)), half(), number(63)};
    }
    SdpXStage x() {
        SdpXStage stage;
        stage.bypass = flag();
        if (stage.bypass) {
            return stage;
        }
        if (flag()) {
            stage.alu = {false, static_cast<AluAlgorithm>(number(2)), source(), half(), number(63)};
        }
        if (flag()) {
            stage.mul = {false, source(), half(), flag()};
        }
        stage.shift_right = number(63);
        stage.relu = flag();
        return stage;
    }
    SdpOperandConvertor convertor() {
        return flag() ? SdpOperandConvertor{} : SdpOperandConvertor{false, conversion()};
    }
    LookupRange range() {
        return {static_cast<std::int32_t>(number(0xffffffffU)),
                static_cast<std::int32_t>(number(0xffffffffU)),
                static_cast<std::int8_t>(number(255)),
                {half(), static_cast<int>(number(31)) - 16},
                {half(), static_cast<int>(number(31)) - 16}};
    }
    SdpYStage y() {
        SdpYStage stage;
        stage.bypass = flag();
        if (stage.bypass) {
            return stage;
        }
        if (flag()) {
            stage.mul = {false,       source(), static_cast<std::int32_t>(number(0xffffffffU)),
                         convertor(), flag(),   number(1023)};
        }
        if (flag()) {
            stage.alu = {false, static_cast<AluAlgorithm>(number(2)), source(),
                         static_cast<std::int32_t>(number(0xffffffffU)), convertor()};
        }
        stage.lut_bypass = flag();
        if (!stage.lut_bypass) {
            stage.lut.le_function = flag() ? LeFunction::Linear : LeFunction::Exponent;
            stage.lut.le_index_offset = static_cast<std::int8_t>(number(255));
            stage.lut.le = range();
            stage.lut.lo = range();
            stage.lut.underflow_priority = flag() ? LookupTable::Lo : LookupTable::Le;
            stage.lut.overflow_priority = flag() ? LookupTable::Lo : LookupTable::Le;
            stage.lut.hybrid_priority = flag() ? LookupTable::Lo : LookupTable::Le;
        }
        return stage;
    }
    FeatureCube cube(const Shape& shape, std::uint32_t surfaces) {
        FeatureCube cube{Address(std::uint64_t{number(0xffffffffU)} * 8),
                         Bytes(8) * (1 + number(1000)), Bytes(8) * (1 + number(1000)), shape};
        cube.shape.channels = surfaces * 8;
        return cube;
    }
    /// What a stage reads from memory.
    template <class Stage>
    std::optional<SdpOperandFetch> operand(const Stage& stage, const Shape& shape) {
        const auto fetched = [&](const auto& part) {
            return !stage.bypass && !part.bypass && part.source == OperandSource::Memory;
        };
        SdpOperandFetch fetch;
        fetch.alu = fetched(stage.alu);
        fetch.mul = fetched(stage.mul);
        if (!fetch.alu && !fetch.mul) {
            return std::nullopt;
        }
        fetch.in_sram = flag();
        fetch.surface.shape = shape;
        fetch.surface.components = fetch.alu && fetch.mul ? 2 : 1;
        fetch.surface.component = Bytes(1 + number(1));
        fetch.surface.base = Address(std::uint64_t{number(0xffffffffU)} * 8);
        if (flag()) {
            fetch.surface.spread = OperandSpread::PerElement;
            fetch.surface.line_stride = Bytes(8) * (1 + number(1000));
            fetch.surface.surface_stride = Bytes(8) * (1 + number(1000));
        }
        return fetch;
    }

    SdpJob job() {
        SdpJob job;
        job.shape = {1 + number(99), 2 + number(9), 2 + number(9)};
        const std::uint32_t surfaces = (job.shape.channels + 7) / 8;
        Shape whole = job.shape;
        whole.channels = surfaces * 8;
        job.stages.bs = x();
        job.stages.bn = x();
        job.stages.ew = y();
        job.stages.convertor = conversion();
        job.stages.count_saturated = flag();
        job.count_stalls = flag();
        job.count_lookups = flag();
        job.operands[bs_stage] = operand(job.stages.bs, whole);
        job.operands[bn_stage] = operand(job.stages.bn, whole);
        job.operands[ew_stage] = operand(job.stages.ew, whole);
        if (flag()) {
            job.source = cube(job.shape, surfaces);
            job.source_in_sram = flag();
        }
        job.to_pdp = flag();
        if (!job.to_pdp) {
            job.destination = cube(job.shape, surfaces);
            job.destination_in_sram = flag();
        }
        return job;
    }

 private:
    std::mt19937 random_{7};
};

TEST(SdpRegisters, DecodingUndoesEncoding) {
    RandomStages random;
    SdpConfig config;
    config.element_wise = config.lut = true;
    for (int round = 0; round < 300; ++round) {
        const SdpJob written = random.job();
        const std::vector<RegisterValues> blocks = encode_sdp(written);
        const RegisterValues rdma =
            blocks.size() == 2 ? blocks.front() : RegisterValues(sdp_rdma_block);
        const SdpJob read = decoded([&](Diagnostics& findings) {
            return decode_sdp(blocks.back(), rdma, config, {}, findings);
        });
        ASSERT_EQ(read.shape, written.shape);
        ASSERT_EQ(read.stages, written.stages) << round;
        ASSERT_EQ(read.source, written.source);
        ASSERT_EQ(read.destination, written.destination);
        ASSERT_EQ(read.operands[bs_stage], written.operands[bs_stage]);
        ASSERT_EQ(read.operands[bn_stage], written.operands[bn_stage]);
        ASSERT_EQ(read.operands[ew_stage], written.operands[ew_stage]);
        ASSERT_EQ(read.to_pdp, written.to_pdp);
        ASSERT_EQ(read.source_in_sram, written.source_in_sram);
        ASSERT_EQ(read.destination_in_sram, written.destination_in_sram);
        ASSERT_EQ(read.count_stalls, written.count_stalls);
        ASSERT_EQ(read.count_lookups, written.count_lookups);
    }
}

}  // namespace
}  // namespace npuscope
