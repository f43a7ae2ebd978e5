// SPDX-License-Identifier: Apache-2.0
#include "models/conv/csc_timing.h"

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

TEST(StripeLengths, of_an_image_are_full_up_to_the_rest_of_each_row) {
    EXPECT_EQ(stripe_lengths({.outputs = 49, .row = 49}), (Lengths{16, 16, 16, 1}));
    EXPECT_EQ(stripe_lengths({.outputs = 40, .row = 20}), (Lengths{16, 4, 16, 4}));
}

// source: NV_NVDLA_CSC_sg.v of nvdlav1, lower_limit_w and upper_limit_w: 16 and 32 patches
TEST(StripeLengths, of_winograd_are_counted_in_patches) {
    const auto of = [](std::uint64_t outputs) {
        return stripe_lengths(
            {.outputs = outputs, .cells = 16, .full_stripe = 128, .outputs_per_cycle = 4});
    };
    EXPECT_EQ(of(128), (Lengths{128}));
    EXPECT_EQ(of(144), (Lengths{64, 80}));
    EXPECT_EQ(of(256), (Lengths{128, 128}));
}

TEST(StripeLengths, of_batches_take_no_place_apart) {
    const auto of = [](std::uint64_t places, std::uint32_t batches) {
        return stripe_lengths({.outputs = places * batches,
                               .cells = 16,
                               .full_stripe = 32,
                               .batches = batches,
                               .most_outputs = 128});
    };
    EXPECT_EQ(of(24, 2), (Lengths{16, 32}));
    EXPECT_EQ(of(24, 3), (Lengths{24, 48}));
    EXPECT_EQ(of(9, 5), (Lengths{20, 25}));
    EXPECT_EQ(of(3, 16), (Lengths{16, 16, 16}));
    EXPECT_EQ(of(2, 32), (Lengths{32, 32}));
}

TEST(StripeLengths, sum_to_the_outputs) {
    for (std::uint64_t outputs = 1; outputs < 300; ++outputs) {
        for (const std::uint64_t rows : {0U, 1U, 3U}) {
            const std::uint64_t all = rows > 0 ? outputs * rows : outputs;
            const Lengths lengths = stripe_lengths({.outputs = all, .row = rows > 0 ? outputs : 0});
            EXPECT_EQ(std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0}), all);
        }
    }
}

TEST(BlockCycles, are_bound_by_the_loading_of_weights_when_the_stripe_is_short) {
    EXPECT_EQ(block_cycles({.cells = 8}, 16), Cycles(16));
    EXPECT_EQ(block_cycles({.cells = 8}, 3), Cycles(8));
    // pixels of which several rows are processed at once pass in groups of that size
    EXPECT_EQ(block_cycles({.cells = 8, .rows_together = 2}, 9), Cycles(10));
    EXPECT_EQ(block_cycles({.cells = 8, .rows_together = 4}, 9), Cycles(12));
}

// the pairs below: the later of two conditions decides, by one cycle either way
TEST(BlockCycles, wait_for_the_data_of_each_output_where_entries_are_narrow) {
    EXPECT_EQ(block_cycles({.cells = 8, .reads = 4}, 16), Cycles(64));
    EXPECT_EQ(block_cycles({.cells = 8, .reads = 4}, 1), Cycles(8));
    EXPECT_EQ(passing_cycles({.cells = 8, .reads = 4}, 1), Cycles(4));
}

TEST(BlockCycles, end_with_the_last_patch_where_nothing_is_loaded_behind_it) {
    EXPECT_EQ(passing_cycles({.cells = 16, .outputs_per_cycle = 4}, 64), Cycles(16));
    EXPECT_EQ(passing_cycles({.cells = 16, .outputs_per_cycle = 4}, 16), Cycles(4));
    EXPECT_EQ(passing_cycles({.cells = 16}, 10), Cycles(10));
}

TEST(GroupStart, follows_the_weights_or_the_data_whichever_comes_later) {
    const CscConfig config;
    GroupInputs inputs{.weights = Cycles(1000), .data = Cycles(997), .load = 8};
    EXPECT_EQ(group_start(config, inputs), Cycles(1000 + 29 + 8));
    inputs.data = Cycles(998);
    EXPECT_EQ(group_start(config, inputs), Cycles(998 + 32 + 8));
}

TEST(GroupStart, waits_for_the_loading_of_as_many_kernels_as_the_group_has) {
    const CscConfig config;
    GroupInputs inputs{.weights = Cycles(1000), .data = Cycles(0), .load = 5};
    EXPECT_EQ(group_start(config, inputs), Cycles(1000 + 29 + 5));
    inputs.load = 1;
    EXPECT_EQ(group_start(config, inputs), Cycles(1000 + 29 + 2));
}

TEST(GroupStart, is_not_before_the_operation_in_front_has_left) {
    const CscConfig config;
    GroupInputs inputs{
        .weights = Cycles(1000), .data = Cycles(0), .previous = Cycles(973), .load = 8};
    EXPECT_EQ(group_start(config, inputs), Cycles(973 + 57 + 8));
    inputs.previous = Cycles(971);
    EXPECT_EQ(group_start(config, inputs), Cycles(1000 + 29 + 8));
}

}  // namespace
}  // namespace npuscope
