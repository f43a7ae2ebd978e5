// SPDX-License-Identifier: Apache-2.0
#include "models/data/buffer_history.h"

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
    BufferHistory history;
    ConvJob job = eight_lines();
    job.parts.csc.reuse.skip_data_release = true;
    EXPECT_EQ(history.next(job).start, BufferStart{});
    EXPECT_EQ(history.next(job).start, BufferStart{});
}

TEST(BufferHistory, SkippedReleasesAreReusedWhole) {
    BufferHistory history;
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
    BufferHistory history;
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
    BufferHistory history;
    ConvJob first = eight_lines();
    first.parts.csc.release_slices = 6;
    ConvJob second = eight_lines();
    second.parts.csc.reuse.data_reuse = true;
    second.parts.cdma.input.height = 5;
    history.next(first);
    const KnownBufferStart known = history.next(second);
    ASSERT_EQ(known.findings.size(), 1U);
    EXPECT_EQ(known.findings[0].severity, Severity::Error);
    EXPECT_NE(known.findings[0].message.find("2 kept and 5 fetched lines are not the 8"),
              std::string::npos);
}

TEST(BufferHistory, AnotherSplitOrModeDropsWhatWasKept) {
    ConvJob first = eight_lines();
    first.parts.csc.reuse = {.skip_data_release = true, .skip_weight_release = true};
    ConvJob second = eight_lines();
    second.parts.csc.reuse = {.data_reuse = true, .weight_reuse = true};
    second.parts.csc.banks.data = 2;
    BufferHistory history;
    history.next(first);
    const KnownBufferStart known = history.next(second);
    EXPECT_EQ(known.start, BufferStart{});
    ASSERT_EQ(known.findings.size(), 2U);
    EXPECT_EQ(known.findings[0].kind, "reuse_of_nothing");
    EXPECT_EQ(known.findings[1].severity, Severity::Warning);
}

TEST(BufferHistory, KeptDataOfAnotherShapeAreAnError) {
    BufferHistory history;
    ConvJob first = eight_lines();
    first.parts.csc.reuse.skip_data_release = true;
    ConvJob second = eight_lines();
    second.parts.csc.input.width = second.parts.cdma.input.width = 4;
    second.parts.csc.reuse.data_reuse = true;
    history.next(first);
    const KnownBufferStart known = history.next(second);
    ASSERT_EQ(known.findings.size(), 1U);
    EXPECT_EQ(known.findings[0].kind, "impossible_reuse");
}

}  // namespace
}  // namespace npuscope
