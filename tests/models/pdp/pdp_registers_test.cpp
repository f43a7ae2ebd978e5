// SPDX-License-Identifier: Apache-2.0
#include "models/pdp/pdp_registers.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <random>

#include "models/base/error.h"
#include "tests/support/refusal.h"
#include "tests/support/registers.h"

namespace npuscope {
namespace {

using ::testing::HasSubstr;

/// Max pooling 4 x 2, stride 2, of 16 x 6 x 10 with 2 columns and 1 row of padding, from memory.
class PdpJobTest : public ::testing::Test {
 protected:
    PdpJobTest() : pdp_(pdp_block), rdma_(pdp_rdma_block) {
        fill_registers(pdp_, 0xffffffff);
        fill_registers(rdma_, 0xffffffff);
        both("D_DATA_CUBE_IN_WIDTH", "CUBE_IN_WIDTH", 15);
        both("D_DATA_CUBE_IN_HEIGHT", "CUBE_IN_HEIGHT", 5);
        both("D_DATA_CUBE_IN_CHANNEL", "CUBE_IN_CHANNEL", 9);
        both("D_DATA_FORMAT", "INPUT_DATA", 0);
        both("D_OPERATION_MODE_CFG", "SPLIT_NUM", 0);
        write_field(pdp_, "D_DATA_CUBE_OUT_WIDTH", "CUBE_OUT_WIDTH", 8);
        write_field(pdp_, "D_DATA_CUBE_OUT_HEIGHT", "CUBE_OUT_HEIGHT", 3);
        write_field(pdp_, "D_DATA_CUBE_OUT_CHANNEL", "CUBE_OUT_CHANNEL", 9);
        write_field(pdp_, "D_OPERATION_MODE_CFG", "POOLING_METHOD", 1);
        pdp_.set(offset(pdp_, "D_POOLING_KERNEL_CFG"), 0x110103);
        rdma_.set(offset(rdma_, "D_POOLING_KERNEL_CFG"), 0x13);
        pdp_.set(offset(pdp_, "D_POOLING_PADDING_CFG"), 0x1212);
        place_surface(pdp_, "DST", 0x2000, 0x100, 0x1000);
        place_surface(rdma_, "SRC", 0x1000, 0x100, 0x1000);
    }

    static std::uint32_t offset(const RegisterValues& unit, std::string_view name) {
        return find_register(unit.block(), name)->offset;
    }
    void both(std::string_view name, std::string_view field, std::uint32_t value) {
        write_field(pdp_, name, field, value);
        write_field(rdma_, name, field, value);
    }
    /// Widths of 2, 12 and 2 columns in, 1, 6 and 2 out.
    void split() {
        both("D_OPERATION_MODE_CFG", "SPLIT_NUM", 2);
        both("D_PARTIAL_WIDTH_IN", "PARTIAL_WIDTH_IN_FIRST", 1);
        both("D_PARTIAL_WIDTH_IN", "PARTIAL_WIDTH_IN_MID", 11);
        both("D_PARTIAL_WIDTH_IN", "PARTIAL_WIDTH_IN_LAST", 1);
        write_field(pdp_, "D_PARTIAL_WIDTH_OUT", "PARTIAL_WIDTH_OUT_FIRST", 0);
        write_field(pdp_, "D_PARTIAL_WIDTH_OUT", "PARTIAL_WIDTH_OUT_MID", 5);
        write_field(pdp_, "D_PARTIAL_WIDTH_OUT", "PARTIAL_WIDTH_OUT_LAST", 1);
    }
    PdpJob decode() const {
        return decoded([this](Diagnostics& findings) {
            return decode_pdp(pdp_, rdma_, config_, datapath_, findings);
        });
    }
    std::string refusal() const {
        return refusal_of([this] { decode(); });
    }

    RegisterValues pdp_;
    RegisterValues rdma_;
    PdpConfig config_;
    DatapathConfig datapath_;
};

TEST_F(PdpJobTest, AJobFromMemoryIgnoresWhateverUnusedRegistersHold) {
    const PdpJob job = decode();
    EXPECT_EQ(job.input, (Shape{10, 6, 16}));
    EXPECT_EQ(job.output, (Shape{10, 4, 9}));
    ASSERT_TRUE(job.source.has_value());
    EXPECT_EQ(job.source->base, Address(0x1000));
    EXPECT_EQ(job.destination.shape, (Shape{16, 4, 9}));
    EXPECT_EQ(job.pooling.parts, (std::vector<PdpPart>{{0, 16, 2, 0, 9}}));
    EXPECT_EQ(job.pooling.pad_value, (std::array<std::int32_t, 8>{}));
}

TEST_F(PdpJobTest, AFlyingJobNeverReadsTheReadDmasRegisters) {
    write_field(pdp_, "D_OPERATION_MODE_CFG", "FLYING_MODE", 0);
    fill_registers(rdma_, 0x12345677);
    EXPECT_TRUE(decode().flying());
}

TEST_F(PdpJobTest, AnAverageReadsItsPadValuesSigned) {
    write_field(pdp_, "D_OPERATION_MODE_CFG", "POOLING_METHOD", 0);
    const PdpJob job = decode();
    EXPECT_EQ(job.pooling.pad_value[7], -1);
    EXPECT_EQ(job.pooling.recip_width, 0x1ffffU);
}

TEST_F(PdpJobTest, SlicesOverlapByKernelMinusStride) {
    split();
    EXPECT_EQ(decode().pooling.parts,
              (std::vector<PdpPart>{{0, 2, 2, 0, 1}, {0, 14, 0, 1, 6}, {12, 4, 0, 7, 2}}));
}

TEST_F(PdpJobTest, SlicesMustCoverTheCube) {
    split();
    both("D_PARTIAL_WIDTH_IN", "PARTIAL_WIDTH_IN_MID", 13);
    EXPECT_THAT(refusal(), HasSubstr("PARTIAL_WIDTH_OUT_MID"));
    write_field(pdp_, "D_PARTIAL_WIDTH_OUT", "PARTIAL_WIDTH_OUT_MID", 6);
    EXPECT_THAT(refusal(), HasSubstr("SPLIT_NUM"));
}

TEST_F(PdpJobTest, WhatArrivesOnTheFlyIsNotSplit) {
    split();
    write_field(pdp_, "D_OPERATION_MODE_CFG", "FLYING_MODE", 0);
    EXPECT_THAT(refusal(), HasSubstr("NVDLA_PDP.D_OPERATION_MODE_CFG_0.SPLIT_NUM = 2: input on "
                                     "the fly is not split"));
}

TEST_F(PdpJobTest, ASplitByMistakeIsNamed) {
    both("D_OPERATION_MODE_CFG", "SPLIT_NUM", 1);
    pdp_.set(offset(pdp_, "D_PARTIAL_WIDTH_IN"), 0);
    pdp_.set(offset(pdp_, "D_PARTIAL_WIDTH_OUT"), 0);
    Diagnostics findings;
    EXPECT_FALSE(decode_pdp(pdp_, rdma_, config_, datapath_, findings));
    EXPECT_EQ(findings.at(0).remedy,
              "set D_OPERATION_MODE_CFG.SPLIT_NUM to 0, or write "
              "D_PARTIAL_WIDTH_IN and _OUT");
}

TEST_F(PdpJobTest, TheOutputMustBeWhatTheWindowsGive) {
    write_field(pdp_, "D_DATA_CUBE_OUT_WIDTH", "CUBE_OUT_WIDTH", 9);
    EXPECT_THAT(refusal(), HasSubstr("CUBE_OUT_WIDTH = 9"));
    write_field(pdp_, "D_DATA_CUBE_OUT_WIDTH", "CUBE_OUT_WIDTH", 8);
    write_field(pdp_, "D_DATA_CUBE_OUT_HEIGHT", "CUBE_OUT_HEIGHT", 2);
    EXPECT_THAT(refusal(), HasSubstr("CUBE_OUT_HEIGHT = 2"));
    write_field(pdp_, "D_DATA_CUBE_OUT_CHANNEL", "CUBE_OUT_CHANNEL", 8);
    EXPECT_THAT(refusal(), HasSubstr("CUBE_OUT_CHANNEL = 8"));
}

TEST_F(PdpJobTest, WindowsOfPaddingAloneAreRefused) {
    write_field(pdp_, "D_POOLING_PADDING_CFG", "PAD_LEFT", 4);
    write_field(pdp_, "D_DATA_CUBE_OUT_WIDTH", "CUBE_OUT_WIDTH", 9);
    EXPECT_THAT(refusal(), HasSubstr("entirely in the padding"));
    write_field(pdp_, "D_POOLING_PADDING_CFG", "PAD_LEFT", 0);
    write_field(pdp_, "D_POOLING_PADDING_CFG", "PAD_RIGHT", 6);
    EXPECT_THAT(refusal(), HasSubstr("entirely in the padding"));
}

TEST_F(PdpJobTest, ImpossibleMethodsKernelsAndPrecisionsAreRefused) {
    write_field(pdp_, "D_OPERATION_MODE_CFG", "POOLING_METHOD", 3);
    EXPECT_THAT(refusal(), HasSubstr("POOLING_METHOD = 3"));
    write_field(pdp_, "D_OPERATION_MODE_CFG", "POOLING_METHOD", 1);
    write_field(pdp_, "D_POOLING_KERNEL_CFG", "KERNEL_HEIGHT", 8);
    EXPECT_THAT(refusal(), HasSubstr("KERNEL_HEIGHT = 8"));
    write_field(pdp_, "D_DATA_FORMAT", "INPUT_DATA", 1);
    EXPECT_THAT(refusal(), HasSubstr("INPUT_DATA = 1"));
}

TEST_F(PdpJobTest, OverlappingLinesMustFitIntoTheLineBuffer) {
    config_.line_buffer_bank_atoms = 1;  // 8 columns for lines that do not overlap
    EXPECT_THAT(refusal(), HasSubstr("line buffer holds 8 columns"));
    split();
    EXPECT_EQ(refusal(), "accepted");
    config_.line_buffer_banks = 4;
    EXPECT_THAT(refusal(), HasSubstr("SPLIT_NUM = 2"));
}

TEST_F(PdpJobTest, MoreOverlapLeavesLessOfTheLineBuffer) {
    config_.line_buffer_bank_atoms = 2;
    both("D_DATA_CUBE_IN_HEIGHT", "CUBE_IN_HEIGHT", 11);
    write_field(pdp_, "D_POOLING_KERNEL_CFG", "KERNEL_HEIGHT", 4);
    write_field(pdp_, "D_POOLING_KERNEL_CFG", "KERNEL_STRIDE_HEIGHT", 1);
    write_field(pdp_, "D_DATA_CUBE_OUT_HEIGHT", "CUBE_OUT_HEIGHT", 4);
    EXPECT_THAT(refusal(), HasSubstr("line buffer holds 4 columns"));  // three lines share
}

TEST_F(PdpJobTest, TheReadDmaMustAgree) {
    write_field(rdma_, "D_DATA_CUBE_IN_HEIGHT", "CUBE_IN_HEIGHT", 4);
    EXPECT_THAT(refusal(), HasSubstr("NVDLA_PDP_RDMA.D_DATA_CUBE_IN_HEIGHT_0"));
    split();
    write_field(rdma_, "D_DATA_CUBE_IN_HEIGHT", "CUBE_IN_HEIGHT", 5);
    write_field(rdma_, "D_POOLING_KERNEL_CFG", "KERNEL_STRIDE_WIDTH", 0);
    EXPECT_THAT(refusal(), HasSubstr("KERNEL_STRIDE_WIDTH = 0"));
}

TEST_F(PdpJobTest, MisalignedSurfacesAreRefused) {
    place_surface(pdp_, "DST", 0x2001, 0x100, 0x1000);
    EXPECT_THAT(refusal(), HasSubstr("D_DST_BASE_ADDR_LOW"));
    place_surface(pdp_, "DST", 0x2000, 0x100, 0x1000);
    place_surface(rdma_, "SRC", 0x1000, 0x101, 0x1000);
    EXPECT_THAT(refusal(), HasSubstr("D_SRC_LINE_STRIDE"));
}

TEST_F(PdpJobTest, AnAbsentUnitRefusesEveryJob) {
    config_.present = false;
    EXPECT_THAT(refusal(), HasSubstr("no PDP"));
}

/// Pooling operations from memory, in one slice.
TEST(PdpRegisters, DecodingUndoesEncoding) {
    std::mt19937 random(3);
    const auto number = [&](std::uint32_t low, std::uint32_t high) {
        return std::uniform_int_distribution<std::uint32_t>(low, high)(random);
    };
    for (int round = 0; round < 300; ++round) {
        PdpJob job;
        PdpPooling& pooling = job.pooling;
        pooling.method = static_cast<PoolingMethod>(number(0, 2));
        pooling.kernel_width = number(1, 8);
        pooling.kernel_height = number(1, 8);
        pooling.stride_x = number(1, pooling.kernel_width);
        pooling.stride_y = number(1, pooling.kernel_height);
        pooling.pad_top = number(0, pooling.kernel_height - 1) % 8;
        const std::uint32_t pad_left = number(0, pooling.kernel_width - 1) % 8;
        job.output = {number(1, 64), number(1, 12), number(1, 12)};
        const std::uint32_t columns =
            (job.output.width - 1) * pooling.stride_x + pooling.kernel_width;
        const std::uint32_t rows =
            (job.output.height - 1) * pooling.stride_y + pooling.kernel_height;
        job.input = {job.output.channels, rows - pooling.pad_top, columns - pad_left};
        if (pooling.method == PoolingMethod::Average) {
            pooling.recip_width = number(0, 0x1ffff);
            pooling.recip_height = number(0, 0x1ffff);
            for (std::size_t n = 1; n < pooling.pad_value.size(); ++n) {
                pooling.pad_value[n] = static_cast<std::int32_t>(number(0, 0x7ffff)) - 0x40000;
            }
        }
        pooling.output = job.output;
        pooling.parts = {{0, job.input.width, pad_left, 0, job.output.width}};
        const auto cube = [&](Shape shape) {
            shape.channels = (shape.channels + 7) / 8 * 8;
            return FeatureCube{Address(std::uint64_t{number(0, 0xffffffffU)} * 8),
                               Bytes(8) * number(1, 1000), Bytes(8) * number(1, 1000), shape};
        };
        job.source = cube(job.input);
        job.destination = cube(job.output);
        job.source_in_sram = number(0, 1) == 1;
        job.destination_in_sram = number(0, 1) == 1;
        job.count_stalls = number(0, 1) == 1;
        const std::vector<RegisterValues> blocks = encode_pdp(job);
        const PdpJob read = decoded([&](Diagnostics& findings) {
            return decode_pdp(blocks.back(), blocks.front(), {}, {}, findings);
        });
        ASSERT_EQ(read.input, job.input);
        ASSERT_EQ(read.output, job.output);
        ASSERT_EQ(read.pooling, job.pooling);
        ASSERT_EQ(read.source, job.source);
        ASSERT_EQ(read.destination, job.destination);
        ASSERT_EQ(read.source_in_sram, job.source_in_sram);
        ASSERT_EQ(read.destination_in_sram, job.destination_in_sram);
        ASSERT_EQ(read.count_stalls, job.count_stalls);
    }
}

}  // namespace
}  // namespace npuscope
