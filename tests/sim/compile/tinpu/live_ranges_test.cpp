// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>

#include "sim/compile/tinpu/layer_plan.h"

namespace npuscope {
namespace {

std::vector<LiveRange> random_lives(unsigned seed) {
    std::mt19937 dice(seed);
    std::vector<LiveRange> ranges;
    for (unsigned i = 0; i < 40; ++i) {
        const std::size_t first = dice() % 60;
        ranges.push_back(
            {std::to_string(i), Bytes(dice() % 900 + 1), first, first + dice() % 6, ""});
    }
    return ranges;
}

TEST(MapLives, MapsThatAreAliveTogetherLieApart) {
    for (unsigned seed = 0; seed < 50; ++seed) {
        const std::vector<LiveRange> ranges = random_lives(seed);
        const auto offsets = place_maps(ranges, Bytes(4));
        Bytes end;
        Bytes all;
        for (const LiveRange& a : ranges) {
            EXPECT_EQ(offsets.at(a.tensor).value % 4, 0U);
            end = std::max(end, offsets.at(a.tensor) + a.bytes);
            all += a.bytes;
            for (const LiveRange& b : ranges) {
                const bool together = a.first <= b.last && b.first <= a.last;
                const bool apart = offsets.at(a.tensor) + a.bytes <= offsets.at(b.tensor) ||
                                   offsets.at(b.tensor) + b.bytes <= offsets.at(a.tensor);
                EXPECT_TRUE(&a == &b || !together || apart) << a.tensor << " " << b.tensor;
            }
        }
        EXPECT_GE(end, peak_bytes(ranges));
        EXPECT_LT(end.value, all.value / 2);  // places are reused
    }
}

TEST(MapLives, ThePeakIsTheMostAtATime) {
    EXPECT_EQ(
        peak_bytes(
            {{"a", Bytes(10), 0, 2, ""}, {"b", Bytes(7), 2, 3, ""}, {"c", Bytes(8), 3, 5, ""}}),
        Bytes(17));
    EXPECT_EQ(peak_bytes({}), Bytes(0));
}

}  // namespace
}  // namespace npuscope
