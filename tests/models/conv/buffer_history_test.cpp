// SPDX-License-Identifier: Apache-2.0
#include "models/conv/buffer_history.h"

#include <gtest/gtest.h>

namespace npuscope {
namespace {

/// A direct convolution of eight lines.
ConvJob eight_lines() {
    ConvJob job;
    job.parts.cdma.input = job.parts.csc.input = {32, 8, 8};
    job.parts.csc.release_slices = 8;
    job.weights = direct_weights({16, 32, 1, 1}, {});
    return job;
}

TEST(BufferHistory, WithoutReuseNothingIsTakenOver) {
    BufferHistory history(Bytes(8));
    ConvJob job = eight_lines();
    job.parts.csc.reuse.skip_data_release = true;
    EXPECT_EQ(history.next(job).start, BufferStart{});
    EXPECT_EQ(history.next(job).start, BufferStart{});
}

TEST(BufferHistory, SkippedReleasesAreReusedWhole) {
    BufferHistory history(Bytes(8));
    ConvJob first = eight_lines();
    first.parts.csc.reuse = {.skip_data_release = true, .skip_weight_release = true};
    ConvJob second = eight_lines();
    second.parts.csc.reuse = {.data_reuse = true, .weight_reuse = true};
    history.next(first);
    const KnownBufferStart known = history.next(second);
    EXPECT_TRUE(known.findings.empty());
    EXPECT_TRUE(known.start.data_reused);
    EXPECT_TRUE(known.start.weights_reused);
    EXPECT_EQ(left_lines(first), 8U);
    EXPECT_EQ(left_lines(second), 0U);
}

TEST(BufferHistory, LinesBeyondTheReleaseStandInFrontOfNewOnes) {
    BufferHistory history(Bytes(8));
    ConvJob first = eight_lines();
    first.parts.csc.release_slices = 6;
    ConvJob second = eight_lines();
    second.parts.csc.reuse.data_reuse = true;
    second.parts.cdma.input.height = 6;
    history.next(first);
    const KnownBufferStart known = history.next(second);
    EXPECT_TRUE(known.findings.empty());
    EXPECT_FALSE(known.start.data_reused);
    EXPECT_EQ(known.start.kept_lines, 2U);
}

TEST(BufferHistory, LinesThatDoNotAddUpAreAnError) {
    BufferHistory history(Bytes(8));
    ConvJob first = eight_lines();
    first.parts.csc.release_slices = 6;
    ConvJob second = eight_lines();
    second.parts.csc.reuse.data_reuse = true;
    second.parts.cdma.input.height = 5;
    history.next(first);
    const KnownBufferStart known = history.next(second);
    ASSERT_EQ(known.findings.size(), 1U);
    EXPECT_EQ(known.findings[0].severity, Severity::Error);
    EXPECT_NE(known.findings[0].sentence.find("2 kept plus 5 fetched lines do not match the 8"),
              std::string::npos);
}

TEST(BufferHistory, AnotherSplitOrModeDropsWhatWasKept) {
    ConvJob first = eight_lines();
    first.parts.csc.reuse = {.skip_data_release = true, .skip_weight_release = true};
    ConvJob second = eight_lines();
    second.parts.csc.reuse = {.data_reuse = true, .weight_reuse = true};
    second.parts.csc.banks.data = 2;
    BufferHistory history(Bytes(8));
    history.next(first);
    const KnownBufferStart known = history.next(second);
    EXPECT_EQ(known.start, BufferStart{});
    ASSERT_EQ(known.findings.size(), 2U);
    EXPECT_EQ(known.findings[0].id, "reuse_of_nothing");
    EXPECT_EQ(known.findings[1].severity, Severity::Warning);
}

TEST(BufferHistory, KeptDataOfAnotherShapeAreAnError) {
    BufferHistory history(Bytes(8));
    ConvJob first = eight_lines();
    first.parts.csc.reuse.skip_data_release = true;
    ConvJob second = eight_lines();
    second.parts.csc.input.width = second.parts.cdma.input.width = 4;
    second.parts.csc.reuse.data_reuse = true;
    history.next(first);
    const KnownBufferStart known = history.next(second);
    ASSERT_EQ(known.findings.size(), 1U);
    EXPECT_EQ(known.findings[0].id, "impossible_reuse");
}

/// Weights of 100 bytes (13 entries) that are fetched as 128 (16 entries).
ConvJob padded_weights() {
    ConvJob job = eight_lines();
    job.weights = direct_weights({4, 25, 1, 1}, {});
    job.parts.cdma.weight_bytes = Bytes(128);
    return job;
}

TEST(BufferHistory, WeightsThatNobodyTakesPileUpInFrontOfTheNextOnes) {
    BufferHistory history(Bytes(8));
    const ConvJob job = padded_weights();
    EXPECT_EQ(fetched_weights(job, Bytes(8)), 16U);
    EXPECT_EQ(unused_weights(job, Bytes(8)), 3U);
    EXPECT_EQ(history.next(job).start.stale_weights, 0U);
    const KnownBufferStart second = history.next(job);
    EXPECT_EQ(second.start.stale_weights, 3U);
    ASSERT_EQ(second.findings.size(), 1U);
    EXPECT_EQ(second.findings[0].id, "stale_weights");
    EXPECT_EQ(second.findings[0].severity, Severity::Warning);
    EXPECT_EQ(history.next(job).start.stale_weights, 6U);
}

TEST(BufferHistory, AnotherSplitThrowsLeftWeightsAway) {
    BufferHistory history(Bytes(8));
    ConvJob job = padded_weights();
    history.next(job);
    job.parts.csc.banks.data += 1;
    const KnownBufferStart known = history.next(job);
    EXPECT_EQ(known.start.stale_weights, 0U);
    EXPECT_EQ(known.start.lost_weights, 3U);
    EXPECT_TRUE(known.findings.empty());
}

TEST(BufferHistory, EntriesAsWideAsThePaddingLeaveNothing) {
    BufferHistory history(Bytes(128));
    history.next(padded_weights());
    EXPECT_EQ(history.next(padded_weights()).start.stale_weights, 0U);
}

TEST(BufferHistory, WholeEntriesWithoutTheZerosLeaveNothing) {
    BufferHistory history(Bytes(8));
    ConvJob job = padded_weights();
    job.parts.cdma.weight_bytes = Bytes(104);
    history.next(job);
    EXPECT_TRUE(history.next(job).findings.empty());
}

TEST(BufferHistory, KeptWeightsLeaveTheirZerosOnlyOnceTheyAreRead) {
    ConvJob keeps = padded_weights();
    keeps.parts.csc.reuse.skip_weight_release = true;
    ConvJob reuses = padded_weights();
    reuses.parts.csc.reuse.weight_reuse = true;
    BufferHistory reused(Bytes(8));
    reused.next(keeps);
    EXPECT_TRUE(reused.next(reuses).start.weights_reused);
    EXPECT_EQ(reused.next(padded_weights()).start.stale_weights, 3U);
    // kept weights that are not wanted are released as a whole
    BufferHistory dropped(Bytes(8));
    dropped.next(keeps);
    EXPECT_EQ(dropped.next(padded_weights()).start.stale_weights, 0U);
}

}  // namespace
}  // namespace npuscope
