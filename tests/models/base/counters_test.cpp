// SPDX-License-Identifier: Apache-2.0
// Sums and differences of counters hold every counter of the struct's list.
#include "models/base/counters.h"

#include <gtest/gtest.h>

#include "models/base/statistics.h"

namespace npuscope {
namespace {

/// 1 in the first counter, 2 in the second, and so on, times `factor`.
template <class T>
T numbered(std::uint64_t factor) {
    T counted;
    std::uint64_t number = 0;
    for (const auto& counter : counters_of(counted)) {
        *counter.number = ++number * factor;
    }
    EXPECT_GT(number, 0U);
    return counted;
}

template <class T>
void expect_all_counters() {
    const T one = numbered<T>(1);
    EXPECT_TRUE(equal(times(one, 3), numbered<T>(3)));
    EXPECT_TRUE(equal(difference(numbered<T>(5), one), numbered<T>(4)));
    T sum = one;
    add_counters(sum, numbered<T>(6));
    EXPECT_TRUE(equal(sum, numbered<T>(7)));
    for (std::size_t i = 0; i < counters_of(sum).size(); ++i) {
        T other = sum;
        ++*counters_of(other)[i].number;
        EXPECT_FALSE(equal(sum, other)) << counters_of(sum)[i].name;
    }
}

TEST(Counters, AreAllInSumsDifferencesAndComparisons) {
    expect_all_counters<UnitStatistics>();
    expect_all_counters<ClientTraffic>();
}

TEST(Counters, OfTrafficAreAllInItsOwnOperators) {
    auto traffic = numbered<ClientTraffic>(2);
    traffic += numbered<ClientTraffic>(3);
    EXPECT_TRUE(equal(traffic, numbered<ClientTraffic>(5)));
    traffic -= numbered<ClientTraffic>(1);
    EXPECT_TRUE(equal(traffic, numbered<ClientTraffic>(4)));
}

}  // namespace
}  // namespace npuscope
