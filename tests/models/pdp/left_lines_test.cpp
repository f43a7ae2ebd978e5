// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "models/pdp/pdp_registers.h"

namespace npuscope {
namespace {

/// Windows of three lines, two lines apart.
PdpJob pooling(std::uint32_t lines, std::uint32_t outputs, std::uint32_t pad_top = 0) {
    PdpJob job;
    job.input = {8, lines, 9};
    job.output = {8, outputs, 4};
    job.pooling.kernel_height = 3;
    job.pooling.stride_y = 2;
    job.pooling.pad_top = pad_top;
    return job;
}

TEST(LeftLines, AreNoneWhereTheLastWindowEndsWithTheInputOrAfterIt) {
    EXPECT_FALSE(lines_left(pooling(11, 5), "pdp 0"));
    EXPECT_FALSE(lines_left(pooling(10, 5), "pdp 0"));
    EXPECT_FALSE(lines_left(pooling(10, 5, 1), "pdp 0"));
}

TEST(LeftLines, AreReportedWithRegistersAndRemedy) {
    const auto left = lines_left(pooling(12, 5), "pdp 3");
    ASSERT_TRUE(left);
    EXPECT_EQ(left->id, "lines_left");
    EXPECT_EQ(left->operation, "pdp 3");
    EXPECT_EQ(left->register_name, "NVDLA_PDP.D_DATA_CUBE_IN_HEIGHT_0");
    const std::string& message = left->sentence;
    EXPECT_NE(message.find("NVDLA_PDP.D_DATA_CUBE_IN_HEIGHT_0 is 0xb, 12 lines"), std::string::npos)
        << message;
    EXPECT_NE(message.find("ends at line 11"), std::string::npos) << message;
    EXPECT_NE(left->remedy.find("set the height to 10"), std::string::npos) << left->remedy;
    EXPECT_EQ(pooling(12, 5, 1).lines_pooled(), 10U);
}

}  // namespace
}  // namespace npuscope
