// SPDX-License-Identifier: Apache-2.0
// Models with quantisers for some layers only, as float models.
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "sim/model/onnx_reader.h"
#include "sim/model/prepare_graph.h"
#include "sim/quantise/float_graph.h"
#include "tests/support/model_builder.h"

namespace npuscope {
namespace {

using test::ModelBuilder;
using ::testing::ElementsAre;

/// x -> Q, DQ -> Conv of quantised weights -> `op`, unless it is empty -> Q, DQ -> y.
Graph model_of(const std::string& op) {
    ModelBuilder builder;
    builder.input("x", {1, 2, 4, 4}).floats("s", {}, {0.05F}).int8s("z", {}, {0});
    builder.node("QuantizeLinear", "q", {"x", "s", "z"});
    builder.node("DequantizeLinear", "d", {builder.last(), "s", "z"});
    const std::string map = builder.last();
    builder.int8s("w", {2, 2, 1, 1}, {1, -3, 7, 127});
    builder.node("DequantizeLinear", "dw", {"w", "s", "z"});
    builder.node("Conv", "conv", {map, builder.last()});
    if (!op.empty()) {
        builder.node(op, "op", {builder.last()});
    }
    builder.node("QuantizeLinear", "qy", {builder.last(), "s", "z"});
    builder.node("DequantizeLinear", "dy", {builder.last(), "s", "z"}, "y").output("y");
    Graph graph = parse_onnx(builder.bytes(), "m.onnx");
    prepare_graph(graph);
    return graph;
}

TEST(WithoutQuantisers, ALayerWithoutItsQuantiserIsLeftInFloat) {
    EXPECT_TRUE(leaves_layers_in_float(finish_graph(model_of("Sigmoid"), ScaleForm::Rounded)));
    EXPECT_FALSE(leaves_layers_in_float(finish_graph(model_of("Relu"), ScaleForm::Rounded)));
    EXPECT_FALSE(leaves_layers_in_float(finish_graph(model_of(""), ScaleForm::Rounded)));
}

TEST(WithoutQuantisers, WhatIsLeftIsAFloatModel) {
    Graph graph = without_quantisers(model_of("Sigmoid"));
    prepare_graph(graph);
    std::vector<std::string> operators;
    for (const GraphNode& node : graph.nodes) {
        operators.push_back(node.op);
    }
    EXPECT_THAT(operators, ElementsAre("Conv", "Sigmoid", "Identity"));
    EXPECT_THAT(graph.nodes[0].inputs, ElementsAre("x", "dw_y"));
    EXPECT_FLOAT_EQ(static_cast<float>(graph.constants.at("dw_y").numbers[3]), 127 * 0.05F);
    EXPECT_TRUE(is_float_model(graph));
}

}  // namespace
}  // namespace npuscope
