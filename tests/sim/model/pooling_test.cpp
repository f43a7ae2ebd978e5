// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "tests/sim/model/run_operator.h"

namespace npuscope::pooling_test {
namespace {

using sample::Integers;
using sample::node_of;
using sample::refusal;
using sample::run;
using sample::run_all;
using sample::value_of;
using sample::whole;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::map<std::string, Attribute> square{{"kernel_shape", Integers{2, 2}}};

TEST(PoolingOperators, MaximaHavePositions) {
    GraphNode node = node_of("MaxPool", square);
    node.outputs = {"y", "indices"};
    const GraphValue map = value_of({1, 2, 2, 3}, {1, 5, 2, 7, 3, 4, 9, 0, 0, 0, 0, 8});
    const Values rows = run_all(node, {map});
    EXPECT_THAT(rows[0].numbers, ElementsAre(7, 5, 9, 8));
    EXPECT_THAT(rows[1].numbers, ElementsAre(3, 1, 6, 11));
    node.attributes["storage_order"] = std::int64_t{1};
    EXPECT_THAT(run_all(node, {map})[1].numbers, ElementsAre(1, 2, 6, 11));
}

TEST(PoolingOperators, EveryWindowHasAnElement) {
    const GraphNode node = node_of(
        "MaxPool",
        {{"kernel_shape", Integers{2}}, {"dilations", Integers{3}}, {"pads", Integers{1, 2}}});
    EXPECT_THAT(refusal(node, {value_of({1, 1, 1}, {1}, ElementType::Int8)}),
                HasSubstr("no element of the input"));
    EXPECT_THAT(run(node, {value_of({1, 1, 3}, {1, 2, 3}, ElementType::Int8)}).numbers,
                ElementsAre(3, 1, 2));
}

TEST(PoolingOperators, PaddingTakesNoTime) {
    constexpr std::int64_t large = std::int64_t{1} << 20U;
    const GraphNode node = node_of("LpPool", {{"kernel_shape", Integers{large, large}},
                                              {"auto_pad", std::string("SAME_UPPER")}});
    EXPECT_THAT(run(node, {value_of({1, 1, 1, 1}, {-5})}).numbers, ElementsAre(5));
    const GraphNode mean = node_of("AveragePool", {{"kernel_shape", Integers{2, 3}},
                                                   {"pads", Integers{1, 2, 0, 0}},
                                                   {"strides", Integers{2, 2}},
                                                   {"count_include_pad", std::int64_t{1}}});
    EXPECT_THAT(run(mean, {value_of({1, 1, 2, 2}, {6, 12, 18, 24})}).numbers, ElementsAre(1));
}

TEST(PoolingOperators, UnpoolingPutsMaximaBack) {
    const GraphNode node = node_of("MaxUnpool", square);
    const GraphValue maxima = value_of({1, 1, 1, 2}, {7, 5});
    EXPECT_THAT(run(node, {maxima, whole({1, 1, 1, 2}, {3, 1})}).numbers,
                ElementsAre(0, 5, 0, 7, 0, 0));
    // positions stay those of the smaller map
    EXPECT_THAT(run(node, {maxima, whole({1, 1, 1, 2}, {3, 1}), whole({4}, {1, 1, 2, 4})}).numbers,
                ElementsAre(0, 5, 0, 0, 7, 0, 0, 0));
    EXPECT_THAT(refusal(node, {maxima, whole({1, 1, 1, 2}, {6, 1})}),
                HasSubstr("index 6 does not exist"));
    EXPECT_THAT(refusal(node, {maxima, whole({1, 1, 1, 2}, {3, 1}), whole({4}, {1, 1, 1, 3})}),
                HasSubstr("index 3 lies outside"));
    EXPECT_THAT(refusal(node_of("MaxUnpool"), {maxima, maxima}), HasSubstr("does not fit"));
}

TEST(PoolingOperators, NormsAreTakenOverWindowsAndPlanes) {
    const GraphValue map = value_of({1, 1, 1, 3}, {3, -4, 0});
    EXPECT_THAT(run(node_of("LpPool", {{"kernel_shape", Integers{1, 2}}}), {map}).numbers,
                ElementsAre(5, 4));
    EXPECT_THAT(run(node_of("GlobalLpPool", {{"p", std::int64_t{1}}}), {map}).numbers,
                ElementsAre(7));
    EXPECT_THAT(refusal(node_of("GlobalLpPool", {{"p", std::int64_t{0}}}), {map}),
                HasSubstr("p is 0"));
}

TEST(PoolingOperators, BlocksAreAddedUp) {
    const GraphValue blocks = value_of({1, 2, 2}, {1, 2, 10, 20});
    const auto line = [](double size) { return whole({2}, {1, size}); };
    EXPECT_THAT(run(node_of("Col2Im"), {blocks, line(3), line(2)}).numbers, ElementsAre(1, 12, 20));
    const GraphNode padded = node_of("Col2Im", {{"pads", Integers{0, 1, 0, 1}}});
    EXPECT_THAT(run(padded, {blocks, line(1), line(2)}).numbers, ElementsAre(12));
    EXPECT_THAT(refusal(node_of("Col2Im"), {blocks, line(9), line(2)}),
                HasSubstr("its input is 1x2x2"));
    EXPECT_THAT(refusal(node_of("Col2Im"), {blocks, line(1), line(2)}),
                HasSubstr("a block exceeds"));
}

}  // namespace
}  // namespace npuscope::pooling_test
