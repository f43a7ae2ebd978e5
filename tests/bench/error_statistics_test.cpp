// SPDX-License-Identifier: Apache-2.0
#include "bench/error_statistics.h"

#include <gtest/gtest.h>

namespace npuscope::bench {
namespace {

ReplayedRow row(std::uint64_t theirs, std::uint64_t ours) {
    ReplayedRow replayed;
    replayed.reference.cycles = theirs;
    replayed.cycles = ours;
    return replayed;
}

ErrorStatistics statistics(const std::vector<ReplayedRow>& rows) {
    std::vector<const ReplayedRow*> members;
    for (const ReplayedRow& entry : rows) {
        members.push_back(&entry);
    }
    return statistics_of(members);
}

TEST(ErrorStatistics, ErrorIsAShareOfTheReference) {
    EXPECT_DOUBLE_EQ(row(200, 190).percent(), -5.0);
    EXPECT_EQ(row(200, 190).cycle_error(), -10);
}

TEST(ErrorStatistics, CountsAbsoluteErrors) {
    const ErrorStatistics sum = statistics({row(100, 100), row(100, 98), row(100, 104)});
    EXPECT_EQ(sum.rows, 3U);
    EXPECT_EQ(sum.exact, 1U);
    EXPECT_DOUBLE_EQ(sum.mean, 2.0);
    EXPECT_DOUBLE_EQ(sum.median, 2.0);
    EXPECT_DOUBLE_EQ(sum.p95, 4.0);
    EXPECT_DOUBLE_EQ(sum.maximum, 4.0);
}

TEST(ErrorStatistics, RowThatFailedCountsAsThatAlone) {
    ReplayedRow failed = row(100, 0);
    failed.failure = "stopped";
    const ErrorStatistics sum = statistics({row(100, 100), failed});
    EXPECT_EQ(sum.rows, 1U);
    EXPECT_EQ(sum.failed, 1U);
    EXPECT_DOUBLE_EQ(sum.maximum, 0.0);
}

TEST(ErrorStatistics, MacStartKeepsTheSignOfItsWorst) {
    ReplayedRow early = row(100, 100);
    early.first_mac_error = -8;
    ReplayedRow late = row(100, 100);
    late.first_mac_error = 5;
    const ErrorStatistics sum = statistics({early, late, row(1, 1)});
    EXPECT_EQ(sum.mac_rows, 2U);
    EXPECT_EQ(sum.mac_exact, 0U);
    EXPECT_EQ(sum.mac_worst, -8);
    EXPECT_DOUBLE_EQ(sum.mac_mean, 6.5);
}

TEST(Percentile, IsTheNearestValueThatHasTheShareBelowIt) {
    std::vector<double> values;
    for (int i = 1; i <= 100; ++i) {
        values.push_back(i);
    }
    EXPECT_DOUBLE_EQ(percentile(values, 0.95), 95);
    EXPECT_DOUBLE_EQ(percentile(values, 0.5), 50);
    EXPECT_DOUBLE_EQ(percentile(std::vector<double>{7}, 0.95), 7);
    EXPECT_DOUBLE_EQ(percentile({}, 0.95), 0);
}

TEST(ClientErrors, AreCountedByClient) {
    ReplayedRow right = row(1, 1);
    right.beat_errors = {{"cdma_dat", 0}, {"sdp", 0}};
    ReplayedRow wrong = row(1, 1);
    wrong.beat_errors = {{"cdma_dat", -3}, {"sdp", 0}};
    EXPECT_TRUE(right.beats_right());
    EXPECT_FALSE(wrong.beats_right());
    const auto clients = client_errors(std::vector<ReplayedRow>{right, wrong});
    ASSERT_EQ(clients.size(), 2U);
    EXPECT_EQ(clients[0].client, "cdma_dat");
    EXPECT_EQ(clients[0].exact, 1U);
    EXPECT_EQ(clients[0].worst, -3);
    EXPECT_EQ(clients[1].exact, 2U);
}

}  // namespace
}  // namespace npuscope::bench
