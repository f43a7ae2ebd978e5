// SPDX-License-Identifier: Apache-2.0
#include "models/csc/csc_timing.h"

#include <gtest/gtest.h>

#include <numeric>

namespace npuscope {
namespace {

using Lengths = std::vector<std::uint32_t>;

TEST(StripeLengths, are_full_until_less_than_two_remain) {
    EXPECT_EQ(stripe_lengths({.outputs = 64}), (Lengths{16, 16, 16, 16}));
    EXPECT_EQ(stripe_lengths({.outputs = 49}), (Lengths{16, 16, 8, 9}));
    EXPECT_EQ(stripe_lengths({.outputs = 31}), (Lengths{8, 8, 15}));
    EXPECT_EQ(stripe_lengths({.outputs = 16}), (Lengths{16}));
    EXPECT_EQ(stripe_lengths({.outputs = 1}), (Lengths{1}));
}

TEST(StripeLengths, of_an_image_are_full_up_to_the_rest) {
    EXPECT_EQ(stripe_lengths({.outputs = 49, .image = true}), (Lengths{16, 16, 16, 1}));
}

TEST(StripeLengths, sum_to_the_outputs) {
    for (std::uint64_t outputs = 1; outputs < 300; ++outputs) {
        for (const bool image : {false, true}) {
            const Lengths lengths = stripe_lengths({.outputs = outputs, .image = image});
            EXPECT_EQ(std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0}), outputs);
        }
    }
}

TEST(BlockCycles, are_bound_by_the_loading_of_weights_when_the_stripe_is_short) {
    EXPECT_EQ(block_cycles({.cells = 8}, 16), Cycles(16));
    EXPECT_EQ(block_cycles({.cells = 8}, 3), Cycles(8));
}

}  // namespace
}  // namespace npuscope
