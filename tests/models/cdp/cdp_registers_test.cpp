// SPDX-License-Identifier: Apache-2.0
#include "models/cdp/cdp_registers.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "models/base/error.h"
#include "tests/support/refusal.h"
#include "tests/support/registers.h"

namespace npuscope {
namespace {

using ::testing::HasSubstr;

/// 5 x 3 x 10 from 0x1000 to 0x2000; registers that are never used hold rubbish.
class CdpJobTest : public ::testing::Test {
 protected:
    CdpJobTest() : cdp_(cdp_block), rdma_(cdp_rdma_block) {
        fill_registers(cdp_, 0xffffffff);
        fill_registers(rdma_, 0xffffffff);
        write_field(rdma_, "D_DATA_CUBE_WIDTH", "WIDTH", 4);
        write_field(rdma_, "D_DATA_CUBE_HEIGHT", "HEIGHT", 2);
        write_field(rdma_, "D_DATA_CUBE_CHANNEL", "CHANNEL", 9);
        write_field(rdma_, "D_DATA_FORMAT", "INPUT_DATA", 0);
        write_field(cdp_, "D_DATA_FORMAT", "INPUT_DATA_TYPE", 0);
        place_surface(cdp_, "DST", 0x2000, 40, 120);
        place_surface(rdma_, "SRC", 0x1000, 40, 120);
    }

    CdpJob decode() const {
        return decoded([this](Diagnostics& findings) {
            return decode_cdp(cdp_, rdma_, config_, datapath_, findings);
        });
    }
    std::string refusal() const {
        return refusal_of([this] { decode(); });
    }

    RegisterValues cdp_;
    RegisterValues rdma_;
    CdpConfig config_;
    DatapathConfig datapath_;
};

TEST_F(CdpJobTest, TheCubeComesFromTheReadDma) {
    const CdpJob job = decode();
    EXPECT_EQ(job.shape, (Shape{10, 3, 5}));
    EXPECT_EQ(job.normalization.channels, 10U);
    EXPECT_EQ(job.source.shape, (Shape{16, 3, 5}));
    EXPECT_EQ(job.destination.base, Address(0x2000));
}

TEST_F(CdpJobTest, FieldsAreSignedWhereTheHardwareTakesThemSo) {
    write_field(cdp_, "S_LUT_LE_START_HIGH", "LUT_LE_START_HIGH", 0x20);
    write_field(cdp_, "S_LUT_LE_START_LOW", "LUT_LE_START_LOW", 5);
    const CdpNormalization normalization = decode().normalization;
    EXPECT_EQ(normalization.lut.le.start, 5 - (std::int64_t{1} << 37U));
    EXPECT_EQ(normalization.lut.le.end, -1);
    EXPECT_EQ(normalization.lut.lo.overflow, (LookupSlope{-1, -1}));
    EXPECT_EQ(normalization.lut.lo.index_select, -1);
    EXPECT_EQ(normalization.input, (Conversion{-1, -1, 31}));
    EXPECT_EQ(normalization.output, (Conversion{-1, -1, 63}));
}

TEST_F(CdpJobTest, LocalSizesAreThreeToNine) {
    for (const std::uint32_t code : {0U, 1U, 2U, 3U}) {
        write_field(cdp_, "D_LRN_CFG", "NORMALZ_LEN", code);
        EXPECT_EQ(decode().normalization.local_size, 3 + 2 * code);
    }
}

TEST_F(CdpJobTest, OtherPrecisionsAreRefused) {
    write_field(cdp_, "D_DATA_FORMAT", "INPUT_DATA_TYPE", 1);
    EXPECT_THAT(refusal(), HasSubstr("NVDLA_CDP.D_DATA_FORMAT_0.INPUT_DATA_TYPE = 1"));
    write_field(cdp_, "D_DATA_FORMAT", "INPUT_DATA_TYPE", 0);
    write_field(rdma_, "D_DATA_FORMAT", "INPUT_DATA", 2);
    EXPECT_THAT(refusal(), HasSubstr("NVDLA_CDP_RDMA.D_DATA_FORMAT_0.INPUT_DATA = 2"));
}

TEST_F(CdpJobTest, MisalignedSurfacesAreRefused) {
    place_surface(cdp_, "DST", 0x2002, 40, 120);
    EXPECT_THAT(refusal(), HasSubstr("D_DST_BASE_ADDR_LOW"));
    place_surface(cdp_, "DST", 0x2000, 40, 120);
    place_surface(rdma_, "SRC", 0x1000, 44, 132);
    EXPECT_THAT(refusal(), HasSubstr("D_SRC_LINE_STRIDE"));
}

TEST_F(CdpJobTest, AnAbsentUnitRefusesEveryJob) {
    config_.present = false;
    EXPECT_THAT(refusal(), HasSubstr("no CDP"));
}

TEST_F(CdpJobTest, RegistersOfAJobDecodeToTheJob) {
    std::mt19937 random(32);
    datapath_.int16 = datapath_.fp16 = true;
    for (unsigned i = 0; i < 300; ++i) {
        randomise_registers(cdp_, random);
        randomise_registers(rdma_, random);
        for (const auto& [name, field] :
             {std::pair{"D_DATA_CUBE_WIDTH", "WIDTH"}, std::pair{"D_DATA_CUBE_HEIGHT", "HEIGHT"},
              std::pair{"D_DATA_CUBE_CHANNEL", "CHANNEL"}}) {
            write_field(rdma_, name, field, below(random, 100));
        }
        place_surface(rdma_, "SRC", 8 * below(random, 1000), 8 * below(random, 1000),
                      8 * below(random, 1000));
        place_surface(cdp_, "DST", 8 * below(random, 1000), 8 * below(random, 1000),
                      8 * below(random, 1000));
        write_field(rdma_, "D_DATA_FORMAT", "INPUT_DATA", i % 3);
        write_field(cdp_, "D_DATA_FORMAT", "INPUT_DATA_TYPE", i % 3);
        const CdpJob job = decode();
        const std::vector<RegisterValues> blocks = encode_cdp(job);
        rdma_ = blocks.at(0);
        cdp_ = blocks.at(1);
        EXPECT_EQ(decode(), job);
    }
}

}  // namespace
}  // namespace npuscope
