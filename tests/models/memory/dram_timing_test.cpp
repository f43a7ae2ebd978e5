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
    DramConfig config = sample_dram();
    config.row_order = RowOrder::Stream;
    DramTiming dram(config);
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
    config = refreshing();
    config.command_bus.refresh = Clocks(1000);
    EXPECT_THROW(DramTiming{config}, ConfigError);
}

// One bank's row, another of the same bank, and banks that are idle meanwhile.
constexpr DramLocation first{};
constexpr DramLocation conflict{.row = 3};
constexpr DramLocation idle{.bank_group = 1};
constexpr DramLocation idle_too{.bank_group = 1, .bank = 1};
// ACTIVATE at 100 and READ; PRECHARGE at 100 + tRAS, ACTIVATE at 100 + tRC and READ
constexpr Clocks conflict_read = Clocks(100 + 46) + rcd;

DramConfig in_order_of(RowOrder order) {
    DramConfig config = sample_dram();
    config.row_order = order;
    return config;
}

TEST(DramTiming, opens_the_row_of_the_bank_that_is_ready_first) {
    DramTiming dram(in_order_of(RowOrder::Ready));
    dram.read(first, Clocks(100));
    EXPECT_EQ(dram.read(conflict, Clocks(100)), conflict_read + read_end);
    // ACTIVATE at 105 and 111, long before the other's: data follows at the pace of the bus
    EXPECT_EQ(dram.read(idle, Clocks(100)), conflict_read + Clocks(4) + read_end);
    EXPECT_EQ(dram.read(idle_too, Clocks(100)), conflict_read + Clocks(4 + 6) + read_end);
}

TEST(DramTiming, opens_rows_in_the_order_of_the_stream_where_told_to) {
    DramTiming dram(in_order_of(RowOrder::Stream));
    dram.read(first, Clocks(100));
    EXPECT_EQ(dram.read(conflict, Clocks(100)), conflict_read + read_end);
    // ACTIVATE at 146 + tRRD_S, then tRRD_L later
    EXPECT_EQ(dram.read(idle, Clocks(100)), Clocks(151) + rcd + read_end);
    EXPECT_EQ(dram.read(idle_too, Clocks(100)), Clocks(157) + rcd + read_end);
}

TEST(DramTiming, opens_no_row_for_a_burst_behind_the_queue) {
    DramConfig config = sample_dram();
    config.queue = 1;
    DramTiming dram(config);
    dram.read(first, Clocks(100));
    EXPECT_EQ(dram.read(conflict, Clocks(100)), conflict_read + read_end);
    // ACTIVATE after the READ before it
    EXPECT_EQ(dram.read(idle, Clocks(100)), conflict_read + Clocks(1) + rcd + read_end);
}

TEST(DramTiming, lets_a_younger_burst_take_clocks_that_those_after_it_feel) {
    DramTiming dram(in_order_of(RowOrder::Ready));
    dram.read(first, Clocks(100));
    EXPECT_EQ(dram.read(conflict, Clocks(100)), conflict_read + read_end);
    // ACTIVATE at 143 puts that of 146 off to 143 + tRRD_S, and its READ, which this one follows
    EXPECT_EQ(dram.read(idle, Clocks(143)), Clocks(148) + rcd + Clocks(4) + read_end);
}

TEST(DramTiming, hits_the_same_rows_in_either_order) {
    DramTiming ready(in_order_of(RowOrder::Ready));
    DramTiming stream(in_order_of(RowOrder::Stream));
    for (std::uint32_t i = 0; i < 500; ++i) {
        const DramLocation at{.rank = i * 7 / 3 % 2,
                              .bank_group = i * 5 / 2 % 2,
                              .bank = i * 11 / 4 % 4,
                              .row = i * 13 / 8 % 3};
        ready.read(at, Clocks(2 * i));
        stream.read(at, Clocks(2 * i));
    }
    EXPECT_GT(ready.statistics().row_hits, 0U);
    EXPECT_EQ(ready.statistics().row_hits, stream.statistics().row_hits);
    EXPECT_EQ(ready.statistics().row_misses, stream.statistics().row_misses);
    EXPECT_EQ(ready.statistics().row_conflicts, stream.statistics().row_conflicts);
}

TEST(DramTiming, has_one_command_on_the_bus_at_a_time) {
    DramTiming dram(with_long_commands());
    // ACTIVATE from 100 to 103, READ from 114 to 116
    EXPECT_EQ(dram.read(first, Clocks(100)), Clocks(103) + rcd + read_end);
    // ACTIVATE from 105 to 108: tRRD_S after the other, from end to end
    EXPECT_EQ(dram.read(idle, Clocks(100)), Clocks(108) + rcd + read_end);
    // PRECHARGE from 133 to 134 and ACTIVATE to 149, tRC after the first
    EXPECT_EQ(dram.read(conflict, Clocks(100)), Clocks(149) + rcd + read_end);
}

TEST(DramTiming, gives_the_bus_to_the_command_that_is_through_first) {
    // a READ from 130 to 132; an ACTIVATE that is through at 131 goes before it, one of 132 after
    DramTiming early(with_long_commands());
    early.read(first, Clocks(100));
    EXPECT_EQ(early.read({.column = 8}, Clocks(130)), Clocks(132) + read_end);
    EXPECT_EQ(early.read(idle, Clocks(128)), Clocks(131) + rcd + read_end);
    DramTiming late(with_long_commands());
    late.read(first, Clocks(100));
    EXPECT_EQ(late.read({.column = 8}, Clocks(130)), Clocks(132) + read_end);
    EXPECT_EQ(late.read(idle, Clocks(129)), Clocks(136) + rcd + read_end);
}

TEST(DramTiming, lets_other_commands_between_the_halves_of_an_activate) {
    DramConfig config = sample_dram();
    config.command_bus.activate = Clocks(2);
    config.command_bus.activate_in_halves = true;
    DramTiming dram(config);
    // halves at 100 and 101; tRCD counts from the first
    EXPECT_EQ(dram.read(first, Clocks(100)), Clocks(100) + rcd + read_end);
    EXPECT_EQ(dram.read({.column = 8}, Clocks(130)), Clocks(130) + read_end);
    // its halves are at 129 and 131, with that READ between
    EXPECT_EQ(dram.read(idle, Clocks(129)), Clocks(129) + rcd + read_end);
    config.command_bus.activate_in_halves = false;
    DramTiming whole(config);
    whole.read(first, Clocks(100));
    whole.read({.column = 8}, Clocks(130));
    // the READ, at 130, is through no later than the ACTIVATE would be, which then ends at 132
    EXPECT_EQ(whole.read(idle, Clocks(129)), Clocks(132) + rcd + read_end);
}

TEST(DramTiming, refreshes_after_the_bursts_whose_rows_are_open_and_before_the_next) {
    DramTiming dram(refreshing());
    EXPECT_EQ(dram.read(first, Clocks(990)), Clocks(990) + rcd + read_end);
    EXPECT_EQ(dram.read(idle, Clocks(990)), Clocks(995) + rcd + read_end);
    EXPECT_EQ(dram.statistics().refreshes, 0U);
    // its ACTIVATE would be at 1001: REFRESH comes first, tRC after that of 995
    EXPECT_EQ(dram.read(idle_too, Clocks(990)), Clocks(995 + 46 + 100) + rcd + read_end);
    EXPECT_EQ(dram.statistics().refreshes, 1U);
    EXPECT_EQ(dram.statistics().row_misses, 3U);
}

TEST(DramTiming, keeps_the_channels_apart) {
    DramTiming dram(sample_dram());
    EXPECT_EQ(dram.read({}, Clocks(100)), Clocks(100) + rcd + read_end);
    EXPECT_EQ(dram.read({.channel = 1}, Clocks(100)), Clocks(100) + rcd + read_end);
    EXPECT_EQ(dram.statistics().read_bursts, 2U);
}

TEST(DramTiming, refuses_a_queue_that_it_cannot_keep) {
    for (const std::uint32_t queue : {0U, 65U}) {
        DramConfig config = sample_dram();
        config.queue = queue;
        EXPECT_THROW(DramTiming{config}, ConfigError);
    }
    DramConfig config = sample_dram();
    config.queue = 64;
    EXPECT_NO_THROW(DramTiming{config});
}

}  // namespace
}  // namespace npuscope
