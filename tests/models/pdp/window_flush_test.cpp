// SPDX-License-Identifier: Apache-2.0
#include "models/pdp/window_flush.h"

#include <gtest/gtest.h>

namespace npuscope {
namespace {

struct Case {
    PooledExtent axis;
    std::uint32_t kernel;
    std::uint32_t stride;
    std::uint32_t ending;
    std::uint32_t flushed;
};

TEST(WindowFlush, agrees_where_windows_cover_the_padded_input) {
    for (std::uint32_t kernel = 1; kernel <= 8; ++kernel) {
        for (std::uint32_t stride = 1; stride <= 8; ++stride) {
            for (std::uint32_t after = 0; after < kernel; ++after) {
                for (std::uint32_t size = 1; size < 40; ++size) {
                    const PooledExtent axis{0, size, after};
                    if (size + after < kernel || uncovered(axis, kernel, stride) != 0) {
                        continue;
                    }
                    EXPECT_EQ(ending_windows(axis, kernel, stride),
                              flushed_windows(axis, kernel, stride))
                        << size << ' ' << after << ' ' << kernel << ' ' << stride;
                }
            }
        }
    }
}

TEST(WindowFlush, counts_windows_of_poolings_that_were_replayed) {
    // a remainder that makes up no window: the RTL's checksums are right
    const Case right[] = {{{1, 28, 1}, 3, 2, 1, 1}, {{0, 10, 0}, 3, 2, 0, 0},
                          {{2, 13, 0}, 5, 4, 0, 0}, {{2, 17, 0}, 3, 3, 0, 0},
                          {{2, 10, 1}, 5, 3, 0, 0}, {{1, 13, 1}, 3, 5, 0, 0}};
    // the RTL's results differ from the C model's
    const Case wrong[] = {{{1, 8, 2}, 4, 2, 1, 2}, {{2, 9, 2}, 4, 2, 1, 2}};
    for (const auto& [axis, kernel, stride, ending, flushed] : right) {
        EXPECT_EQ(ending_windows(axis, kernel, stride), ending);
        EXPECT_EQ(flushed_windows(axis, kernel, stride), flushed);
    }
    for (const auto& [axis, kernel, stride, ending, flushed] : wrong) {
        EXPECT_EQ(ending_windows(axis, kernel, stride), ending);
        EXPECT_EQ(flushed_windows(axis, kernel, stride), flushed);
    }
}

}  // namespace
}  // namespace npuscope
