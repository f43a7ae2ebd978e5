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

TEST(Channel, offers_packages_to_a_taker_that_waits_and_hands_over_what_is_declined) {
    using Wire = Channel<int>;
    Scene scene;
    Wire channel("wire", 4);
    std::vector<int> at_once;
    std::vector<int> by_thread;
    std::vector<Wire::Offer> answers;
    channel.offer_to([&](const int& package) {
        if (package % 3 == 0) {
            return Wire::Offer::Declined;
        }
        at_once.push_back(package);
        return package % 3 == 1 ? Wire::Offer::Taken : Wire::Offer::Ahead;
    });
    scene.thread("taker", [&](Activity& taker) {
        while (by_thread.size() < 3) {
            by_thread.push_back(channel.take(taker, WaitKind::Ahead));
            taker.spend(Cycles(10));
        }
    });
    scene.thread("giver", [&](Activity& giver) {
        giver.spend(Cycles(1));
        for (const int package : {1, 2, 3, 4}) {  // 4 follows 3, which waits in the channel
            answers.push_back(channel.give(giver, package));
        }
        giver.spend(Cycles(1));
        answers.push_back(channel.give(giver, 5));  // the taker works
    });
    scene.run();
    EXPECT_EQ(at_once, (std::vector<int>{1, 2}));
    EXPECT_EQ(by_thread, (std::vector<int>{3, 4, 5}));
    EXPECT_EQ(answers, (std::vector<Wire::Offer>{Wire::Offer::Taken, Wire::Offer::Ahead,
                                                 Wire::Offer::Declined, Wire::Offer::Declined,
                                                 Wire::Offer::Declined}));
    EXPECT_EQ(scene.activities().front().statistics().starved, Cycles(0)) << "it is ahead of time";
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
