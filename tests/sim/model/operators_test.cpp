// SPDX-License-Identifier: Apache-2.0
// Operators of the host by small examples, worked out by hand from ONNX's definitions.
#include "sim/model/operators.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/sim/model/run_operator.h"

namespace npuscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using sample::Integers;
using sample::node_of;
using sample::run;
using sample::run_all;
using sample::value_of;
using sample::whole;

TEST(HostOperators, TensorsAreStretchedToEachOther) {
    const GraphValue column = value_of({2, 1}, {1, 2});
    const GraphValue row = value_of({3}, {10, 20, 30});
    EXPECT_THAT(run(node_of("Add"), {column, row}).numbers, ElementsAre(11, 21, 31, 12, 22, 32));
    EXPECT_THAT(run(node_of("Sub"), {row, column}).numbers, ElementsAre(9, 19, 29, 8, 18, 28));
    EXPECT_THAT(run(node_of("Max"), {column, row, value_of({}, {15})}).numbers,
                ElementsAre(15, 20, 30, 15, 20, 30));
}

TEST(HostOperators, NumbersAreStoredAsTheirTypeStoresThem) {
    const GraphValue third = run(node_of("Div"), {value_of({}, {1}), value_of({}, {3})});
    EXPECT_EQ(third.numbers[0], static_cast<double>(1.0F / 3.0F));
    const auto int8 = [](double x) { return value_of({}, {x}, ElementType::Int8); };
    EXPECT_THAT(run(node_of("Add"), {int8(100), int8(100)}).numbers, ElementsAre(-56));
    EXPECT_THAT(run(node_of("Div"), {int8(-7), int8(2)}).numbers, ElementsAre(-3));
}

TEST(HostOperators, RoundingIsHalfToEvenAndFloorGoesDown) {
    const GraphValue halves = value_of({4}, {-1.5, -0.5, 0.5, 2.5});
    EXPECT_THAT(run(node_of("Round"), {halves}).numbers, ElementsAre(-2, 0, 0, 2));
    EXPECT_THAT(run(node_of("Floor"), {halves}).numbers, ElementsAre(-2, -1, 0, 2));
    EXPECT_THAT(run(node_of("Clip", {{"min", -1.0}, {"max", 1.0}}), {halves}, 10).numbers,
                ElementsAre(-1, -0.5, 0.5, 1));
}

TEST(HostOperators, ConvolutionsPadStrideDilateAndGroup) {
    const GraphValue data = value_of({1, 2, 1, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
    const GraphValue kernels = value_of({2, 1, 1, 2}, {1, 10, 1, 100});
    EXPECT_THAT(run(node_of("Conv", {{"group", std::int64_t{2}}}), {data, kernels}).numbers,
                ElementsAre(21, 32, 43, 605, 706, 807));
    EXPECT_THAT(run(node_of("Conv", {{"group", std::int64_t{2}},
                                     {"strides", Integers{1, 2}},
                                     {"dilations", Integers{1, 2}},
                                     {"pads", Integers{0, 1, 0, 1}}}),
                    {data, kernels, value_of({2}, {0, 1})})
                    .numbers,
                ElementsAre(20, 42, 601, 807));
}

TEST(HostOperators, TransposedConvolutionsScatter) {
    const GraphValue data = value_of({1, 1, 1, 2}, {1, 2});
    const GraphValue kernel = value_of({1, 1, 1, 3}, {1, 10, 100});
    EXPECT_THAT(
        run(node_of("ConvTranspose", {{"strides", Integers{1, 2}}}), {data, kernel}).numbers,
        ElementsAre(1, 10, 102, 20, 200));
    EXPECT_THAT(
        run(node_of("ConvTranspose", {{"strides", Integers{1, 2}}, {"pads", Integers{0, 1, 0, 1}}}),
            {data, kernel})
            .numbers,
        ElementsAre(10, 102, 20));
}

TEST(HostOperators, ProductsTurnScaleAndStretch) {
    const GraphValue a = value_of({1, 2}, {1, 2});
    const GraphValue b = value_of({2, 2}, {1, 2, 3, 4});
    EXPECT_THAT(run(node_of("MatMul"), {a, b}).numbers, ElementsAre(7, 10));
    EXPECT_THAT(run(node_of("Gemm", {{"transB", std::int64_t{1}}, {"alpha", 2.0}}),
                    {a, b, value_of({2}, {100, 200})})
                    .numbers,
                ElementsAre(110, 222));
}

TEST(HostOperators, ProductsOfBatchesStretchThoseOfOne) {
    const GraphValue rows = value_of({2, 1, 1}, {2, 3});
    const GraphValue columns = value_of({1, 1, 1, 2}, {1, 10});
    const GraphValue result = run(node_of("MatMul"), {rows, columns});
    EXPECT_EQ(result.type.sizes, (Sizes{1, 2, 1, 2}));
    EXPECT_THAT(result.numbers, ElementsAre(2, 20, 3, 30));
    const GraphValue both = run(
        node_of("MatMul"), {value_of({2, 1, 1, 1}, {2, 3}), value_of({1, 3, 1, 1}, {1, 10, 100})});
    EXPECT_EQ(both.type.sizes, (Sizes{2, 3, 1, 1}));
    EXPECT_THAT(both.numbers, ElementsAre(2, 20, 200, 3, 30, 300));
    const GraphValue none = value_of({0, 1, 1}, {});
    EXPECT_TRUE(run(node_of("MatMul"), {none, columns}).numbers.empty());
    EXPECT_THAT(sample::message_of([&] {
                    run(node_of("MatMul"), {rows, none});
                }),
                HasSubstr("do not match"));
}

TEST(HostOperators, PoolsCountWhatLiesInside) {
    const GraphValue data = value_of({1, 1, 1, 3}, {-3, -6, -9});
    const std::map<std::string, Attribute> window{{"kernel_shape", Integers{1, 2}},
                                                  {"pads", Integers{0, 1, 0, 0}}};
    EXPECT_THAT(run(node_of("MaxPool", window), {data}).numbers, ElementsAre(-3, -3, -6));
    EXPECT_THAT(run(node_of("AveragePool", window), {data}).numbers, ElementsAre(-3, -4.5, -7.5));
    auto counting = window;
    counting["count_include_pad"] = std::int64_t{1};
    EXPECT_THAT(run(node_of("AveragePool", counting), {data}).numbers,
                ElementsAre(-1.5, -4.5, -7.5));
}

TEST(HostOperators, RangesGoInStepsBelowTheirLimit) {
    const auto range = [](double start, double limit, double step) {
        return run(node_of("Range"), {value_of({}, {start}, ElementType::Int64),
                                      value_of({}, {limit}, ElementType::Int64),
                                      value_of({}, {step}, ElementType::Int64)});
    };
    EXPECT_THAT(range(1, 8, 3).numbers, ElementsAre(1, 4, 7));
    EXPECT_THAT(range(2, -2, -2).numbers, ElementsAre(2, 0));
    EXPECT_TRUE(range(2, 1, 1).numbers.empty());
    EXPECT_EQ(range(0, 4, 1).type.element, ElementType::Int64);
    EXPECT_THROW(range(0, 4, 0), ConfigError);
    EXPECT_THROW(range(0, 0, 0), ConfigError);
}

TEST(HostOperators, ProductsOfIntegersHaveAScaleForEachColumn) {
    const auto codes = [](const Sizes& sizes, std::vector<double> numbers) {
        return value_of(sizes, std::move(numbers), ElementType::Int8);
    };
    const GraphValue one = value_of({}, {1});
    const GraphValue zero = codes({}, {0});
    EXPECT_THAT(run(node_of("QLinearMatMul"),
                    {codes({1, 2}, {2, 3}), one, zero, codes({2, 2}, {4, 5, 6, 7}),
                     value_of({2}, {1, 0.5}), codes({2}, {0, 1}), one, codes({}, {-1})})
                    .numbers,
                ElementsAre(2 * 4 + 3 * 6 - 1, (2 * 4 + 3 * 6) / 2 - 1));
}

TEST(HostOperators, WindowsHaveThreeDirections) {
    const GraphValue data = value_of({1, 1, 3, 1, 2}, {1, 2, 3, 4, 5, 6});
    const GraphValue kernel = value_of({1, 1, 2, 1, 2}, {1, 10, 100, 1000});
    EXPECT_THAT(run(node_of("Conv"), {data, kernel}).numbers, ElementsAre(4321, 6543));
    EXPECT_THAT(
        run(node_of("Conv", {{"pads", Integers{1, 0, 0, 0, 0, 0}}, {"strides", Integers{2, 1, 1}}}),
            {data, kernel})
            .numbers,
        ElementsAre(2100, 6543));
    const GraphValue one = value_of({1, 1, 2, 1, 1}, {1, 2});
    EXPECT_THAT(
        run(node_of("ConvTranspose", {{"strides", Integers{2, 1, 1}}}), {one, kernel}).numbers,
        ElementsAre(1, 10, 100, 1000, 2, 20, 200, 2000));
    std::map<std::string, Attribute> window{{"kernel_shape", Integers{2, 1, 2}},
                                            {"pads", Integers{1, 0, 0, 0, 0, 0}}};
    EXPECT_THAT(run(node_of("MaxPool", window), {data}).numbers, ElementsAre(2, 4, 6));
    EXPECT_THAT(run(node_of("AveragePool", window), {data}).numbers, ElementsAre(1.5, 2.5, 4.5));
    window["count_include_pad"] = std::int64_t{1};
    EXPECT_THAT(run(node_of("AveragePool", window), {data}).numbers, ElementsAre(0.75, 2.5, 4.5));
}

TEST(HostOperators, ElementsMove) {
    const GraphValue matrix = value_of({2, 3}, {1, 2, 3, 4, 5, 6});
    EXPECT_THAT(run(node_of("Transpose"), {matrix}).numbers, ElementsAre(1, 4, 2, 5, 3, 6));
    EXPECT_THAT(
        run(node_of("Concat", {{"axis", std::int64_t{1}}}), {matrix, value_of({2, 1}, {8, 9})})
            .numbers,
        ElementsAre(1, 2, 3, 8, 4, 5, 6, 9));
    const auto indices = [](std::vector<double> numbers) {
        const auto size = static_cast<std::int64_t>(numbers.size());
        return value_of({size}, std::move(numbers), ElementType::Int64);
    };
    EXPECT_THAT(
        run(node_of("Slice"), {matrix, indices({-1}), indices({-100}), indices({1}), indices({-2})})
            .numbers,
        ElementsAre(3, 1, 6, 4));
    EXPECT_THAT(
        run(node_of("Gather", {{"axis", std::int64_t{1}}}), {matrix, indices({2, -3})}).numbers,
        ElementsAre(3, 1, 6, 4));
    EXPECT_THAT(run(node_of("Pad"), {matrix, indices({0, 1, 0, 0}), value_of({}, {7})}).numbers,
                ElementsAre(7, 1, 2, 3, 7, 4, 5, 6));
    EXPECT_THAT(
        run(node_of("Pad"), {matrix, indices({1, -1}), value_of({}, {7}), indices({-1})}).numbers,
        ElementsAre(7, 1, 2, 7, 4, 5));
    EXPECT_THAT(
        sample::refusal(node_of("Pad"), {matrix, indices({1}), sample::omitted(), indices({-1})}),
        HasSubstr("the length of its pads does not match its axes"));
    EXPECT_THAT(
        run(node_of("Resize", {{"coordinate_transformation_mode", std::string("asymmetric")},
                               {"nearest_mode", std::string("floor")}}),
            {matrix, value_of({0}, {}), value_of({2}, {1, 2})})
            .numbers,
        ElementsAre(1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6));
    EXPECT_EQ(run(node_of("Reshape"), {matrix, indices({0, -1, 1})}).type.sizes, (Sizes{2, 3, 1}));
}

TEST(HostOperators, ReductionsKeepOrDropTheirAxes) {
    const GraphValue matrix = value_of({2, 3}, {1, 2, 3, 4, 5, 6});
    EXPECT_THAT(run(node_of("ReduceSum", {{"axes", Integers{-1}}}), {matrix}, 11).numbers,
                ElementsAre(6, 15));
    const GraphValue mean = run(node_of("ReduceMean", {{"keepdims", std::int64_t{0}}}), {matrix});
    EXPECT_TRUE(mean.type.sizes.empty());
    EXPECT_THAT(mean.numbers, ElementsAre(3.5));
    EXPECT_THAT(run(node_of("ArgMax", {{"axis", std::int64_t{1}}}), {matrix}).numbers,
                ElementsAre(2, 2));
    const GraphValue shares = run(node_of("Softmax"), {value_of({1, 2}, {0, 0})});
    EXPECT_THAT(shares.numbers, ElementsAre(0.5, 0.5));
}

TEST(HostOperators, QuantisingRoundsToEvenAndSaturates) {
    const GraphValue x = value_of({4}, {0.25, 0.75, 100, -100});
    const GraphValue q = run(node_of("QuantizeLinear"),
                             {x, value_of({}, {0.5}), value_of({}, {1}, ElementType::Int8)});
    EXPECT_THAT(q.numbers, ElementsAre(1, 3, 127, -128));
    EXPECT_THAT(run(node_of("DequantizeLinear"),
                    {q, value_of({}, {0.5}), value_of({}, {1}, ElementType::Int8)})
                    .numbers,
                ElementsAre(0, 1, 63, -64.5));
}

TEST(HostOperators, ActivationsOfPublishedNetworks) {
    const GraphValue x = value_of({1, 2, 1}, {-1, 2});
    EXPECT_THAT(run(node_of("PRelu"), {x, value_of({2, 1}, {0.5, 7})}).numbers,
                ElementsAre(-0.5, 2));
    EXPECT_NEAR(run(node_of("Elu", {{"alpha", 2.0}}), {x}).numbers[0], 2 * std::expm1(-1.0), 1e-6);
    EXPECT_NEAR(run(node_of("Erf"), {x}).numbers[1], std::erf(2.0), 1e-6);
    const GraphValue normal =
        run(node_of("LayerNormalization", {{"epsilon", 0.0}}),
            {value_of({2, 2}, {1, 3, -5, 5}), value_of({2}, {1, 2}), value_of({2}, {0, 10})});
    EXPECT_THAT(normal.numbers, ElementsAre(-1, 12, -1, 12));
}

TEST(HostOperators, LinearResizeFollowsItsCoordinates) {
    const GraphValue x = value_of({1, 1, 1, 2}, {0, 4});
    const GraphValue none = value_of({0}, {});
    const GraphValue scales = value_of({4}, {1, 1, 1, 2});
    const auto resized = [&](const std::string& mode) {
        return run(node_of("Resize", {{"mode", std::string("linear")},
                                      {"coordinate_transformation_mode", mode}}),
                   {x, none, scales})
            .numbers;
    };
    EXPECT_THAT(resized("half_pixel"), ElementsAre(0, 1, 3, 4));
    EXPECT_THAT(resized("asymmetric"), ElementsAre(0, 2, 4, 4));
    EXPECT_THAT(resized("align_corners"), ElementsAre(0, ::testing::DoubleNear(4.0 / 3, 1e-6),
                                                      ::testing::DoubleNear(8.0 / 3, 1e-6), 4));
}

/// In another order, or one direction after the other, such a sum rounds differently.
TEST(HostOperators, BilinearResizeSumsFloatsInItsOrder) {
    const float a = 0.1F;
    const float b = 0.7F;
    const float c = 1.3F;
    const float d = 2.9F;
    const GraphValue x = value_of({1, 1, 2, 2}, {a, b, c, d});
    const GraphValue grown = run(node_of("Resize", {{"mode", std::string("linear")}}),
                                 {x, value_of({0}, {}), value_of({4}, {1, 1, 2, 2})});
    ASSERT_EQ(grown.type.sizes, Sizes({1, 1, 4, 4}));
    const float middle = 0.5625F * a + 0.1875F * b + 0.1875F * c + 0.0625F * d;
    EXPECT_EQ(grown.numbers[5], static_cast<double>(middle));
    EXPECT_EQ(grown.numbers[0], static_cast<double>(a));
}

TEST(HostOperators, QuantisedOperatorsOfOnnxRuntime) {
    const auto map = [](const Sizes& sizes, std::vector<double> numbers) {
        return value_of(sizes, std::move(numbers), ElementType::Uint8);
    };
    const GraphValue half = value_of({}, {0.5});
    const GraphValue one = value_of({}, {1});
    const GraphValue zero = map({}, {10});
    // (12 - 10) / 2 + (15 - 10) * 1 = 6, and 5 half steps to even
    EXPECT_THAT(run(node_of("com.microsoft.QLinearAdd"),
                    {map({2}, {12, 15}), half, zero, map({2}, {15, 10}), one, zero, one, zero})
                    .numbers,
                ElementsAre(16, 12));
    EXPECT_THAT(run(node_of("com.microsoft.QLinearGlobalAveragePool"),
                    {map({1, 1, 1, 2}, {12, 16}), half, zero, one, zero})
                    .numbers,
                ElementsAre(12));
    EXPECT_THAT(run(node_of("com.microsoft.QLinearConcat", {{"axis", std::int64_t{1}}}),
                    {one, zero, map({2, 1}, {14, 16}), half, zero, map({2, 1}, {1, 2}), one, zero})
                    .numbers,
                ElementsAre(12, 1, 13, 2));
    const GraphValue bias = value_of({1}, {2}, ElementType::Int32);
    EXPECT_THAT(
        run(node_of("com.microsoft.QGemm", {{"transB", std::int64_t{1}}}),
            {map({1, 2}, {11, 13}), half, zero, map({1, 2}, {12, 14}), one, zero, bias, one, zero})
            .numbers,
        ElementsAre(18));
}

TEST(HostOperators, OperandsThatDoNotFitAreRefused) {
    const auto refusal = [](const GraphNode& node, const std::vector<GraphValue>& operands) {
        return sample::message_of([&] { run(node, operands); });
    };
    const GraphValue two = value_of({2}, {1, 2});
    EXPECT_THAT(refusal(node_of("Add"), {two}), HasSubstr("1 input "));
    EXPECT_THAT(refusal(node_of("Add"), {two, value_of({3}, {1, 2, 3})}),
                HasSubstr("do not match"));
    EXPECT_THAT(refusal(node_of("MatMul"), {two, value_of({3}, {1, 2, 3})}),
                HasSubstr("do not match"));
    EXPECT_THAT(refusal(node_of("Transpose", {{"perm", Integers{1, 1}}}), {value_of({1, 1}, {1})}),
                HasSubstr("twice"));
    EXPECT_THAT(refusal(node_of("Cast", {{"to", std::int64_t{8}}}), {two}),
                HasSubstr("element type 8"));
    EXPECT_EQ(find_operator("Frobnicate"), nullptr);
}

TEST(HostOperators, ChannelsBecomePlacesOfBlocksAndBack) {
    const GraphValue channels = value_of({1, 8, 1, 1}, {0, 1, 2, 3, 4, 5, 6, 7});
    const auto spread = [&](const char* mode) {
        return run(
            node_of("DepthToSpace", {{"blocksize", std::int64_t{2}}, {"mode", std::string(mode)}}),
            {channels});
    };
    EXPECT_THAT(spread("DCR").numbers, ElementsAre(0, 2, 4, 6, 1, 3, 5, 7));
    EXPECT_THAT(spread("CRD").numbers, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
    EXPECT_EQ(spread("CRD").type.sizes, (Sizes{1, 2, 2, 2}));
    const GraphNode back = node_of("SpaceToDepth", {{"blocksize", std::int64_t{2}}});
    EXPECT_EQ(run(back, {spread("DCR")}), channels);
}

TEST(HostOperators, NumbersAreComparedAndChosen) {
    const GraphValue column = value_of({2, 1}, {1, 2});
    const GraphValue row = value_of({3}, {0, 1, 2});
    EXPECT_THAT(run(node_of("Greater"), {column, row}).numbers, ElementsAre(1, 0, 0, 1, 1, 0));
    EXPECT_EQ(run(node_of("Equal"), {column, row}).type.element, ElementType::Bool);
    const GraphValue choice = value_of({3}, {1, 0, 1}, ElementType::Bool);
    EXPECT_THAT(run(node_of("Where"), {choice, row, value_of({}, {9})}).numbers,
                ElementsAre(0, 9, 2));
    EXPECT_THAT(run(node_of("Not"), {choice}).numbers, ElementsAre(0, 1, 0));
    EXPECT_THAT(run(node_of("Mod"), {value_of({2}, {-7, 7}), value_of({2}, {3, -3})}).numbers,
                ElementsAre(2, -2));
}

TEST(HostOperators, ActivationsGiveTheirDefinitionsNumbers) {
    const auto near = [](const char* op, double x) {
        return run(node_of(op), {value_of({}, {x})}).numbers.front();
    };
    EXPECT_NEAR(near("Softplus", 1), 1.3132617, 1e-6);
    EXPECT_NEAR(near("Softplus", -200), 0, 1e-6);
    EXPECT_NEAR(near("Gelu", 1), 0.8413447, 1e-6);
    EXPECT_NEAR(near("com.microsoft.Gelu", -1), -0.1586553, 1e-6);
    EXPECT_NEAR(near("com.microsoft.FastGelu", 1), 0.8411920, 1e-6);
    EXPECT_NEAR(near("Mish", 1), 0.8650984, 1e-6);
    EXPECT_NEAR(near("Softsign", -3), -0.75, 1e-6);
    EXPECT_NEAR(near("Selu", -1), -1.1113307, 1e-6);
    EXPECT_NEAR(near("Celu", -1), -0.6321206, 1e-6);
    EXPECT_NEAR(near("ThresholdedRelu", 1), 0, 1e-6);
    EXPECT_NEAR(near("Reciprocal", 4), 0.25, 1e-6);
    EXPECT_EQ(near("Sign", -4), -1);
}

TEST(HostOperators, MapsAreNormalised) {
    const GraphValue map = value_of({1, 2, 1, 2}, {1, 3, 5, 9});
    const GraphValue ones = value_of({2}, {1, 2});
    const GraphValue zero = value_of({2}, {0, 10});
    const auto near = [](const std::vector<double>& wanted) {
        std::vector<::testing::Matcher<double>> matchers;
        for (const double number : wanted) {
            matchers.push_back(::testing::DoubleNear(number, 1e-4));
        }
        return ::testing::ElementsAreArray(matchers);
    };
    EXPECT_THAT(run(node_of("InstanceNormalization"), {map, ones, zero}).numbers,
                near({-1, 1, 8, 12}));
    EXPECT_THAT(
        run(node_of("GroupNormalization", {{"num_groups", std::int64_t{2}}}), {map, ones, zero})
            .numbers,
        near({-1, 1, 8, 12}));
    EXPECT_THAT(run(node_of("LpNormalization"), {value_of({2}, {3, 4})}).numbers, near({0.6, 0.8}));
    const GraphNode lrn =
        node_of("LRN", {{"size", std::int64_t{3}}, {"alpha", 3.0}, {"beta", 1.0}, {"bias", 0.0}});
    EXPECT_THAT(run(lrn, {value_of({1, 2, 1}, {1, 2})}).numbers, near({0.2, 0.4}));
}

TEST(HostOperators, OperatorsBetweenScalesRoundToTheResultsScale) {
    const auto scalar = [](double x) { return value_of({}, {x}); };
    const auto zero = [](double x) { return value_of({}, {x}, ElementType::Uint8); };
    const GraphValue map = value_of({1, 1, 2, 2}, {10, 20, 30, 40}, ElementType::Uint8);
    const GraphValue gain = value_of({1, 1, 1, 1}, {3}, ElementType::Uint8);
    EXPECT_THAT(run(node_of("com.microsoft.QLinearMul"),
                    {map, scalar(0.5), zero(0), gain, scalar(1), zero(1), scalar(0.25), zero(5)})
                    .numbers,
                ElementsAre(45, 85, 125, 165));
    const GraphNode pool =
        node_of("com.microsoft.QLinearAveragePool", {{"kernel_shape", Integers{2, 2}}});
    EXPECT_THAT(run(pool, {map, scalar(1), zero(0), scalar(0.5), zero(1)}).numbers,
                ElementsAre(51));
    EXPECT_THAT(run(node_of("com.microsoft.QLinearSigmoid"),
                    {value_of({1}, {128}, ElementType::Uint8), scalar(0.1), zero(128),
                     scalar(1.0 / 256), zero(0)})
                    .numbers,
                ElementsAre(128));
    const GraphNode leaky = node_of("com.microsoft.QLinearLeakyRelu", {{"alpha", 0.5}});
    EXPECT_THAT(run(leaky, {value_of({2}, {120, 136}, ElementType::Uint8), scalar(1), zero(128),
                            scalar(1), zero(128)})
                    .numbers,
                ElementsAre(124, 136));
}

TEST(HostOperators, SizesArePartsOfAShape) {
    const GraphValue map = value_of({2, 3, 1}, {1, 2, 3, 4, 5, 6});
    EXPECT_THAT(run(node_of("Shape"), {map}).numbers, ElementsAre(2, 3, 1));
    const GraphNode part =
        node_of("Shape", {{"start", std::int64_t{-2}}, {"end", std::int64_t{2}}});
    EXPECT_THAT(run(part, {map}, 15).numbers, ElementsAre(3));
    EXPECT_THAT(run(node_of("Size"), {map}).numbers, ElementsAre(6));
}

TEST(HostOperators, ElementsAreRepeatedOrderedAndLookedUp) {
    EXPECT_THAT(run(node_of("Tile"), {value_of({1, 2}, {1, 2}), whole({2}, {2, 2})}).numbers,
                ElementsAre(1, 2, 1, 2, 1, 2, 1, 2));
    const GraphValue line = value_of({3}, {1, 2, 3});
    EXPECT_THAT(run(node_of("CumSum"), {line, whole({}, {0})}).numbers, ElementsAre(1, 3, 6));
    const GraphNode backwards =
        node_of("CumSum", {{"exclusive", std::int64_t{1}}, {"reverse", std::int64_t{1}}});
    EXPECT_THAT(run(backwards, {line, whole({}, {0})}).numbers, ElementsAre(5, 3, 0));
    const GraphValue square = value_of({2, 2}, {1, 2, 3, 4});
    EXPECT_THAT(run(node_of("GatherElements", {{"axis", std::int64_t{1}}}),
                    {square, whole({2, 2}, {0, 0, 1, -2})})
                    .numbers,
                ElementsAre(1, 1, 4, 3));
    GraphNode best = node_of("TopK");
    best.outputs = {"values", "indices"};
    const Values top = run_all(best, {value_of({2, 3}, {1, 5, 5, 4, 0, 6}), whole({1}, {2})});
    EXPECT_THAT(top[0].numbers, ElementsAre(5, 5, 6, 4));
    EXPECT_THAT(top[1].numbers, ElementsAre(1, 2, 2, 0));
    EXPECT_THAT(sample::message_of([&] {
                    run(best, {line, whole({1}, {4})});
                }),
                HasSubstr("K is 4, but the size of the axis is 3"));
}

TEST(HostOperators, NumbersAreReducedInEveryWay) {
    const GraphValue x = value_of({2, 2}, {3, -4, 0, 2});
    const GraphNode rows =
        node_of("ReduceL2", {{"axes", Integers{1}}, {"keepdims", std::int64_t{0}}});
    EXPECT_THAT(run(rows, {x}, 12).numbers, ElementsAre(5, 2));
    EXPECT_THAT(run(node_of("ReduceL1"), {x}).numbers, ElementsAre(9));
    EXPECT_THAT(run(node_of("ReduceSumSquare"), {x}).numbers, ElementsAre(29));
    EXPECT_THAT(run(node_of("ReduceProd", {{"axes", Integers{0}}}), {x}, 12).numbers,
                ElementsAre(0, -8));
    EXPECT_THAT(run(node_of("ReduceLogSumExp"), {value_of({2}, {0, 0})}).numbers,
                ElementsAre(static_cast<double>(std::log(2.0F))));
    EXPECT_THAT(run(node_of("ArgMin", {{"axis", std::int64_t{1}}}), {x}).numbers,
                ElementsAre(1, 0));
}

TEST(HostOperators, ScalesAreFoundWhileItRuns) {
    // source: ONNX operator definitions, DynamicQuantizeLinear, example
    GraphNode node = node_of("DynamicQuantizeLinear");
    node.outputs = {"y", "scale", "zero"};
    const Values results = run_all(node, {value_of({6}, {0, 2, -3, -2.5, 1.34, 0.5})});
    EXPECT_THAT(results[0].numbers, ElementsAre(153, 255, 0, 26, 221, 179));
    EXPECT_EQ(results[1].numbers[0], static_cast<double>(5.0F / 255.0F));
    EXPECT_EQ(results[2].numbers[0], 153);
}

TEST(HostOperators, RecurrentCellsGoOverTheirSteps) {
    const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
    const GraphValue x = value_of({2, 1, 1}, {1, 2});
    GraphNode lstm = node_of("LSTM", {{"hidden_size", std::int64_t{1}}});
    lstm.outputs = {"y", "h", "c"};
    const Values memory =
        run_all(lstm, {x, value_of({1, 4, 1}, {1, 1, 1, 1}), value_of({1, 4, 1}, {0, 0, 0, 0.5})});
    const double c1 = sigmoid(1) * std::tanh(1);
    const double h1 = sigmoid(1) * std::tanh(c1);
    const double c2 = sigmoid(2) * c1 + sigmoid(2) * std::tanh(2 + 0.5 * h1);
    EXPECT_NEAR(memory[0].numbers[0], h1, 1e-6);
    EXPECT_NEAR(memory[1].numbers[0], sigmoid(2) * std::tanh(c2), 1e-6);
    EXPECT_NEAR(memory[2].numbers[0], c2, 1e-6);
    GraphNode gru = node_of("GRU", {{"direction", std::string("reverse")}});
    gru.outputs = {"y", "h"};
    const Values state =
        run_all(gru, {x, value_of({1, 3, 1}, {1, 1, 1}), value_of({1, 3, 1}, {0, 0, 0.5})});
    const double g1 = (1 - sigmoid(2)) * std::tanh(2);
    const double g2 = (1 - sigmoid(1)) * std::tanh(1 + 0.5 * (sigmoid(1) * g1)) + sigmoid(1) * g1;
    EXPECT_NEAR(state[0].numbers[1], g1, 1e-6);
    EXPECT_NEAR(state[0].numbers[0], g2, 1e-6);
    EXPECT_NEAR(state[1].numbers[0], g2, 1e-6);
}

}  // namespace
}  // namespace npuscope
