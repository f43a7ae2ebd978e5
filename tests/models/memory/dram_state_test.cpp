// SPDX-License-Identifier: Apache-2.0
// Every timing rule as an early and an on-time command: one clock too soon is refused, the clock
// itself is not.
#include <gtest/gtest.h>

#include "models/base/check.h"
#include "models/memory/dram_timing.h"
#include "tests/models/memory/dram_samples.h"

namespace npuscope {
namespace {

using enum DramCommand;

constexpr DramLocation home{};
constexpr DramLocation same_group{.bank = 1};
constexpr DramLocation other_group{.bank_group = 1};
constexpr DramLocation other_rank{.rank = 1};
constexpr DramLocation other_channel{.channel = 1};

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

DramState state_after(const std::vector<Step>& steps) {
    DramState state(sample_dram());
    for (const Step& step : steps) {
        state.issue(step.command, step.to, Clocks(step.at));
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
    const Step away{Activate, other_rank, 100};
    const Step apart{Activate, other_channel, 100};
    return {
        {"ranks activate alone", {opened}, Activate, other_rank, 0},
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
        {"channels read alone", {opened, apart, {Read, home, 150}}, Read, other_channel, 113},
    };
}

void expect_early_and_on_time(const std::vector<Rule>& rules) {
    for (const Rule& rule : rules) {
        DramState state = state_after(rule.before);
        EXPECT_EQ(state.earliest(rule.command, rule.to), Clocks(rule.on_time)) << rule.name;
        if (rule.on_time > 0) {
            EXPECT_THROW(state.issue(rule.command, rule.to, Clocks(rule.on_time - 1)),
                         InternalError)
                << rule.name;
        }
        EXPECT_NO_THROW(state.issue(rule.command, rule.to, Clocks(rule.on_time))) << rule.name;
    }
}

TEST(DramState, keeps_the_rules_of_a_bank) { expect_early_and_on_time(bank_rules()); }

TEST(DramState, keeps_the_rules_of_groups_and_ranks) {
    expect_early_and_on_time(group_and_rank_rules());
}

TEST(DramState, keeps_the_rules_of_a_channel) { expect_early_and_on_time(channel_rules()); }

TEST(DramState, refreshes_a_rank_after_closing_its_banks) {
    DramState state = state_after({{Activate, home, 100}, {Activate, same_group, 106}});
    state.refresh(0, 0, Clocks(110));
    // PRECHARGE at 106 + tRAS, REFRESH tRP later; the bank of 100 had to wait until 100 + tRC
    const std::uint64_t on_time = 106 + 46 + 100;
    EXPECT_FALSE(state.open_row(home));
    EXPECT_FALSE(state.open_row(same_group));
    EXPECT_THROW(state.issue(Activate, other_group, Clocks(on_time - 1)), InternalError);
    EXPECT_NO_THROW(state.issue(Activate, other_group, Clocks(on_time)));
    EXPECT_NO_THROW(state.issue(Activate, other_rank, Clocks(110)));
}

TEST(DramState, moves_columns_of_the_open_row_only) {
    DramState state = state_after({{Activate, home, 100}});
    EXPECT_EQ(state.open_row(home), 0U);
    EXPECT_THROW(state.issue(Read, DramLocation{.row = 1}, Clocks(200)), InternalError);
    EXPECT_THROW(state.issue(Activate, DramLocation{.row = 1}, Clocks(200)), InternalError);
    EXPECT_THROW(state.issue(Read, same_group, Clocks(200)), InternalError);
}

}  // namespace
}  // namespace npuscope
