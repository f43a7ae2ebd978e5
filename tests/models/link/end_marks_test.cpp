// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "models/link/atom_run.h"

namespace npuscope {
namespace {

using Meeting = EndMarks::Meeting;

constexpr std::uint64_t depth = 16;
constexpr Cycles latency{2};

/// An operation of this many atoms: the last enters, and then leaves, at these times.
Meeting pass(EndMarks& marks, std::uint64_t atoms, Cycles entered, Cycles left) {
    marks.enter(entered, true);
    return marks.leave(atoms, left, true);
}

TEST(EndMarks, ends_that_pass_one_after_the_other_leave_nothing_behind) {
    EndMarks marks(depth, latency);
    EXPECT_EQ(pass(marks, 30, Cycles(100), Cycles(120)), Meeting::Apart);
    EXPECT_EQ(pass(marks, 10, Cycles(123), Cycles(130)), Meeting::Apart);
    EXPECT_FALSE(marks.wrong_end(1000, false));
}

TEST(EndMarks, atoms_that_are_left_out_move_the_places_of_later_ones) {
    EndMarks marks(depth, latency);
    pass(marks, 30, Cycles(50), Cycles(60));
    marks.leave_out(40);
    EXPECT_FALSE(marks.stale());
    pass(marks, 5, Cycles(100), Cycles(120));
    EXPECT_EQ(pass(marks, 10, Cycles(122), Cycles(200)), Meeting::AtOnce);
    EXPECT_TRUE(marks.stale());
    EXPECT_EQ(marks.wrong_end(15, true), 12U);  // as if 45 atoms had passed
}

TEST(EndMarks, an_end_that_enters_while_the_one_before_is_there_has_a_mark_of_its_own) {
    EndMarks marks(depth, latency);
    pass(marks, 30, Cycles(100), Cycles(120));
    EXPECT_EQ(pass(marks, 10, Cycles(121), Cycles(200)), Meeting::Together);
    EXPECT_FALSE(marks.wrong_end(1000, false));
}

TEST(EndMarks, an_end_that_enters_as_the_one_before_leaves_leaves_a_mark_too_many) {
    EndMarks marks(depth, latency);
    pass(marks, 30, Cycles(50), Cycles(60));
    pass(marks, 45, Cycles(100), Cycles(120));
    EXPECT_EQ(pass(marks, 10, Cycles(122), Cycles(200)), Meeting::AtOnce);
    // 85 atoms have left; the second mark was never set: place 0 is that of atom 96
    EXPECT_EQ(marks.wrong_end(15, true), 12U);
    EXPECT_FALSE(marks.wrong_end(11, false));
    EXPECT_EQ(marks.wrong_end(12, false), 12U);
}

TEST(EndMarks, the_mark_too_many_stands_where_the_second_mark_last_stood) {
    EndMarks marks(depth, latency);
    pass(marks, 30, Cycles(50), Cycles(60));
    EXPECT_EQ(pass(marks, 10, Cycles(55), Cycles(70)), Meeting::Together);  // atom 39, place 7
    EXPECT_EQ(pass(marks, 10, Cycles(72), Cycles(80)), Meeting::AtOnce);    // atom 49, place 1
    EXPECT_EQ(marks.wrong_end(100, false), 6U);                             // atom 55
}

TEST(EndMarks, an_operation_that_ends_at_the_mark_too_many_passes_it_on) {
    EndMarks marks(depth, latency);
    pass(marks, 30, Cycles(50), Cycles(60));
    EXPECT_EQ(pass(marks, 2, Cycles(62), Cycles(70)), Meeting::AtOnce);  // atom 31; place 0 is next
    EXPECT_FALSE(marks.wrong_end(1, true));
    EXPECT_EQ(pass(marks, 1, Cycles(100), Cycles(110)), Meeting::Apart);
    EXPECT_FALSE(marks.wrong_end(15, false));
    EXPECT_EQ(marks.wrong_end(16, false), 16U);
    EXPECT_FALSE(marks.wrong_end(16, true));
}

TEST(EndMarks, a_run_inside_an_operation_has_no_end_to_meet) {
    EndMarks marks(depth, latency);
    marks.enter(Cycles(10), false);
    EXPECT_EQ(marks.leave(16, Cycles(20), false), Meeting::Apart);
    marks.enter(Cycles(22), true);
    EXPECT_EQ(marks.leave(16, Cycles(40), true), Meeting::Apart);
}

}  // namespace
}  // namespace npuscope
