// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "models/conv/csc_math.h"

namespace npuscope {
namespace {

ImageWalk walk(std::uint32_t row_bytes, std::uint32_t step = 4) {
    return {.row_bytes = row_bytes, .step = step, .width = 8, .shortest = 8, .miscounts = true};
}

TEST(ImageWalk, of_hardware_that_counts_right_meets_every_byte_in_its_place) {
    for (std::uint32_t bytes = 1; bytes <= 128; ++bytes) {
        for (const std::uint32_t step : {1U, 3U, 4U, 7U, 8U, 9U, 12U, 16U}) {
            for (const std::uint32_t length : {1U, 2U, 9U, 16U}) {
                ImageWalk right = walk(bytes, step);
                right.miscounts = false;
                EXPECT_FALSE(first_wrong_block(right, length)) << bytes << ' ' << step;
            }
        }
    }
}

TEST(ImageWalk, a_stripe_of_one_output_goes_wrong_from_four_blocks_on) {
    EXPECT_FALSE(first_wrong_block(walk(20), 1));
    EXPECT_EQ(first_wrong_block(walk(28), 1), 3U);
    EXPECT_EQ(first_wrong_block(walk(36), 1), 3U);
    EXPECT_FALSE(first_wrong_block(walk(32), 1));  // whole blocks
    EXPECT_FALSE(first_wrong_block(walk(36), 2));
    // the count begins at two and rises by a block's cycles: beyond ten blocks one more is right
    EXPECT_EQ(first_wrong_block(walk(84), 1), 4U);
}

TEST(ImageWalk, a_stripe_of_one_output_adds_the_last_blocks_bytes_too_early) {
    EXPECT_EQ(walk(36).reaches(1), (std::vector<std::uint32_t>{7, 15, 19, 23, 27}));
    EXPECT_EQ(walk(36).reaches(16), (std::vector<std::uint32_t>{7, 15, 23, 31, 35}));
    // entries 0, 1, 2, 2, 3
    EXPECT_EQ(met_byte(walk(36), 3, 23, 0, 5), 16U + 5U);
    EXPECT_EQ(met_byte(walk(36), 4, 27, 0, 0), 24U);
}

TEST(ImageWalk, one_byte_more_than_whole_blocks_hurts_the_last_two) {
    EXPECT_FALSE(first_wrong_block(walk(9, 1), 16));
    EXPECT_EQ(walk(17, 1).reaches(16), (std::vector<std::uint32_t>{7, 8, 9}));
    EXPECT_EQ(first_wrong_block(walk(17, 1), 16), 1U);
    EXPECT_EQ(first_wrong_block(walk(33, 12), 16), 3U);
    // the next entry comes too late: its lanes are zero
    EXPECT_EQ(met_byte(walk(17, 1), 1, 8, 3, 4), 15U);
    EXPECT_FALSE(met_byte(walk(17, 1), 1, 8, 3, 5));
    // wide steps take bytes that end where the count says
    EXPECT_EQ(met_byte(walk(33, 12), 3, 24, 1, 0), 24U + 12U - 7U);
}

TEST(ImageWalk, of_a_row_is_asked_for_whole_stripes_and_the_last_one) {
    EXPECT_FALSE(find_miscount(walk(28), {16, 16}));
    EXPECT_FALSE(find_miscount(walk(28), {18, 16}));
    const auto last = find_miscount(walk(28), {33, 16});
    ASSERT_TRUE(last);
    EXPECT_EQ(last->column, 32U);
    EXPECT_EQ(last->block, 3U);
}

TEST(ImageWalk, columns_of_zeros_make_it_right) {
    for (std::uint32_t columns = 1; columns <= 32; ++columns) {
        for (const std::uint32_t channels : {1U, 3U, 4U}) {
            for (const std::uint32_t outputs : {1U, 7U, 17U}) {
                ImageWalk padded = walk(columns * channels, channels);
                const std::uint32_t added = columns_to_add(padded, {outputs, 16}, channels);
                EXPECT_LT(added, 8U);
                EXPECT_EQ(added > 0, find_miscount(padded, {outputs, 16}).has_value());
                padded.row_bytes += added * channels;
                EXPECT_FALSE(find_miscount(padded, {outputs, 16}));
            }
        }
    }
}

}  // namespace
}  // namespace npuscope
