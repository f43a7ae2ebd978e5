// SPDX-License-Identifier: Apache-2.0
// Every pattern in every spelling: recognised, mapped completely, and equal in every value to the
// same model run by the host's reference operators.
#include <gtest/gtest.h>

#include "tests/sim/compile/tinpu/layer_fixture.h"

namespace npuscope {
namespace {

using test::ConvShape;
using test::ModelBuilder;
using test::Sequence;

void expect_taken(const ModelBuilder& builder, Pattern pattern, std::uint32_t weight_bits) {
    const Graph graph = test::graph_of(builder);
    const LayerPlan plan = plan_layers(graph, test::bundled_preset());
    ASSERT_EQ(plan.partition.groups.size(), 1U)
        << ::testing::PrintToString(test::broken_rules(plan.partition));
    EXPECT_EQ(plan.partition.groups[0].layer->pattern, pattern);
    EXPECT_EQ(tinpu_layer(plan.partition.groups[0]).weight_bits, weight_bits);
    for (const NodePlace& place : plan.partition.places) {
        EXPECT_NE(place.side, NodeSide::Host);
    }
    for (const ElementType element : {ElementType::Int8, ElementType::Uint8}) {
        const auto inputs = test::some_inputs(graph, element, 5);
        const ModelResult npu = test::run_on(graph, test::bundled_preset(), inputs);
        const ModelResult host = test::run_on(graph, test::host_only(), inputs);
        EXPECT_GT(test::npu_cycles(npu.result), Cycles(0));
        EXPECT_EQ(npu.result.model->host.cycles, Cycles(0));
        EXPECT_EQ(test::npu_cycles(host.result), Cycles(0));
        ASSERT_EQ(npu.outputs.at("y").numbers, host.outputs.at("y").numbers);
    }
}

ConvShape shape_of(std::int64_t channels, std::int64_t kernels, std::int64_t kernel) {
    ConvShape shape;
    shape.channels = channels;
    shape.kernels = kernels;
    shape.rows = shape.columns = kernel;
    shape.padding = kernel / 2;
    return shape;
}

/// Types of more than 8 bits say nothing of a map's sign; its values do.
TEST(Patterns, MapsMayBeGivenAsWiderIntegers) {
    const Graph graph = test::graph_of(test::conv_model(shape_of(4, 8, 3), {}));
    for (const ElementType map : {ElementType::Int8, ElementType::Uint8}) {
        GraphInputs inputs = test::some_inputs(graph, map, 5);
        inputs.at("x").numbers.front() = range_of(map).low;
        inputs.at("x").numbers.back() = range_of(map).high;
        const GraphValue wanted =
            test::run_on(graph, test::bundled_preset(), inputs).outputs.at("y");
        for (const ElementType given : {ElementType::Int16, ElementType::Int32, ElementType::Int64,
                                        ElementType::Float32, ElementType::Float64}) {
            inputs.at("x").type.element = given;
            EXPECT_EQ(test::run_on(graph, test::bundled_preset(), inputs).outputs.at("y"), wanted);
        }
    }
}

/// Each instance has a memory of its own, in which the host stores the maps.
TEST(Patterns, SeveralInstancesWriteTheResultsOfOne) {
    const Graph graph = test::graph_of(test::residual_model({}));
    const LayerNpuConfig config = test::bundled_preset();
    const GraphInputs inputs = test::some_inputs(graph, ElementType::Int8, 5);
    const ModelResult three =
        test::run_plan(graph, plan_layers(graph, config), config, &inputs, {.instances = 3});
    EXPECT_EQ(three.outputs, test::run_on(graph, config, inputs).outputs);
    EXPECT_TRUE(three.result.findings.empty());
}

TEST(Patterns, OneInputChannelIsFconv) {
    expect_taken(test::conv_model(shape_of(1, 8, 3), {}), Pattern::Fconv, 2);
}
TEST(Patterns, SeveralInputChannelsAreGconv) {
    expect_taken(test::conv_model(shape_of(4, 8, 3), {}), Pattern::Gconv, 2);
}
TEST(Patterns, AsManyGroupsAsChannelsAreDwconv) {
    ConvShape shape = shape_of(8, 8, 3);
    shape.groups = 8;
    expect_taken(test::conv_model(shape, {}), Pattern::Dwconv, 2);
}
TEST(Patterns, KernelsOfOneAreaPwconv) {
    expect_taken(test::conv_model(shape_of(8, 12, 1), {}), Pattern::Pwconv, 2);
}
TEST(Patterns, ResidualsMakePwconvres) {
    expect_taken(test::residual_model({}), Pattern::Pwconvres, 2);
}
TEST(Patterns, TransposedConvolutionsAreTconv) {
    expect_taken(test::transposed_model({}), Pattern::Tconv, 2);
}
TEST(Patterns, ProductsAreFc) { expect_taken(test::fc_model({}), Pattern::Fc, 2); }
TEST(Patterns, LargestOfWindowsIsMaxpool) {
    expect_taken(test::max_pool_model(3, 2), Pattern::Maxpool, 0);
}
TEST(Patterns, AveragesTimesTheirAreaAreAvgpool) {
    expect_taken(test::average_pool_model({}), Pattern::Avgpool, 0);
    expect_taken(test::average_pool_model({}, 4, 1), Pattern::Avgpool, 0);
}
TEST(Patterns, SumsOfPlanesAreGlobalAvgpool) {
    expect_taken(test::global_pool_model({}), Pattern::AvgpoolGlobal, 0);
    expect_taken(test::global_pool_model({}, {-1, -2}), Pattern::AvgpoolGlobal, 0);
}

TEST(Patterns, WeightsAreAsWideAsTheirNumbers) {
    ConvShape shape = shape_of(4, 8, 3);
    for (const auto& [low, high, bits] :
         {std::tuple{-2, 1, 2U}, {-8, 7, 4U}, {-3, 2, 4U}, {-128, 127, 8U}, {-9, 9, 8U}}) {
        shape.weight_low = low;
        shape.weight_high = high;
        Sequence sequence;
        if (bits == 8) {
            sequence.scale = {1};
        }
        expect_taken(test::conv_model(shape, sequence), Pattern::Gconv, bits);
    }
}

/// Small weights with a bias that only 8-bit weights may have are 8-bit weights.
TEST(Patterns, WeightsAreWiderWhereOnlyThatIsLegal) {
    Sequence sequence;
    sequence.bias = {100000};
    sequence.scale = {};
    expect_taken(test::conv_model(shape_of(4, 8, 3), sequence), Pattern::Gconv, 8);
}

TEST(Spellings, ShiftsMayBeMultiplications) {
    Sequence sequence;
    sequence.divide = false;
    expect_taken(test::conv_model(shape_of(4, 8, 3), sequence), Pattern::Gconv, 2);
    sequence.scale = {};
    expect_taken(test::conv_model(shape_of(4, 8, 3), sequence), Pattern::Gconv, 2);
}
TEST(Spellings, ConstantsMayStandFirst) {
    Sequence sequence;
    sequence.swapped = true;
    sequence.divide = false;
    expect_taken(test::conv_model(shape_of(4, 8, 3), sequence), Pattern::Gconv, 2);
}
TEST(Spellings, BiasAndScaleMayBeLeftOut) {
    Sequence sequence;
    sequence.bias = {};
    sequence.scale = {};
    expect_taken(test::conv_model(shape_of(4, 8, 3), sequence), Pattern::Gconv, 2);
}
TEST(Spellings, ConstantsMayDifferByChannel) {
    Sequence sequence;
    sequence.bias = test::some_numbers(8, -100, 100, 1);
    sequence.scale = test::some_numbers(8, 0, 255, 2);
    sequence.divisor = 256;
    expect_taken(test::conv_model(shape_of(4, 8, 3), sequence), Pattern::Gconv, 2);
    expect_taken(test::fc_model(sequence), Pattern::Fc, 2);
}
TEST(Spellings, ClipsMayBeMaximaAndMinima) {
    for (const auto clip : {Sequence::Clip::MaxMin, Sequence::Clip::MinMax}) {
        Sequence sequence;
        sequence.clip = clip;
        expect_taken(test::conv_model(shape_of(4, 8, 3), sequence), Pattern::Gconv, 2);
        expect_taken(test::residual_model(sequence), Pattern::Pwconvres, 2);
    }
    Sequence relu;
    relu.clip = Sequence::Clip::ReluMin;
    relu.low = 0;
    relu.high = 15;
    expect_taken(test::conv_model(shape_of(4, 8, 3), relu), Pattern::Gconv, 2);
}
TEST(Spellings, ClipLimitsMayBeAttributes) {
    ModelBuilder builder(10);
    builder.input("x", {1, 4, 5, 5}).floats("w", {4, 4, 1, 1}, test::some_numbers(16, -2, 1, 3));
    builder.node("Conv", "conv", {"x", "w"}).node("Floor", "floor", {"conv_y"});
    builder.node("Clip", "clip", {"floor_y"}, "y").number("min", -128).number("max", 127);
    builder.output("y");
    expect_taken(builder, Pattern::Pwconv, 2);
}
TEST(Spellings, BiasMayStandInTheConvolutionAndBehindIt) {
    ModelBuilder builder;
    builder.input("x", {1, 4, 5, 5}).floats("w", {4, 4, 1, 1}, test::some_numbers(16, -2, 1, 3));
    builder.floats("b", {4}, {1, -2, 3, -4});
    builder.node("Conv", "conv", {"x", "w", "b"});
    test::append_sequence(builder, {});
    builder.output("y");
    expect_taken(builder, Pattern::Pwconv, 2);
}
TEST(Spellings, RoundMayBeFloorOfAHalfMore) {
    ModelBuilder builder(10);
    builder.input("x", {1, 4, 6, 6}).floats("half", {}, {0.5F}).floats("area_c", {}, {4});
    builder.node("AveragePool", "pool", {"x"})
        .ints("kernel_shape", {2, 2})
        .ints("pads", {1, 1, 0, 0});
    builder.node("Mul", "area", {builder.last(), "area_c"});
    builder.node("Add", "half_more", {builder.last(), "half"});
    builder.node("Floor", "round", {builder.last()});
    builder.floats("bias_c", {}, {3}).floats("div_c", {}, {8});
    builder.node("Add", "bias", {builder.last(), "bias_c"});
    builder.node("Div", "div", {builder.last(), "div_c"}).node("Floor", "floor", {"div_y"});
    builder.node("Clip", "clip", {"floor_y"}, "y").number("min", -128).number("max", 127);
    builder.output("y");
    expect_taken(builder, Pattern::Avgpool, 0);
}
TEST(Spellings, AveragesOfWholePlanesTimesTheirAreaAreSums) {
    ModelBuilder builder;
    builder.input("x", {1, 4, 6, 6}).floats("area_c", {}, {36});
    builder.node("GlobalAveragePool", "pool", {"x"});
    builder.node("Mul", "area", {builder.last(), "area_c"}).node("Round", "round", {"area_y"});
    test::append_sequence(builder, {});
    builder.output("y");
    expect_taken(builder, Pattern::AvgpoolGlobal, 0);
}
TEST(Spellings, FlattenedCubesAreReadWhereTheyLie) {
    ModelBuilder builder;
    builder.input("x", {1, 4, 3, 2}).floats("w", {24, 8}, test::some_numbers(192, -2, 1, 9));
    builder.node("Flatten", "flatten", {"x"}).node("MatMul", "fc", {"flatten_y", "w"});
    test::append_sequence(builder, {}, 0);
    builder.output("y");
    expect_taken(builder, Pattern::Fc, 2);
    const Graph graph = test::graph_of(builder);
    EXPECT_EQ(
        test::tinpu_partition(graph, test::bundled_preset().restrictions).groups[0].reads[0].tensor,
        "x");
}
TEST(Spellings, GemmMayTurnItsWeights) {
    ModelBuilder builder;
    builder.input("x", {1, 16}).floats("w", {8, 16}, test::some_numbers(128, -2, 1, 9));
    builder.floats("c", {8}, test::some_numbers(8, -9, 9, 1));
    builder.node("Gemm", "fc", {"x", "w", "c"}).integer("transB", 1);
    test::append_sequence(builder, {}, 0);
    builder.output("y");
    expect_taken(builder, Pattern::Fc, 2);
}
TEST(Spellings, DilatedStridedAndUnevenlyPaddedKernelsAreTaken) {
    ModelBuilder builder;
    builder.input("x", {1, 4, 11, 9}).floats("w", {4, 4, 3, 2}, test::some_numbers(96, -2, 1, 3));
    builder.node("Conv", "conv", {"x", "w"})
        .ints("dilations", {2, 3})
        .ints("strides", {2, 1})
        .ints("pads", {1, 0, 2, 3});
    test::append_sequence(builder, {});
    builder.output("y");
    expect_taken(builder, Pattern::Gconv, 2);
}

}  // namespace
}  // namespace npuscope
