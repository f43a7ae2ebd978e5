// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "tests/sim/model/run_operator.h"

namespace npuscope {
namespace {

using sample::node_of;
using sample::refusal;
using sample::run;
using sample::value_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

double of_pair(const GraphNode& node, ElementType element, double a, double b) {
    return run(node, {value_of({1}, {a}, element), value_of({1}, {b}, element)}).numbers.front();
}

TEST(BitwiseOperators, BitsAreCombined) {
    EXPECT_EQ(of_pair(node_of("BitwiseAnd"), ElementType::Int32, 6, 3), 2);
    EXPECT_EQ(of_pair(node_of("BitwiseAnd"), ElementType::Int32, -1, 3), 3);
    EXPECT_EQ(of_pair(node_of("BitwiseOr"), ElementType::Int8, -128, 3), -125);
    EXPECT_EQ(of_pair(node_of("BitwiseXor"), ElementType::Uint8, 6, 3), 5);
    EXPECT_THAT(run(node_of("BitwiseNot"), {value_of({2}, {6, 0}, ElementType::Uint8)}).numbers,
                ElementsAre(249, 255));
    EXPECT_THAT(run(node_of("BitwiseNot"), {value_of({2}, {6, -1}, ElementType::Int8)}).numbers,
                ElementsAre(-7, 0));
    EXPECT_THAT(refusal(node_of("BitwiseNot"), {value_of({1}, {6})}), HasSubstr("needs integers"));
}

TEST(BitwiseOperators, BitsAreShifted) {
    const GraphNode left = node_of("BitShift", {{"direction", std::string("LEFT")}});
    const GraphNode right = node_of("BitShift", {{"direction", std::string("RIGHT")}});
    EXPECT_EQ(of_pair(left, ElementType::Uint8, 200, 1), 144);
    EXPECT_EQ(of_pair(right, ElementType::Uint32, 16, 3), 2);
    EXPECT_EQ(of_pair(left, ElementType::Uint64, 1, 64), 0);
    EXPECT_EQ(of_pair(left, ElementType::Uint64, 1, 63), 9223372036854775808.0);
    EXPECT_THAT(refusal(node_of("BitShift"), {value_of({1}, {1}, ElementType::Uint8),
                                              value_of({1}, {1}, ElementType::Uint8)}),
                HasSubstr("direction ''"));
    EXPECT_THAT(refusal(left, {value_of({1}, {1}, ElementType::Int8),
                               value_of({1}, {1}, ElementType::Int8)}),
                HasSubstr("unsigned"));
}

}  // namespace
}  // namespace npuscope
