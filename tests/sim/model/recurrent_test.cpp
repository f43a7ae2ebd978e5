// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "tests/sim/model/run_operator.h"

namespace npuscope {
namespace {

using sample::node_of;
using sample::omitted;
using sample::refusal;
using sample::run;
using sample::run_all;
using sample::value_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// h = x + h, never below 0: numbers that are easy to follow.
GraphNode counter(std::map<std::string, Attribute> attributes = {}) {
    attributes.emplace("activations", std::vector<std::string>{"Relu"});
    GraphNode node = node_of("RNN", std::move(attributes));
    node.outputs = {"y", "h"};
    return node;
}
const GraphValue one = value_of({1, 1, 1}, {1});

TEST(RecurrentOperators, SequencesEndAtTheirLengths) {
    const GraphValue x = value_of({2, 2, 1}, {1, 10, 2, 20});
    const GraphValue lengths = value_of({2}, {1, 2}, ElementType::Int32);
    const Values forward = run_all(counter(), {x, one, one, omitted(), lengths});
    EXPECT_THAT(forward[0].numbers, ElementsAre(1, 10, 0, 30));
    EXPECT_THAT(forward[1].numbers, ElementsAre(1, 30));
    const Values reverse = run_all(counter({{"direction", std::string("reverse")}}),
                                   {x, one, one, omitted(), lengths});
    EXPECT_THAT(reverse[0].numbers, ElementsAre(1, 30, 0, 20));
    EXPECT_THAT(reverse[1].numbers, ElementsAre(1, 30));
    EXPECT_THAT(
        refusal(counter(), {x, one, one, omitted(), value_of({2}, {1, 3}, ElementType::Int32)}),
        HasSubstr("a sequence has 3 steps of 2"));
}

TEST(RecurrentOperators, TheBatchMayComeFirst) {
    const Values results = run_all(counter({{"layout", std::int64_t{1}}}),
                                   {value_of({2, 2, 1}, {1, 2, 10, 20}), one, one, omitted(),
                                    omitted(), value_of({2, 1, 1}, {100, 0})});
    EXPECT_EQ(results[0].type.sizes, (Sizes{2, 2, 1, 1}));
    EXPECT_THAT(results[0].numbers, ElementsAre(101, 103, 10, 30));
    EXPECT_THAT(results[1].numbers, ElementsAre(103, 30));
}

TEST(RecurrentOperators, MemoryReachesGatesThroughPeepholes) {
    const std::map<std::string, Attribute> linear{
        {"activations", std::vector<std::string>{"Affine", "Affine", "Affine"}}};
    GraphNode node = node_of("LSTM", linear);
    node.outputs = {"y", "h", "c"};
    const GraphValue w = value_of({1, 4, 1}, {1, 1, 1, 1});
    const GraphValue r = value_of({1, 4, 1}, {0, 0, 0, 0});
    const GraphValue memory = value_of({1, 1, 1}, {2});
    const GraphValue peepholes = value_of({1, 3}, {1, 1, 1});
    const std::vector<GraphValue> operands{one,       w,         r,      omitted(),
                                           omitted(), omitted(), memory, peepholes};
    // input and forget 1 + 2, cell 1: 3 * 2 + 3 * 1; output 1 + 9
    const Values results = run_all(node, operands);
    EXPECT_THAT(results[1].numbers, ElementsAre(90));
    EXPECT_THAT(results[2].numbers, ElementsAre(9));
    node.attributes["input_forget"] = std::int64_t{1};  // forget 1 - 3
    EXPECT_THAT(run_all(node, operands)[2].numbers, ElementsAre(-1));
}

TEST(RecurrentOperators, GatesHaveTheActivationsAndTheLimitOfTheNode) {
    const GraphValue x = value_of({1, 1, 1}, {3});
    EXPECT_THAT(run(counter({{"clip", 0.5}}), {x, one, one}).numbers, ElementsAre(0.5));
    EXPECT_THAT(run(counter({{"activations", std::vector<std::string>{"affine"}},
                             {"activation_alpha", std::vector<double>{2}},
                             {"activation_beta", std::vector<double>{1}}}),
                    {x, one, one})
                    .numbers,
                ElementsAre(7));
    EXPECT_THAT(run(counter({{"activations", std::vector<std::string>{"HardSigmoid"}}}),
                    {value_of({1, 1, 1}, {1}), one, one})
                    .numbers[0],
                ::testing::DoubleNear(0.7F, 1e-6));
    EXPECT_THAT(
        refusal(counter({{"activations", std::vector<std::string>{"Gelu"}}}), {x, one, one}),
        HasSubstr("activation 'Gelu' is not known"));
    EXPECT_THAT(refusal(node_of("LSTM"), {x, one, one}), HasSubstr("do not fit each other"));
}

}  // namespace
}  // namespace npuscope
