// SPDX-License-Identifier: Apache-2.0
// Every timing rule as an early and an on-time command: one clock too soon is refused, the clock
// itself is not.
#include "models/memory/dram_state.h"

#include <gtest/gtest.h>

#include "models/base/check.h"
#include "models/base/error.h"
#include "tests/models/memory/dram_samples.h"

namespace npuscope {
namespace {

using enum DramCommand;

constexpr DramLocation home{};
constexpr DramLocation same_group{.bank = 1};
constexpr DramLocation other_group{.bank_group = 1};
constexpr DramLocation other_rank{.rank = 1};

struct Step {
    DramCommand command;
    DramLocation to;
    std::uint64_t at;
};

struct Rule {
    const char* name;
    std::vector<Step> before;
    DramCommand command;
    DramLocation to;
    std::uint64_t on_time;
};

DramState state_after(const std::vector<Step>& steps, const DramConfig& config = sample_dram()) {
    DramState state(config);
    for (const Step& step : steps) {
        state.issue(step.command, state.place_of(step.to), Clocks(step.at));
    }
    return state;
}

std::vector<Rule> bank_rules() {
    const Step opened{Activate, home, 100};
    return {
        {"tRCD before READ", {opened}, Read, home, 100 + 13},
        {"tRCD before WRITE", {opened}, Write, home, 100 + 13},
        {"tRAS", {opened}, Precharge, home, 100 + 31},
        {"tRP", {opened, {Precharge, home, 140}}, Activate, home, 140 + 14},
        {"tRC", {opened, {Precharge, home, 131}}, Activate, home, 100 + 46},
        {"tRTP", {opened, {Read, home, 150}}, Precharge, home, 150 + 8},
        {"tWR", {opened, {Write, home, 150}}, Precharge, home, 150 + 9 + 4 + 17},
        {"one command a clock", {opened}, Precharge, same_group, 101},
    };
}

std::vector<Rule> group_and_rank_rules() {
    const Step opened{Activate, home, 100};
    const Step near{Activate, same_group, 120};
    const Step far{Activate, other_group, 130};
    return {
        {"tRRD_L", {opened}, Activate, same_group, 100 + 6},
        {"tRRD_S", {opened}, Activate, other_group, 100 + 5},
        {"tCCD_L of READ", {opened, near, {Read, home, 150}}, Read, same_group, 150 + 6},
        {"tCCD_S of READ", {opened, far, {Read, home, 150}}, Read, other_group, 150 + 4},
        {"tCCD_L of WRITE", {opened, near, {Write, home, 150}}, Write, same_group, 150 + 6},
        {"tCCD_S of WRITE", {opened, far, {Write, home, 150}}, Write, other_group, 150 + 4},
        {"tWTR_L", {opened, near, {Write, home, 150}}, Read, same_group, 150 + 9 + 4 + 7},
        {"tWTR_S", {opened, far, {Write, home, 150}}, Read, other_group, 150 + 9 + 4 + 3},
        {"READ to WRITE",
         {opened, far, {Read, home, 150}},
         Write,
         other_group,
         150 + 11 + 1 + 4 + 2 - 9},
        {"tFAW",
         {{Activate, {.bank = 0}, 100},
          {Activate, {.bank = 1}, 106},
          {Activate, {.bank = 2}, 112},
          {Activate, {.bank = 3}, 118}},
         Activate,
         other_group,
         100 + 29},
    };
}

std::vector<Rule> channel_rules() {
    const Step opened{Activate, home, 100};
    const Step away{Activate, other_rank, 101};
    return {
        {"ranks activate alone, but for the bus", {opened}, Activate, other_rank, 101},
        {"rank switch of READ", {opened, away, {Read, home, 150}}, Read, other_rank, 150 + 4 + 3},
        {"rank switch of WRITE",
         {opened, away, {Write, home, 150}},
         Write,
         other_rank,
         150 + 4 + 3},
        {"rank switch of READ to WRITE",
         {opened, away, {Read, home, 150}},
         Write,
         other_rank,
         150 + 11 + 1 + 4 + 3 - 9},
        {"rank switch of WRITE to READ",
         {opened, away, {Write, home, 150}},
         Read,
         other_rank,
         150 + 9 + 4 + 3 - 11 - 1},
    };
}

void expect_early_and_on_time(const std::vector<Rule>& rules) {
    for (const Rule& rule : rules) {
        DramState state = state_after(rule.before);
        const DramPlace to = state.place_of(rule.to);
        EXPECT_EQ(state.earliest(rule.command, to, Clocks(0)), Clocks(rule.on_time)) << rule.name;
        EXPECT_THROW(state.issue(rule.command, to, Clocks(rule.on_time - 1)), InternalError)
            << rule.name;
        EXPECT_NO_THROW(state.issue(rule.command, to, Clocks(rule.on_time))) << rule.name;
    }
}

TEST(DramState, keeps_the_rules_of_a_bank) { expect_early_and_on_time(bank_rules()); }

TEST(DramState, keeps_the_rules_of_groups_and_ranks) {
    expect_early_and_on_time(group_and_rank_rules());
}

TEST(DramState, keeps_the_rules_of_a_channel) { expect_early_and_on_time(channel_rules()); }

TEST(DramState, precharges_no_sooner_than_t_ppd) {
    DramConfig config = sample_dram();
    config.timing.t_ppd = Clocks(4);
    const DramState state = state_after(
        {{Activate, home, 100}, {Activate, same_group, 110}, {Precharge, home, 150}}, config);
    EXPECT_EQ(state.earliest(Precharge, state.place_of(same_group), Clocks(0)), Clocks(154));
}

TEST(DramState, ends_a_command_when_its_last_clock_is_on_the_bus) {
    DramState state(with_long_commands());
    const DramPlace bank = state.place_of(home);
    EXPECT_EQ(state.earliest(Activate, bank, Clocks(100)), Clocks(103));
    EXPECT_EQ(state.begin_of(Activate, Clocks(103)), Clocks(100));
    state.issue(Activate, bank, Clocks(103));
    EXPECT_EQ(state.bus_free(), Clocks(104));
    // another rank is bound only by the bus, which is free from 104 on
    EXPECT_EQ(state.earliest(Activate, state.place_of(other_rank), Clocks(0)), Clocks(107));
    // tRCD counts from the end of one command to the end of the next
    EXPECT_EQ(state.earliest(Read, bank, Clocks(0)), Clocks(103 + 13));
    EXPECT_EQ(state.earliest(Read, bank, Clocks(115)), Clocks(117));
    EXPECT_THROW(state.issue(Activate, state.place_of(other_rank), Clocks(106)), InternalError);
}

TEST(DramState, refuses_a_command_that_takes_no_clock) {
    DramConfig config = sample_dram();
    config.command_bus.precharge = Clocks(0);
    EXPECT_THROW(DramState{config}, ConfigError);
}

TEST(DramState, refuses_halves_of_an_odd_number_of_clocks) {
    DramConfig config = sample_dram();
    config.command_bus.activate_in_halves = true;
    EXPECT_THROW(DramState{config}, ConfigError);
}

TEST(DramState, closes_a_row_by_itself_as_soon_as_it_may) {
    DramState state = state_after({{Activate, home, 100}, {Read, home, 113}});
    const DramPlace bank = state.place_of(home);
    state.close(bank);
    EXPECT_FALSE(state.open_row(bank));
    // tRC is over at 146, as are tRAS and tRP
    EXPECT_EQ(state.earliest(Activate, bank, Clocks(0)), Clocks(146));
}

TEST(DramState, refreshes_a_rank_after_closing_its_banks) {
    DramState state = state_after({{Activate, home, 100}, {Activate, same_group, 106}});
    state.refresh(0, Clocks(110));
    // PRECHARGE at 106 + tRAS, REFRESH tRP later; the bank of 106 had to wait until 106 + tRC
    const std::uint64_t on_time = 106 + 46 + 100;
    EXPECT_FALSE(state.open_row(state.place_of(home)));
    EXPECT_FALSE(state.open_row(state.place_of(same_group)));
    const DramPlace bank = state.place_of(other_group);
    EXPECT_THROW(state.issue(Activate, bank, Clocks(on_time - 1)), InternalError);
    EXPECT_NO_THROW(state.issue(Activate, bank, Clocks(on_time)));
}

TEST(DramState, refreshes_one_rank_and_leaves_the_other) {
    DramState state = state_after({{Activate, home, 100}});
    state.refresh(0, Clocks(110));
    EXPECT_NO_THROW(state.issue(Activate, state.place_of(other_rank), Clocks(110)));
}

TEST(DramState, moves_columns_of_the_open_row_only) {
    DramState state = state_after({{Activate, home, 100}});
    const DramPlace bank = state.place_of(home);
    EXPECT_EQ(state.open_row(bank), 0U);
    const DramPlace other_row = state.place_of({.row = 1});
    EXPECT_THROW(state.issue(Read, other_row, Clocks(200)), InternalError);
    EXPECT_THROW(state.issue(Activate, other_row, Clocks(200)), InternalError);
    EXPECT_THROW(state.issue(Read, state.place_of(same_group), Clocks(200)), InternalError);
}

}  // namespace
}  // namespace npuscope
