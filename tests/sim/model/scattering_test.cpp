// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "tests/sim/model/run_operator.h"

namespace npuscope::scattering_test {
namespace {

using sample::node_of;
using sample::refusal;
using sample::run;
using sample::value_of;
using sample::whole;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const GraphValue square = value_of({2, 2}, {0, 1, 2, 3});
const GraphValue line = value_of({4}, {1, 2, 3, 4});

TEST(ScatteringOperators, SlicesAreReadAtIndices) {
    EXPECT_THAT(run(node_of("GatherND"), {square, whole({2, 2}, {0, 0, 1, -1})}).numbers,
                ElementsAre(0, 3));
    EXPECT_THAT(run(node_of("GatherND"), {square, whole({2, 1}, {1, 0})}).numbers,
                ElementsAre(2, 3, 0, 1));
    const GraphNode batched = node_of("GatherND", {{"batch_dims", std::int64_t{1}}});
    const GraphValue cube = value_of({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
    EXPECT_THAT(run(batched, {cube, whole({2, 1}, {1, 0})}).numbers, ElementsAre(2, 3, 4, 5));
    EXPECT_THAT(refusal(node_of("GatherND"), {square, whole({1, 1}, {2})}),
                HasSubstr("index 2 does not exist"));
    EXPECT_THAT(refusal(node_of("GatherND"), {square, whole({1, 3}, {0, 0, 0})}),
                HasSubstr("3 numbers each"));
    EXPECT_THAT(refusal(node_of("GatherND", {{"batch_dims", std::int64_t{2}}}),
                        {square, whole({2, 2}, {0, 0, 0, 0})}),
                HasSubstr("batch dimensions"));
}

TEST(ScatteringOperators, SlicesAreWrittenAtIndices) {
    const GraphValue updates = value_of({2}, {10, 20});
    EXPECT_THAT(run(node_of("ScatterND"), {line, whole({2, 1}, {1, 3}), updates}).numbers,
                ElementsAre(1, 10, 3, 20));
    const auto reduced = [&](const char* how) {
        return run(node_of("ScatterND", {{"reduction", std::string(how)}}),
                   {line, whole({2, 1}, {1, 1}), updates})
            .numbers[1];
    };
    EXPECT_EQ(reduced("add"), 32);
    EXPECT_EQ(reduced("mul"), 400);
    EXPECT_EQ(reduced("max"), 20);
    EXPECT_EQ(reduced("min"), 2);
    EXPECT_THAT(refusal(node_of("ScatterND", {{"reduction", std::string("sum")}}),
                        {line, whole({2, 1}, {1, 1}), updates}),
                HasSubstr("reduction 'sum' is not known"));
    EXPECT_THAT(refusal(node_of("ScatterND"), {line, whole({1, 1}, {1}), updates}),
                HasSubstr("its updates are 2, but its indices need 1"));
}

TEST(ScatteringOperators, ElementsAreWrittenAlongAnAxis) {
    const GraphNode node = node_of("ScatterElements", {{"axis", std::int64_t{1}}});
    const GraphValue updates = value_of({2, 1}, {8, 9});
    EXPECT_THAT(run(node, {square, whole({2, 1}, {1, -2}), updates}).numbers,
                ElementsAre(0, 8, 9, 3));
    EXPECT_THAT(refusal(node, {square, whole({2, 1}, {2, 0}), updates}),
                HasSubstr("index 2 does not exist"));
    EXPECT_THAT(refusal(node, {square, whole({3, 1}, {0, 0, 0}), value_of({3, 1}, {1, 2, 3})}),
                HasSubstr("reach beyond the input"));
}

TEST(ScatteringOperators, IndicesBecomeVectors) {
    const GraphValue values = value_of({2}, {2, 9});
    EXPECT_THAT(run(node_of("OneHot"), {whole({3}, {0, -1, 5}), whole({}, {3}), values}).numbers,
                ElementsAre(9, 2, 2, 2, 2, 9, 2, 2, 2));
    const GraphNode first = node_of("OneHot", {{"axis", std::int64_t{0}}});
    EXPECT_THAT(run(first, {whole({2}, {1, 0}), whole({1}, {2}), values}).numbers,
                ElementsAre(2, 9, 9, 2));
    EXPECT_THAT(refusal(first, {whole({2}, {1, 0}), whole({1}, {-2}), values}),
                HasSubstr("-2 is not a valid depth"));
}

TEST(ScatteringOperators, SequencesAreReversedUpToTheirLengths) {
    const GraphValue map = value_of({3, 2}, {1, 2, 3, 4, 5, 6});
    EXPECT_THAT(run(node_of("ReverseSequence"), {map, whole({2}, {2, 3})}).numbers,
                ElementsAre(3, 6, 1, 4, 5, 2));
    EXPECT_THAT(refusal(node_of("ReverseSequence"), {map, whole({2}, {2, 4})}),
                HasSubstr("a sequence of 4 is longer"));
    EXPECT_THAT(refusal(node_of("ReverseSequence", {{"time_axis", std::int64_t{1}}}),
                        {map, whole({2}, {2, 2})}),
                HasSubstr("axes 1 and 1"));
}

}  // namespace
}  // namespace npuscope::scattering_test
