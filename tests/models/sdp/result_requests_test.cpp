// SPDX-License-Identifier: Apache-2.0
#include "models/sdp/result_requests.h"

#include <gtest/gtest.h>

namespace npuscope {
namespace {

/// Two surfaces of 16-bit atoms, five pixels wide: every other line begins amid a beat.
SdpJob doubled_job() {
    SdpJob job;
    job.shape = {32, 2, 5};
    job.stages.processing = Precision::Int8;
    job.stages.output = Precision::Int16;
    job.destination = FeatureCube{.base = Address(0x1000),
                                  .line_stride = Bytes(160),
                                  .surface_stride = Bytes(320),
                                  .shape = {32, 2, 5},
                                  .atom = Bytes(32),
                                  .element = Bytes(2)};
    return job;
}

std::vector<ResultRequests::Request> requests_of(ResultRequests& requests, const PixelRun& run) {
    std::vector<ResultRequests::Request> made;
    requests.add(run, made);
    return made;
}

TEST(ResultRequests, of_atoms_that_double_take_both_surfaces_in_turns) {
    ResultRequests requests;
    requests.begin(doubled_job(), 32);
    const PixelRun run{
        .surface = 0, .first = 0, .count = 3, .leaves = Cycles(10), .interval = Cycles(8)};
    const auto first = requests_of(requests, run);
    ASSERT_EQ(first.size(), 2);  // the third pixel waits for the fourth
    EXPECT_EQ(first[0].run.surface, 0);
    EXPECT_EQ(first[0].run.count, 2);
    EXPECT_EQ(first[0].run.leaves, Cycles(14));  // half of the second atom
    EXPECT_EQ(first[1].run.surface, 1);
    EXPECT_EQ(first[1].run.leaves, Cycles(18));
    EXPECT_TRUE(first[1].run.apart);
}

TEST(ResultRequests, of_a_surface_that_no_channel_is_in_take_their_turns) {
    ResultRequests requests;
    requests.begin(doubled_job(), 32);
    EXPECT_EQ(requests.padding(), Cycles(3));
    SdpJob job = doubled_job();
    job.stages.output = Precision::Int8;
    requests.begin(job, 32);
    EXPECT_EQ(requests.padding(), Cycles(0));
}

TEST(ResultRequests, of_pairs_end_with_a_beat_and_with_a_line) {
    ResultRequests requests;
    requests.begin(doubled_job(), 32);
    const PixelRun run{.surface = 0, .first = 0, .count = 10, .interval = Cycles(2)};
    std::vector<std::uint64_t> first_pixels;
    for (const auto& request : requests_of(requests, run)) {
        if (request.run.surface == 0) {
            first_pixels.push_back(request.run.first);
        }
    }
    EXPECT_EQ(first_pixels, (std::vector<std::uint64_t>{0, 2, 4, 5, 6, 8}));
}

TEST(ResultRequests, of_tiles_hold_a_pair_of_each_of_four_lines) {
    SdpJob job = doubled_job();
    job.winograd = true;
    job.stages.processing = Precision::Int16;
    job.shape = job.destination->shape = {16, 4, 4};
    ResultRequests requests;
    requests.begin(job, 16);
    std::vector<std::uint64_t> first_pixels;
    for (const auto& request :
         requests_of(requests, {.surface = 0, .first = 0, .count = 16, .interval = Cycles(1)})) {
        EXPECT_EQ(request.run.count, 2);
        first_pixels.push_back(request.run.first);
    }
    EXPECT_EQ(first_pixels, (std::vector<std::uint64_t>{0, 4, 8, 12, 2, 6, 10, 14}));
}

TEST(ResultRequests, of_batches_hold_a_pair_of_each_in_turns) {
    SdpJob job = doubled_job();
    job.batches = 2;
    job.stages.processing = Precision::Int16;
    job.shape = job.destination->shape = {16, 1, 3};
    ResultRequests requests;
    requests.begin(job, 16);
    std::vector<std::array<std::uint64_t, 3>> made;
    for (const auto& request :
         requests_of(requests, {.surface = 0, .first = 0, .count = 6, .interval = Cycles(1)})) {
        made.push_back({request.batch, request.run.first, request.run.count});
    }
    EXPECT_EQ(made, (std::vector<std::array<std::uint64_t, 3>>{
                        {0, 0, 2}, {1, 0, 2}, {0, 2, 1}, {1, 2, 1}}));
}

}  // namespace
}  // namespace npuscope
