// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/sim/model/run_operator.h"

namespace npuscope {
namespace {

using sample::expect_near;
using sample::Integers;
using sample::node_of;
using sample::run;
using sample::value_of;
using ::testing::ElementsAre;

TEST(ReductionOperators, TheLargestIsOne) {
    EXPECT_THAT(run(node_of("Hardmax"), {value_of({2, 3}, {3, 1, 3, 0, 1, 2})}).numbers,
                ElementsAre(1, 0, 0, 0, 0, 1));
}

TEST(ReductionOperators, SumsOfExponentialsDoNotOverflow) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    expect_near(run(node_of("ReduceLogSumExp", {{"axes", Integers{1}}}),
                    {value_of({3, 2}, {1000, 1000, -1000, -1000, 1, 2}, ElementType::Float64)})
                    .numbers,
                {1000 + std::log(2.0), -1000 + std::log(2.0), 2 + std::log(1 + std::exp(-1.0))});
    EXPECT_THAT(run(node_of("ReduceLogSumExp"), {value_of({2}, {-infinite, -infinite})}).numbers,
                ElementsAre(-infinite));
}

}  // namespace
}  // namespace npuscope
