// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>

#include "models/tinpu/tinpu_job.h"
#include "sim/check/check_report.h"

namespace npuscope {
namespace {

/// A convolution of 4x8x8 to 8x8x8 by 3x3, and its pooling to 8x4x4.
class JobCheckTest : public testing::Test {
 public:
    JobCheckTest() {
        MemoryRegionConfig region;
        region.base = Address(0x1000);
        region.size = Bytes(0x8000);
        memory_.regions = {region};
        conv_->name = "conv";
        conv_->kind = "GCONV";
        conv_->input = {Address(0x1000), {4, 8, 8}};
        conv_->output = {Address(0x1400), {8, 8, 8}};
        conv_->weights = WeightSurface{Address(0x8000), {8, 4, 3, 3}, 8};
        conv_->constants = Address(0x8120);
        conv_->geometry.pad_left = conv_->geometry.pad_top = 1;
        conv_->pad_right = conv_->pad_bottom = 1;
        conv_->rows = conv_->columns = 3;
        pool_->name = "pool";
        pool_->kind = "MAXPOOL";
        pool_->work = TinpuWork::MaxPool;
        pool_->input = conv_->output;
        pool_->output = {Address(0x1000), {8, 4, 4}};
        pool_->geometry.stride_x = pool_->geometry.stride_y = 2;
        pool_->rows = pool_->columns = 2;
    }

    CheckReport checked() const {
        Program program;
        const auto add = [&](const Action& action) {
            program.statements.emplace_back();
            program.statements.back().action = action;
        };
        for (const auto& [file, address, bytes] : {std::tuple{"weights.dat", 0x8000U, 288U},
                                                   std::tuple{"constants.dat", 0x8120U, 48U}}) {
            LoadMemory load;
            load.file = file;
            load.address = Address(address);
            load.image.bytes.assign(bytes, 1);
            load.image.runs = {{0, 0, bytes}};
            add(load);
        }
        add(LaunchJob{.job = conv_});
        add(LaunchJob{.job = pool_});
        add(WaitForJobs{});
        program.surfaces = {{.name = "input", .spec = "0x1000:1x4x8x8:uint8:N H W C"},
                            {.name = "conv",
                             .spec = "0x1400:1x8x8x8:uint8:N H W C",
                             .after = "conv",
                             .is_result = true}};
        return check_jobs(program, memory_, Bytes(4));
    }

    /// The first finding as `id: register`; empty where there is none.
    std::string first() const {
        const CheckReport report = checked();
        return report.findings.empty()
                   ? ""
                   : report.findings.front().id + ": " + report.findings.front().register_name;
    }

    MemoryConfig memory_;
    std::shared_ptr<TinpuJob> conv_ = std::make_shared<TinpuJob>();
    std::shared_ptr<TinpuJob> pool_ = std::make_shared<TinpuJob>();
};

TEST_F(JobCheckTest, AProgramWithoutMistakesIsClean) { EXPECT_EQ(first(), ""); }

TEST_F(JobCheckTest, ASurfaceOffTheGridIsFound) {
    pool_->output.base = Address(0x1002);
    const CheckReport report = checked();
    ASSERT_EQ(report.findings.size(), 1U);
    EXPECT_EQ(report.findings[0].id, "misaligned");
    EXPECT_EQ(report.findings[0].operation, "pool");
    EXPECT_EQ(report.findings[0].surface, "output");
}

TEST_F(JobCheckTest, WindowsThatEndBeforeTheirInputAreFound) {
    pool_->geometry.stride_y = 1;
    EXPECT_EQ(first(), "window_mismatch: words 11 to 21 (sizes and window)");
}

TEST_F(JobCheckTest, WindowsThatGoAStepBeyondTheirInputAreFound) {
    pool_->rows = 4;
    EXPECT_EQ(first(), "window_mismatch: words 11 to 21 (sizes and window)");
}

TEST_F(JobCheckTest, AResultThatLiesElsewhereThanTheProgramSaysIsFound) {
    conv_->output.base = Address(0x1404);
    EXPECT_EQ(first(), "map_mismatch: words 3 and 4 (output)");
}

TEST_F(JobCheckTest, AMapIsReadWhereItWasWritten) {
    pool_->input.base = Address(0x1410);
    EXPECT_EQ(first(), "map_mismatch: words 1 and 2 (input)");
}

TEST_F(JobCheckTest, AMapIsReadWithTheSignThatItWasWrittenWith) {
    pool_->input.is_signed = true;
    EXPECT_EQ(first(), "map_mismatch: word 0 (bit 16: input signed)");
}

TEST_F(JobCheckTest, TheHostsMapHasTheShapeOfItsReader) {
    conv_->input.is_signed = true;
    EXPECT_EQ(first(), "map_mismatch: word 0 (bit 16: input signed)");
}

TEST_F(JobCheckTest, AKindThatItsDescriptorContradictsIsFound) {
    conv_->work = TinpuWork::Transposed;
    conv_->pad_bottom = conv_->pad_right = 1;
    EXPECT_EQ(first(), "map_mismatch: word 0 (work)");
}

TEST_F(JobCheckTest, ConstantsThatBeginWithinTheWeightsAreFound) {
    conv_->constants = Address(0x8118);
    EXPECT_EQ(first(), "partly_loaded: words 9 and 10 (constants)");
}

TEST_F(JobCheckTest, AnInputThatIsNeitherWrittenNorNamedIsUninitialised) {
    conv_->input.base = Address(0x1e00);
    EXPECT_EQ(first(), "uninitialised_read: words 1 and 2 (input)");
}

TEST_F(JobCheckTest, AFileOfWeightsHasTheBytesOfTheirWidth) {
    conv_->weights->bits = 4;
    EXPECT_EQ(first(), "size_mismatch: word 0 (weight bits)");
}

TEST_F(JobCheckTest, PaddingThatNoWindowReachesIsNoMistake) {
    conv_->pad_bottom = 2;
    EXPECT_EQ(first(), "");
    conv_->pad_bottom = 1;
    conv_->geometry.pad_top = 2;
    EXPECT_EQ(first(), "window_mismatch: words 11 to 21 (sizes and window)");
}

TEST_F(JobCheckTest, AConvolutionOfOnePointIsOneEitherWayRound) {
    conv_->rows = conv_->columns = 1;
    conv_->geometry.pad_left = conv_->geometry.pad_top = 0;
    conv_->pad_right = conv_->pad_bottom = 0;
    conv_->weights->shape = {8, 4, 1, 1};
    conv_->work = TinpuWork::Transposed;
    EXPECT_NE(first(), "map_mismatch: word 0 (work)");
    conv_->work = TinpuWork::Depthwise;
    EXPECT_EQ(first(), "map_mismatch: word 0 (work)");
}

}  // namespace
}  // namespace npuscope
