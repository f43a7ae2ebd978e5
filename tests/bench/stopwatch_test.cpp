// SPDX-License-Identifier: Apache-2.0
#include "bench/stopwatch.h"

#include <gtest/gtest.h>

#include <vector>

namespace npuscope::bench {
namespace {

TEST(Stopwatch, WorksTakeTurns) {
    std::vector<char> order;
    const auto best =
        best_of_each(2, {[&] { order.push_back('a'); }, [&] { order.push_back('b'); }});
    EXPECT_EQ(order, (std::vector<char>{'a', 'b', 'a', 'b'}));
    EXPECT_EQ(best.size(), 2U);
}

TEST(Stopwatch, MemoryIsThatOfAChildWhichChangesNothingHere) {
    int touched = 0;
    const Bytes small = peak_memory([&] { touched = 1; });
    const Bytes large = peak_memory([] { std::vector<char> block(64 << 20U, 'x'); });
    EXPECT_EQ(touched, 0);
    EXPECT_GT(small, Bytes(0));
    EXPECT_GE(large, small + Bytes(48 << 20U));
}

}  // namespace
}  // namespace npuscope::bench
