// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "sim/model/onnx_reader.h"
#include "sim/model/prepare_graph.h"
#include "tests/sim/message_of.h"
#include "tests/support/model_builder.h"

namespace npuscope::value_ranges_test {
namespace {

using test::ModelBuilder;
using ::testing::HasSubstr;

Graph read(const ModelBuilder& builder) {
    return finish_graph(parse_onnx(builder.bytes(), "m.onnx"));
}

TEST(ValueRanges, InterpolationMakesFractions) {
    for (const auto& [opset, op] :
         {std::pair{13, "Resize"}, std::pair{10, "Resize"}, std::pair{9, "Upsample"}}) {
        for (const bool linear : {false, true}) {
            ModelBuilder builder(opset);
            builder.input("x", {1, 1, 2, 2}).floats("scales", {4}, {1, 1, 2, 2});
            const std::vector<std::string> inputs =
                opset < 11 ? std::vector<std::string>{"x", "scales"}
                           : std::vector<std::string>{"x", "", "scales"};
            builder.node(op, "grow", inputs, "y").text("mode", linear ? "linear" : "nearest");
            const Graph graph = read(builder.output("y"));
            const ValueRanges ranges = value_ranges(graph, {{"x", {true, {-1, 3}, false}}});
            EXPECT_EQ(ranges.at("y").whole, !linear) << op << opset;
            EXPECT_EQ(ranges.at("y").range.high, 3) << op << opset;
        }
    }
}

TEST(ValueRanges, PositionsOfMaximaHaveTheirOwn) {
    ModelBuilder builder(12);
    builder.input("x", {1, 1, 2, 2}, onnx::TensorProto_DataType_INT8);
    builder.node("Cast", "wide", {"x"}).integer("to", onnx::TensorProto_DataType_INT64);
    builder.node("MaxPool", "pool", {builder.last()}, "y").ints("kernel_shape", {1, 1});
    builder.graph().mutable_node(1)->add_output("at");
    const Graph graph = read(builder.output("y").output("at"));
    const ValueRanges ranges = value_ranges(graph, {});
    EXPECT_EQ(ranges.at("y").range.high, 127);
    EXPECT_GT(ranges.at("at").range.high, 1e18);
}

TEST(ConstantFolding, TakesALimitedTime) {
    ModelBuilder builder;
    builder.int64s("long", {1, 1, 1 << 21}).int64s("short", {1, 1, 1 << 20});
    builder.node("ConstantOfShape", "data", {"long"});
    builder.node("ConstantOfShape", "kernel", {"short"});
    builder.node("Conv", "conv", {"data_y", "kernel_y"}, "y").output("y");
    EXPECT_NE(sample::message_of([&] {
                  read(builder);
              }).find("'conv' (Conv): it takes more than 68719476736 steps to compute"),
              std::string::npos);
}

TEST(ValueRanges, AModeOfTrainingIsKnownBeforeARun) {
    ModelBuilder builder(13);
    builder.input("x", {1, 3}).input("training", {1}, onnx::TensorProto_DataType_BOOL);
    builder.node("Dropout", "drop", {"x", "", "training"}, "y").output("y");
    EXPECT_THAT(sample::message_of([&] { read(builder); }),
                HasSubstr("'training' is not constant"));
}

}  // namespace
}  // namespace npuscope::value_ranges_test
