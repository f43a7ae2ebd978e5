// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/sim/model/run_operator.h"

namespace npuscope {
namespace {

using sample::expect_near;
using sample::node_of;
using sample::refusal;
using sample::run;
using sample::run_all;
using sample::value_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(NormalisationOperators, NormalisationsHaveStatistics) {
    GraphNode node = node_of("LayerNormalization", {{"epsilon", 0.0}});
    node.outputs = {"y", "mean", "inverse"};
    const Values results =
        run_all(node, {value_of({2, 2}, {1, 3, -5, 5}), value_of({2}, {1, 2})}, 17);
    EXPECT_THAT(results[0].numbers, ElementsAre(-1, 2, -1, 2));
    EXPECT_EQ(results[1], value_of({2, 1}, {2, 0}));
    EXPECT_THAT(results[2].numbers, ElementsAre(1, ::testing::DoubleNear(0.2F, 1e-6)));
    const GraphValue map = value_of({1, 2, 1, 2}, {1, 3, -5, 5});
    expect_near(run(node_of("MeanVarianceNormalization"), {map}).numbers, {-1, 1, -1, 1});
    EXPECT_THAT(refusal(node_of("MeanVarianceNormalization"), {value_of({2}, {1, 2})}),
                HasSubstr("axis 2 does not exist"));
}

TEST(NormalisationOperators, RootsOfMeanSquares) {
    const GraphNode node = node_of("RMSNormalization", {{"epsilon", 0.0}});
    const GraphValue map = value_of({2, 2}, {1, 7, -10, 10});
    EXPECT_THAT(run(node, {map, value_of({2}, {5, 10})}, 23).numbers, ElementsAre(1, 14, -5, 10));
    const GraphNode all =
        node_of("RMSNormalization", {{"epsilon", 24.0}, {"axis", std::int64_t{0}}});
    EXPECT_THAT(run(all, {value_of({2}, {-5, 1.0}), value_of({}, {1})}, 23).numbers,
                ElementsAre(::testing::DoubleNear(-5 / std::sqrt(37.0), 1e-6),
                            ::testing::DoubleNear(1 / std::sqrt(37.0), 1e-6)));
    EXPECT_THAT(refusal(node, {map, value_of({2, 2, 1}, {1, 2, 3, 4})}, 23),
                HasSubstr("its scale or bias of 2x2x1 has more elements than its input"));
}

TEST(NormalisationOperators, ScaleAndBiasAreBroadcast) {
    const GraphNode node =
        node_of("LayerNormalization", {{"epsilon", 0.0}, {"axis", std::int64_t{1}}});
    const GraphValue map = value_of({1, 2, 2}, {-1, 1, 1, -1});
    EXPECT_THAT(run(node, {map, value_of({2, 1}, {1, 2}), value_of({}, {10})}, 17).numbers,
                ElementsAre(9, 11, 12, 8));
    EXPECT_THAT(refusal(node, {map, value_of({3}, {1, 2, 3})}, 17), HasSubstr("do not match"));
    EXPECT_THAT(refusal(node, {map, value_of({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}, 17),
                HasSubstr("more elements than its input"));
}

}  // namespace
}  // namespace npuscope
