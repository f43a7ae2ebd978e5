// SPDX-License-Identifier: Apache-2.0
#include "models/link/channel.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/simulate.h"

namespace npuscope {
namespace {

TEST(Channel, keeps_the_order_and_counts_who_waited) {
    Scene scene;
    Channel<int> channel("wire", 1);
    std::vector<int> taken;
    scene.thread("giver", [&](Activity& giver) {
        for (int i = 0; i < 4; ++i) {
            giver.spend(Cycles(2));
            channel.give(giver, i);
        }
    });
    scene.thread("taker", [&](Activity& taker) {
        for (int i = 0; i < 4; ++i) {
            taken.push_back(channel.take(taker));
            taker.spend(Cycles(10));
        }
    });
    scene.run();

    EXPECT_EQ(taken, (std::vector<int>{0, 1, 2, 3}));
    EXPECT_EQ(now(), Cycles(42));
    const UnitStatistics giver = scene.activities()[0].statistics();
    const UnitStatistics taker = scene.activities()[1].statistics();
    EXPECT_EQ(giver.busy, Cycles(8));
    EXPECT_EQ(giver.blocked,
              Cycles(14));  // packages 2 and 3 wait for the taker, at 6..12 and 14..22
    EXPECT_EQ(taker.busy, Cycles(40));
    EXPECT_EQ(taker.starved, Cycles(2));
}

TEST(Activity, says_what_it_waits_for_and_since_when) {
    Scene scene;
    Channel<int> channel("wire");
    scene.thread("taker", [&](Activity& taker) {
        taker.spend(Cycles(7));
        channel.take(taker);
    });
    scene.run();
    const Activity& taker = scene.activities().front();
    EXPECT_TRUE(taker.waiting());
    EXPECT_FALSE(taker.idle());
    EXPECT_EQ(taker.waits_for(), "wire");
    EXPECT_EQ(taker.waits_since(), Cycles(7));
}

TEST(Unit, hands_on_what_a_thread_threw) {
    Scene scene;
    scene.thread("broken", [](Activity&) { throw std::runtime_error("broken"); });
    EXPECT_THROW(scene.run(), std::runtime_error);
}

}  // namespace
}  // namespace npuscope
