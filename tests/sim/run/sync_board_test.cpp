// SPDX-License-Identifier: Apache-2.0
#include "sim/run/sync_board.h"

#include <gtest/gtest.h>

namespace npuscope {
namespace {

constexpr Interrupt sdp_0{InterruptSource::Sdp, 0};
constexpr Interrupt sdp_1{InterruptSource::Sdp, 1};

TEST(SyncBoard, gives_an_interrupt_to_the_oldest_who_waits_for_it) {
    SyncBoard board;
    board.expect({sdp_0, "first", {}});
    board.expect({sdp_1, "other group", {}});
    board.expect({sdp_0, "second", {}});
    EXPECT_EQ(board.serve(sdp_0, Cycles(10))->sync, "first");
    EXPECT_EQ(board.serve(sdp_0, Cycles(20))->sync, "second");
    EXPECT_FALSE(board.serve(sdp_0, Cycles(30)).has_value());
    EXPECT_TRUE(board.raised("first"));
    EXPECT_FALSE(board.raised("other group"));
    EXPECT_FALSE(board.awaited().empty());
}

TEST(SyncBoard, gives_any_interrupt_to_who_names_none) {
    SyncBoard board;
    board.expect({std::nullopt, "any", {}});
    EXPECT_EQ(board.serve(sdp_1, Cycles(5))->sync, "any");
    EXPECT_TRUE(board.awaited().empty());
}

TEST(SyncBoard, makes_a_check_once_its_id_is_raised) {
    SyncBoard board;
    std::vector<int> made;
    board.when_raised("", 0, [&] { made.push_back(0); });
    board.when_raised("late", 1, [&] { made.push_back(1); });
    board.when_raised("never", 2, [&] { made.push_back(2); });
    board.raise("late", Cycles(7));
    board.when_raised("late", 3, [&] { made.push_back(3); });
    EXPECT_EQ(made, (std::vector<int>{0, 3}));
    board.make_checks();
    EXPECT_EQ(made, (std::vector<int>{0, 3, 1}));
    EXPECT_EQ(board.waiting_checks(), (std::vector<std::size_t>{2}));
}

TEST(SyncBoard, does_not_wait_for_what_nobody_checks) {
    SyncBoard board;
    board.expect({sdp_0, "unchecked", {}});
    board.expect({sdp_1, "checked", {}});
    board.ignore("unchecked");
    board.serve(sdp_1, Cycles(40));
    board.serve(sdp_0, Cycles(90));
    EXPECT_EQ(board.last_raised(), Cycles(40));
}

}  // namespace
}  // namespace npuscope
