// SPDX-License-Identifier: Apache-2.0
#include "sim/config/nearest_name.h"

#include <gtest/gtest.h>

#include <vector>

namespace npuscope {
namespace {

const std::vector<std::string> names{"burst_bytes", "banks", "read_latency"};

TEST(NearestName, FindsTheNameWithOneLetterMissing) {
    EXPECT_EQ(nearest_name("burst_byte", names), "burst_bytes");
    EXPECT_EQ(nearest_name("BANKS", names), "banks");
    EXPECT_EQ(nearest_name("read_latancy", names), "read_latency");
}

TEST(NearestName, GivesNothingForAnotherWord) {
    EXPECT_EQ(nearest_name("frequency", names), std::nullopt);
    EXPECT_EQ(nearest_name("x", names), std::nullopt);
    EXPECT_EQ(nearest_name("", names), std::nullopt);
}

TEST(NearestName, RemedyListsAllNamesWhereNoneIsNear) {
    EXPECT_EQ(name_remedy("bank", names), "did you mean 'banks'?");
    EXPECT_EQ(name_remedy("frequency", names), "known: burst_bytes, banks, read_latency");
    EXPECT_EQ(name_remedy("bank", {}), "");
}

}  // namespace
}  // namespace npuscope
