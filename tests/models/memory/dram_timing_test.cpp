// SPDX-License-Identifier: Apache-2.0
#include "models/memory/dram_timing.h"

#include <gtest/gtest.h>

#include "models/base/error.h"
#include "tests/models/memory/dram_samples.h"

namespace npuscope {
namespace {

// of the sample: ACTIVATE to READ, READ to the end of its data
constexpr Clocks rcd(13);
constexpr Clocks read_end(11 + 1 + 4);
constexpr Clocks write_end(9 + 4);

TEST(DramTiming, opens_a_row_once_and_reads_on_at_the_pace_of_its_bank_group) {
    DramTiming dram(sample_dram());
    EXPECT_EQ(dram.read({}, Clocks(100)), Clocks(100) + rcd + read_end);
    EXPECT_EQ(dram.read({.column = 8}, Clocks(100)), Clocks(100) + rcd + read_end + Clocks(6));
    EXPECT_EQ(dram.read({.column = 16}, Clocks(500)), Clocks(500) + read_end);
    EXPECT_EQ(dram.statistics().row_misses, 1U);
    EXPECT_EQ(dram.statistics().row_hits, 2U);
    EXPECT_EQ(dram.statistics().read_bursts, 3U);
}

TEST(DramTiming, reads_without_a_gap_across_bank_groups) {
    DramTiming dram(sample_dram());
    dram.read({}, Clocks(100));
    dram.read({.bank_group = 1}, Clocks(100));
    for (std::uint64_t i = 0; i < 8; ++i) {
        const auto column = static_cast<std::uint32_t>(8 * (1 + i / 2));
        EXPECT_EQ(dram.read({.bank_group = static_cast<std::uint32_t>(i % 2), .column = column},
                            Clocks(200)),
                  Clocks(200) + read_end + Clocks(4 * i));
    }
}

TEST(DramTiming, closes_the_row_of_a_conflict_first) {
    DramTiming dram(sample_dram());
    dram.read({}, Clocks(100));
    EXPECT_EQ(dram.read({.row = 3}, Clocks(500)), Clocks(500 + 14) + rcd + read_end);
    EXPECT_EQ(dram.statistics().row_conflicts, 1U);
}

TEST(DramTiming, holds_a_conflict_back_until_its_row_may_be_closed) {
    DramTiming early(sample_dram());
    early.read({}, Clocks(100));
    // tRC from the ACTIVATE of 100 is the longer way
    EXPECT_EQ(early.read({.row = 3}, Clocks(100)), Clocks(100 + 46) + rcd + read_end);
    DramTiming written(sample_dram());
    written.write({}, Clocks(100));
    const Clocks closed = Clocks(100) + rcd + write_end + Clocks(17);
    EXPECT_EQ(written.read({.row = 3}, Clocks(100)), closed + Clocks(14) + rcd + read_end);
}

TEST(DramTiming, opens_rows_of_other_banks_while_data_moves) {
    DramTiming dram(sample_dram());
    const Clocks first = dram.read({}, Clocks(100));
    // tRRD_L after the first ACTIVATE, so its data follows after tRRD_L too
    EXPECT_EQ(dram.read({.bank = 1}, Clocks(100)), first + Clocks(6));
    EXPECT_EQ(dram.read({.bank = 2}, Clocks(100)), first + Clocks(12));
    EXPECT_EQ(dram.read({.bank = 3}, Clocks(100)), first + Clocks(18));
    // the fifth waits for the window of four
    EXPECT_EQ(dram.read({.bank_group = 1}, Clocks(100)), first + Clocks(29));
}

TEST(DramTiming, turns_the_bus_around_between_reads_and_writes) {
    DramTiming dram(sample_dram());
    dram.read({}, Clocks(100));
    const Clocks read = dram.read({.column = 8}, Clocks(200));
    // two idle clocks, then the burst
    EXPECT_EQ(dram.write({.column = 16}, Clocks(200)), read + Clocks(2 + 4));
    // tWTR_L after the data, then a whole read
    EXPECT_EQ(dram.read({.column = 24}, Clocks(200)), read + Clocks(6) + Clocks(7) + read_end);
    EXPECT_EQ(dram.statistics().turnarounds, 2U);
}

TEST(DramTiming, closes_rows_at_once_where_the_policy_says_so) {
    DramConfig config = sample_dram();
    config.page_policy = PagePolicy::Closed;
    DramTiming dram(config);
    dram.read({}, Clocks(100));
    EXPECT_EQ(dram.read({.column = 8}, Clocks(500)), Clocks(500) + rcd + read_end);
    EXPECT_EQ(dram.read({.column = 16}, Clocks(500)), Clocks(500 + 46) + rcd + read_end);
    EXPECT_EQ(dram.statistics().row_hits, 0U);
    EXPECT_EQ(dram.statistics().row_conflicts, 0U);
}

DramConfig refreshing() {
    DramConfig config = sample_dram();
    config.timing.t_refi = Clocks(1000);
    return config;
}

TEST(DramTiming, refreshes_when_due_and_not_a_clock_before) {
    DramTiming early(refreshing());
    EXPECT_EQ(early.read({}, Clocks(999)), Clocks(999) + rcd + read_end);
    EXPECT_EQ(early.statistics().refreshes, 0U);
    DramTiming due(refreshing());
    EXPECT_EQ(due.read({}, Clocks(1000)), Clocks(1000 + 100) + rcd + read_end);
    EXPECT_EQ(due.statistics().refreshes, 1U);
    DramTiming after(refreshing());
    EXPECT_EQ(after.read({}, Clocks(1100)), Clocks(1100) + rcd + read_end);
}

TEST(DramTiming, finds_rows_closed_by_a_refresh) {
    DramTiming dram(refreshing());
    dram.read({}, Clocks(100));
    EXPECT_EQ(dram.read({}, Clocks(1050)), Clocks(1000 + 14 + 100) + rcd + read_end);
    EXPECT_EQ(dram.statistics().row_misses, 2U);
}

TEST(DramTiming, counts_the_refreshes_of_a_long_pause) {
    DramTiming dram(refreshing());
    dram.read({}, Clocks(100));
    EXPECT_EQ(dram.read({}, Clocks(1'000'500)), Clocks(1'000'500) + rcd + read_end);
    EXPECT_EQ(dram.statistics().refreshes, 1000U);
}

TEST(DramTiming, refreshes_a_backlog_too) {
    DramTiming dram(refreshing());
    Clocks end;
    for (std::uint32_t i = 0; i < 4096; ++i) {
        end = dram.read({.bank_group = i % 2, .column = (i / 2 % 8) * 8}, Clocks(0));
    }
    EXPECT_GE(dram.statistics().refreshes, end.value / 1000);
    EXPECT_GT(end, Clocks(4096 * 4 + dram.statistics().refreshes * 100));
}

TEST(DramTiming, refuses_a_refresh_longer_than_its_interval) {
    DramConfig config = refreshing();
    config.timing.t_rfc = Clocks(1000);
    EXPECT_THROW(DramTiming{config}, ConfigError);
}

}  // namespace
}  // namespace npuscope
