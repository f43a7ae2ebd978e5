// SPDX-License-Identifier: Apache-2.0
#include "models/link/timed_counter.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/simulate.h"

namespace npuscope {
namespace {

TEST(TimedCounter, lets_an_activity_pass_when_the_announced_amount_is_due) {
    Scene scene;
    TimedCounter credits("credits", 3);
    std::vector<Cycles> passed;
    scene.thread("taker", [&](Activity& taker) {
        for (int i = 0; i < 3; ++i) {
            credits.take(taker, 3, WaitKind::Blocked);
            passed.push_back(now());
        }
    });
    scene.thread("giver", [&](Activity& giver) {
        credits.add_at(Cycles(10), 2);
        credits.add_at(Cycles(15), 1);
        giver.spend(Cycles(30));
        credits.add(3);
    });
    scene.run();
    EXPECT_EQ(passed, (std::vector<Cycles>{Cycles(0), Cycles(15), Cycles(30)}));
    EXPECT_EQ(scene.activities().front().statistics().blocked, Cycles(30));
}

TEST(TimedCounter, keeps_announcements_in_order_of_time) {
    Scene scene;
    TimedCounter entries("entries");
    entries.add_at(Cycles(20), 1);
    entries.add_at(Cycles(5), 1);  // cannot overtake the earlier announcement
    scene.thread("waiter", [&](Activity& waiter) {
        EXPECT_EQ(entries.value(), 0U);
        EXPECT_EQ(entries.take(waiter, 2, WaitKind::Starved), Cycles(20));
        EXPECT_EQ(now(), Cycles(20));
        EXPECT_EQ(entries.value(), 0U);
    });
    scene.run();
    EXPECT_EQ(scene.activities().front().statistics().starved, Cycles(20));
}

TEST(TimedCounter, says_when_each_part_of_a_series_is_there) {
    Scene scene;
    TimedCounter credits("credits", 2);
    credits.add_series({Cycles(100), Cycles(9), 16});
    scene.thread("taker", [&](Activity& taker) {
        EXPECT_EQ(credits.take_announced(taker, 2, WaitKind::Blocked), Cycles(0));
        EXPECT_EQ(credits.take_announced(taker, 3, WaitKind::Blocked), Cycles(118));
        EXPECT_EQ(now(), Cycles(0));  // what is announced is taken ahead of time
        EXPECT_EQ(credits.take(taker, 1, WaitKind::Blocked), Cycles(127));
        EXPECT_EQ(now(), Cycles(127));
        taker.spend(Cycles(9));
        EXPECT_EQ(credits.value(), 1U);
    });
    scene.run();
}

}  // namespace
}  // namespace npuscope
