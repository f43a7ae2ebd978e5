// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

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

TEST(ElementwiseOperators, MeansCastsAndTests) {
    const GraphValue a = value_of({2}, {1, 2});
    EXPECT_THAT(run(node_of("Mean"), {a, value_of({}, {5})}).numbers, ElementsAre(3, 3.5));
    const GraphValue cast = run(node_of("CastLike"),
                                {value_of({2}, {1.5, -2.5}), value_of({}, {0}, ElementType::Int8)});
    EXPECT_EQ(cast, value_of({2}, {1, -2}, ElementType::Int8));
    constexpr double infinite = std::numeric_limits<double>::infinity();
    const GraphValue odd = value_of({4}, {std::nan(""), infinite, -infinite, 1});
    EXPECT_THAT(run(node_of("IsNaN"), {odd}).numbers, ElementsAre(1, 0, 0, 0));
    EXPECT_THAT(run(node_of("IsInf"), {odd}).numbers, ElementsAre(0, 1, 1, 0));
    EXPECT_THAT(run(node_of("IsInf", {{"detect_positive", std::int64_t{0}}}), {odd}).numbers,
                ElementsAre(0, 0, 1, 0));
    EXPECT_THAT(refusal(node_of("Cast"), {a}), HasSubstr("does not say which type"));
}

TEST(ElementwiseOperators, ANormalisationThatTrainsTakesItsOwnStatistics) {
    GraphNode node =
        node_of("BatchNormalization",
                {{"training_mode", std::int64_t{1}}, {"momentum", 0.75}, {"epsilon", 0.0}});
    node.outputs = {"y", "mean", "variance"};
    const GraphValue map = value_of({2, 2, 1}, {1, 10, 5, 10.5});
    const Values results = run_all(node,
                                   {map, value_of({2}, {1, 2}), value_of({2}, {0, 3}),
                                    value_of({2}, {1, 2}), value_of({2}, {8, 0})},
                                   14);
    EXPECT_THAT(results[0].numbers, ElementsAre(-1, 1, 1, 5));
    EXPECT_THAT(results[1].numbers, ElementsAre(1.5, 4.0625));
    EXPECT_THAT(results[2].numbers, ElementsAre(7, 0.015625));
}

TEST(ElementwiseOperators, SwishIsAProductWithASigmoid) {
    const GraphValue x = value_of({3}, {-1000, 0, 2});
    sample::expect_near(run(node_of("Swish"), {x}, 24).numbers, {0, 0, 2 / (1 + std::exp(-2.0))});
    sample::expect_near(run(node_of("Swish", {{"alpha", 0.5}}), {x}, 24).numbers,
                        {0, 0, 2 / (1 + std::exp(-1.0))});
}

TEST(ElementwiseOperators, FunctionsHaveInverses) {
    const auto of = [](const char* op, double x) {
        return run(node_of(op), {value_of({}, {x})}).numbers.front();
    };
    EXPECT_NEAR(of("Asin", std::sin(0.5)), 0.5, 1e-6);
    EXPECT_NEAR(of("Acos", std::cos(0.5)), 0.5, 1e-6);
    EXPECT_NEAR(of("Asinh", std::sinh(0.5)), 0.5, 1e-6);
    EXPECT_NEAR(of("Acosh", std::cosh(0.5)), 0.5, 1e-6);
    EXPECT_NEAR(of("Atanh", std::tanh(0.5)), 0.5, 1e-6);
}

TEST(ElementwiseOperators, DropoutDropsNothingAndDoesNotTrain) {
    GraphNode node = node_of("Dropout");
    node.outputs = {"y", "mask"};
    const GraphValue x = value_of({2}, {1, 2});
    const auto training = [](double on) { return value_of({}, {on}, ElementType::Bool); };
    const Values results = run_all(node, {x, value_of({}, {0.5}), training(0)});
    EXPECT_EQ(results[0], x);
    EXPECT_EQ(results[1], value_of({2}, {1, 1}, ElementType::Bool));
    EXPECT_EQ(run_all(node, {x}, 7)[1].type.element, ElementType::Float32);
    EXPECT_EQ(run(node, {x, value_of({}, {0}), training(1)}), x);
    EXPECT_THAT(refusal(node, {x, value_of({}, {0.5}), training(1)}), HasSubstr("as in training"));
    EXPECT_THAT(refusal(node, {x, omitted(), training(1)}), HasSubstr("as in training"));
}

}  // namespace
}  // namespace npuscope
