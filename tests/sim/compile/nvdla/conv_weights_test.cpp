// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/conv_weights.h"

#include <gtest/gtest.h>

namespace npuscope {
namespace {

TEST(WinogradValues, ASingleTapInTheMiddleIsSpreadOverFourElements) {
    std::array<std::int8_t, 9> taps{};
    taps[4] = 64;  // G w G^T: a quarter, with the signs of both directions; halved
    const std::array<std::int8_t, 16> patch = winograd_taps(taps);
    const std::array<std::int8_t, 16> expected{0, 0, 0, 0, 0, 8, -8, 0, 0, -8, 8, 0, 0, 0, 0, 0};
    EXPECT_EQ(patch, expected);
}

TEST(WinogradValues, CornersAreTheTapsHalved) {
    const std::array<std::int8_t, 16> patch = winograd_taps({100, 0, -7, 0, 0, 0, 51, 0, 127});
    EXPECT_EQ(patch[0], 50);
    EXPECT_EQ(patch[3], -4);  // ties go away from zero
    EXPECT_EQ(patch[12], 26);
    EXPECT_EQ(patch[15], 64);
}

TEST(WinogradValues, SumsThatAreTooLargeStayAtTheEdge) {
    std::array<std::int8_t, 9> taps;
    taps.fill(127);
    EXPECT_EQ(winograd_taps(taps)[5], 127);  // 9 / 4 * 127 / 2 is 143
    taps.fill(-128);
    EXPECT_EQ(winograd_taps(taps)[5], -128);
}

}  // namespace
}  // namespace npuscope
