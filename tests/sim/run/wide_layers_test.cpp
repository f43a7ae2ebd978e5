// SPDX-License-Identifier: Apache-2.0
// Float models as fp16 and int16 on an NPU that computes with them: near the float model, and near
// the host's results for the 16-bit model.
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/compile/nvdla/nvdla_target.h"
#include "sim/compile/nvdla/segmented_program.h"
#include "sim/compile/nvdla/wide_layer.h"
#include "sim/model/onnx_reader.h"
#include "sim/model/onnx_writer.h"
#include "sim/model/prepare_graph.h"
#include "sim/quantise/quantise_model.h"
#include "tests/sim/compile/tinpu/layer_fixture.h"
#include "tests/sim/quantise/run_on_host.h"
#include "tests/support/float_model.h"

namespace npuscope::wide_layers_test {
namespace {

using ::testing::HasSubstr;

SystemConfig system_of(const std::string& npu) {
    SystemConfig system = nvdla_system();
    nvdla_npu(system) = read_preset<NpuConfig>(find_preset(configs_folder(), "npu", npu));
    return system;
}

/// A depth-wise layer, one with a limit, an average, a product of rows.
test::ModelBuilder varied_model() {
    test::ModelBuilder builder(13);
    builder.input("x", {1, 3, 12, 9});
    test::append_conv(builder, "a", 3, 40, 1);
    builder.floats("deep_w", {40, 1, 3, 3}, test::some_fractions(360, 0.4F, 5));
    builder.node("Conv", "deep", {builder.last(), "deep_w"});
    builder.ints("strides", {2, 2}).ints("pads", {1, 1, 1, 1}).integer("group", 40);
    builder.floats("low", {}, {0}).floats("high", {}, {0.5F});
    builder.node("Clip", "limit", {builder.last(), "low", "high"});
    builder.node("AveragePool", "mean", {builder.last()}).ints("kernel_shape", {3, 2});
    builder.floats("w", {40, 7, 1, 1}, test::some_fractions(280, 0.4F, 6));
    builder.node("ConvTranspose", "up", {builder.last(), "w"});
    builder.node("GlobalAveragePool", "all", {builder.last()}, "y").output("y");
    return builder;
}

struct Expected {
    MapType type;
    double decibels;  ///< of the float model, at least
};

class WideLayers : public ::testing::TestWithParam<Expected> {
 protected:
    static QuantisedModel quantised(const test::ModelBuilder& builder, const Case& one) {
        QuantiseOptions options;
        options.type = GetParam().type;
        return quantise_model(sample::prepared(builder), {one}, options);
    }
    /// Runs it on nv_full; returns the number of groups there.
    static std::size_t expect_near(const test::ModelBuilder& builder) {
        const Graph floats = sample::prepared(builder);
        const Case one{{"x", test::float_input(floats.types.at("x").sizes, 3)}};
        const Graph graph = finish_graph(quantised(builder, one).graph, ScaleForm::Rounded);
        SystemConfig system = system_of("nv_full");
        SegmentedPlan plan = plan_segments(graph, {nvdla_npu(system), system.memory},
                                           {{"x", ValueRange{false, {-2, 2}, false}}});
        const std::size_t groups = plan.partition.groups.size();
        EXPECT_EQ(plan.partition.refusals.size(), 0U);
        const ModelResult run =
            run_model(segmented_program(graph, std::move(plan), system.host, &one), system, {});
        EXPECT_EQ(run.result.status(), RunStatus::Unchecked);
        const GraphValue& found = run.outputs.at("y");
        EXPECT_GT(decibels_between(sample::host_output(graph, one), found), GetParam().decibels);
        EXPECT_GT(decibels_between(sample::host_output(floats, one), found), GetParam().decibels);
        return groups;
    }
};

TEST_P(WideLayers, AWholeModelRunsNearTheFloats) {
    EXPECT_EQ(expect_near(test::float_model()), 5U);
}

TEST_P(WideLayers, LayersOfOtherKindsDoToo) { EXPECT_EQ(expect_near(varied_model()), 5U); }

TEST_P(WideLayers, TransposedConvolutionsAreConvolved) {
    for (const char* activation : {"", "Relu"}) {
        test::ModelBuilder builder(13);
        builder.input("x", {1, 20, 6, 5});
        builder.floats("w", {20, 9, 4, 3}, test::some_fractions(2160, 0.3F, 6));
        builder.floats("b", {9}, test::some_fractions(9, 0.4F, 7));
        builder.node("ConvTranspose", "up", {"x", "w", "b"});
        builder.ints("strides", {2, 3}).ints("pads", {1, 0, 1, 1});
        if (*activation != '\0') {
            builder.node(activation, "limit", {builder.last()});
        }
        builder.node("MaxPool", "y", {builder.last()}, "y").ints("kernel_shape", {1, 1});
        builder.output("y");
        EXPECT_EQ(expect_near(builder), 2U) << activation;
    }
}

/// Its bias is that of each place of a block.
TEST_P(WideLayers, TransposedConvolutionsOfOneKernelAreConvolved) {
    test::ModelBuilder builder(13);
    builder.input("x", {1, 4, 6, 5});
    builder.floats("w", {4, 1, 2, 2}, test::some_fractions(16, 0.3F, 6)).floats("b", {1}, {0.375F});
    builder.node("ConvTranspose", "up", {"x", "w", "b"}, "y").ints("strides", {2, 2});
    builder.output("y");
    EXPECT_EQ(expect_near(builder), 1U);
}

TEST_P(WideLayers, ProductsOfSeveralRowsAreConvolved) {
    test::ModelBuilder builder(13);
    builder.input("x", {1, 9, 12});
    builder.floats("w", {12, 20}, test::some_fractions(240, 0.4F, 6));
    builder.floats("b", {20}, test::some_fractions(20, 0.4F, 7));
    builder.node("MatMul", "product", {"x", "w"}).node("Add", "sum", {builder.last(), "b"});
    builder.node("Relu", "end", {builder.last()}, "y").output("y");
    EXPECT_EQ(expect_near(builder), 1U);
}

TEST_P(WideLayers, AnNpuWithoutThemLeavesThemToTheHost) {
    const Case one{{"x", test::float_input({1, 3, 8, 8}, 3)}};
    const Graph graph = finish_graph(quantised(test::float_model(), one).graph, ScaleForm::Rounded);
    const SystemConfig system = system_of("nv_small");
    const SegmentedPlan plan = plan_segments(graph, {nvdla_npu(system), system.memory});
    EXPECT_TRUE(plan.partition.groups.empty());
    ASSERT_FALSE(plan.partition.refusals.empty());
    EXPECT_THAT(plan.partition.refusals.front().problems.front().sentence,
                HasSubstr("which nv_small does not support"));
}

TEST_P(WideLayers, WhatIsWrittenIsReadAgain) {
    const Case one{{"x", test::float_input({1, 3, 8, 8}, 3)}};
    const Graph graph = quantised(test::float_model(), one).graph;
    Graph again = parse_onnx(onnx_bytes(graph, "1"), "wide.onnx");
    prepare_graph(again);
    EXPECT_EQ(sample::host_output(again, one), sample::host_output(graph, one));
    EXPECT_EQ(map_precision(again), map_precision(graph));
}

INSTANTIATE_TEST_SUITE_P(Types, WideLayers,
                         ::testing::Values(Expected{MapType::Fp16, 55},
                                           Expected{MapType::Int16, 75}),
                         [](const auto& one) { return std::string(enum_name(one.param.type)); });

}  // namespace
}  // namespace npuscope::wide_layers_test
