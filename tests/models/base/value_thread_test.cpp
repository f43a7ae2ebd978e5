// SPDX-License-Identifier: Apache-2.0
#include "models/base/value_thread.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace npuscope {
namespace {

TEST(ValueThread, DoesAtOnceWhatItIsGivenBeforeItStarts) {
    ValueThread values;
    std::thread::id did;
    values.post([&] { did = std::this_thread::get_id(); });
    EXPECT_EQ(did, std::this_thread::get_id());
}

TEST(ValueThread, DoesAllInOrderOnAThreadOfItsOwn) {
    ValueThread values;
    values.start();
    std::vector<int> order;
    std::thread::id did;
    constexpr int works = 10'000;  // more than may wait
    for (int i = 0; i < works; ++i) {
        values.post([&, i] {
            order.push_back(i);
            did = std::this_thread::get_id();
        });
    }
    values.settle();
    ASSERT_EQ(order.size(), works);
    EXPECT_TRUE(std::ranges::is_sorted(order));
    EXPECT_NE(did, std::this_thread::get_id());
}

TEST(ValueThread, ShowsInTheSimulationsThreadWhatIsSettled) {
    ValueThread values;
    values.start();
    int value = 0;
    std::vector<int> seen;
    std::atomic<bool> may_end = false;
    values.post([&] {
        may_end.wait(false);
        value = 1;
    });
    values.then([&, simulation = std::this_thread::get_id()] {
        EXPECT_EQ(std::this_thread::get_id(), simulation);
        seen.push_back(value);
    });
    EXPECT_TRUE(seen.empty());
    may_end = true;
    may_end.notify_one();
    values.settle();
    EXPECT_EQ(seen, std::vector<int>{1});
    values.settle();
    EXPECT_EQ(seen.size(), 1U);
}

TEST(ValueThread, PostsWhatWasHeldBackBeforeAnythingElse) {
    ValueThread values;
    values.start();
    std::vector<int> order;
    values.hold_back([&] { values.post([&] { order.push_back(1); }); });
    values.post([&] { order.push_back(2); });
    values.hold_back([&] { values.post([&] { order.push_back(3); }); });
    values.settle();
    EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST(ValueThread, ReleasesWhatAWorkHolds) {
    ValueThread values;
    values.start();
    const auto held = std::make_shared<int>(1);
    values.post([held] {});
    values.settle();
    EXPECT_EQ(held.use_count(), 1);
}

TEST(ValueThread, ThrowsWhatAWorkThrewAndLeavesOutWhatFollows) {
    ValueThread values;
    values.start();
    const auto held = std::make_shared<int>(0);
    values.post([] { throw std::runtime_error("no such value"); });
    values.post([held] { *held = 1; });
    EXPECT_THROW(values.settle(), std::runtime_error);
    EXPECT_EQ(*held, 0);
    EXPECT_EQ(held.use_count(), 1);
    EXPECT_NO_THROW(values.finish());
}

TEST(ValueThread, StartsWithTheOperationAfterSoMany) {
    ValueThread values;
    values.start_after(2);
    for (const bool runs : {false, false, true, true}) {
        values.begin_operation();
        EXPECT_EQ(values.runs(), runs);
    }
}

TEST(ValueThread, EndsWhenAllHasBeenDone) {
    int done = 0;
    {
        ValueThread values;
        values.start();
        for (int i = 0; i < 100; ++i) {
            values.post([&] { ++done; });
        }
    }
    EXPECT_EQ(done, 100);
}

}  // namespace
}  // namespace npuscope
