// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "tests/sim/model/run_operator.h"

namespace npuscope {
namespace {

using sample::node_of;
using sample::refusal;
using sample::run;
using sample::run_all;
using sample::value_of;
using sample::whole;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(CountedOperators, NumbersAreFound) {
    const GraphValue found = run(node_of("NonZero"), {value_of({2, 2}, {1, 0, 1, 1})});
    EXPECT_EQ(found.type.sizes, (Sizes{2, 3}));
    EXPECT_THAT(found.numbers, ElementsAre(0, 1, 1, 0, 0, 1));
    EXPECT_EQ(run(node_of("NonZero"), {value_of({2}, {0, 0})}).type.sizes, (Sizes{1, 0}));
}

TEST(CountedOperators, SlicesAreKeptByACondition) {
    const GraphValue map = value_of({3, 2}, {1, 2, 3, 4, 5, 6});
    const auto condition = [](std::vector<double> numbers) {
        const auto size = static_cast<std::int64_t>(numbers.size());
        return value_of({size}, std::move(numbers), ElementType::Bool);
    };
    const GraphNode rows = node_of("Compress", {{"axis", std::int64_t{0}}});
    EXPECT_THAT(run(rows, {map, condition({0, 1, 1})}).numbers, ElementsAre(3, 4, 5, 6));
    EXPECT_THAT(run(node_of("Compress"), {map, condition({0, 1, 0, 0, 1})}).numbers,
                ElementsAre(2, 5));
    EXPECT_THAT(refusal(rows, {map, condition({0, 1, 1, 1})}),
                HasSubstr("a condition of 4 exceeds"));
}

TEST(CountedOperators, EqualSlicesAreCounted) {
    // source: ONNX operator definitions, Unique, examples 1 and 3
    GraphNode node = node_of("Unique", {{"sorted", std::int64_t{0}}});
    node.outputs = {"y", "first", "places", "counts"};
    const Values line = run_all(node, {value_of({6}, {2, 1, 1, 3, 4, 3})});
    EXPECT_THAT(line[0].numbers, ElementsAre(2, 1, 3, 4));
    EXPECT_THAT(line[1].numbers, ElementsAre(0, 1, 3, 4));
    EXPECT_THAT(line[2].numbers, ElementsAre(0, 1, 1, 2, 3, 2));
    EXPECT_THAT(line[3].numbers, ElementsAre(1, 2, 2, 1));
    node.attributes = {{"axis", std::int64_t{0}}};
    const Values rows = run_all(node, {value_of({3, 3}, {1, 0, 0, 1, 0, 0, 2, 3, 4})});
    EXPECT_THAT(rows[0].numbers, ElementsAre(1, 0, 0, 2, 3, 4));
    EXPECT_THAT(rows[3].numbers, ElementsAre(2, 1));
}

TEST(CountedOperators, AnEmptyTensorMayHaveManySlices) {
    const GraphNode node = node_of("Unique", {{"axis", std::int64_t{0}}});
    const GraphValue empty{{ElementType::Float32, {std::int64_t{1} << 26U, 0}}, {}};
    EXPECT_THAT(refusal(node, {empty}), HasSubstr("67108864 is not a valid tensor size"));
}

TEST(CountedOperators, OverlappingBoxesAreSuppressed) {
    const GraphValue boxes = value_of({1, 3, 4}, {0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, 10, 1, 11});
    const GraphValue scores = value_of({1, 1, 3}, {0.8, 0.9, 0.5});
    const GraphValue most = whole({1}, {3});
    const GraphValue half = value_of({1}, {0.5});
    EXPECT_THAT(run(node_of("NonMaxSuppression"), {boxes, scores, most, half}).numbers,
                ElementsAre(0, 0, 1, 0, 0, 2));
    EXPECT_THAT(run(node_of("NonMaxSuppression"), {boxes, scores, most, half, value_of({1}, {0.6})})
                    .numbers,
                ElementsAre(0, 0, 1));
    EXPECT_TRUE(run(node_of("NonMaxSuppression"), {boxes, scores}).numbers.empty());
    EXPECT_THAT(refusal(node_of("NonMaxSuppression"), {boxes, value_of({1, 1, 2}, {1, 2})}),
                HasSubstr("do not fit scores"));
}

}  // namespace
}  // namespace npuscope
