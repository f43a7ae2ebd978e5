// SPDX-License-Identifier: Apache-2.0
// Forms with scales and zero points: rewritten where that is exact, else left as they are, with the
// reason; the values are those of the form itself either way.
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "sim/model/prepare_graph.h"
#include "sim/model/quantised_form.h"
#include "tests/sim/compile/tinpu/layer_fixture.h"

namespace npuscope {
namespace {

using test::ModelBuilder;
using ::testing::HasSubstr;

struct QuantisedShape {
    float x_scale = 0.0625F;
    int x_zero = 0;
    float y_scale = 0.25F;
    int y_zero = 0;
    std::int64_t padding = 1;
    int weight_factor = 2;  ///< weights are multiples of it
    int bias_offset = 1;    ///< biases are even numbers plus this
    bool relu = false;
};

std::vector<int> some_integers(std::size_t count, int low, int high, int factor, int offset) {
    std::vector<int> integers;
    for (const float number : test::some_numbers(count, low, high, 4)) {
        integers.push_back(static_cast<int>(number) * factor + offset);
    }
    return integers;
}

void add_constants(ModelBuilder& builder, const QuantisedShape& shape) {
    builder.input("x", {1, 4, 5, 5}, onnx::TensorProto_DataType_INT8);
    builder.floats("xs", {}, {shape.x_scale}).int8s("xz", {}, {shape.x_zero});
    builder.int8s("w", {4, 4, 3, 3}, some_integers(144, -63, 63, shape.weight_factor, 0));
    builder.floats("ws", {}, {0.015625F}).int8s("wz", {}, {0});
    builder.floats("ys", {}, {shape.y_scale}).int8s("yz", {}, {shape.y_zero});
    builder.int8s("b", {4}, some_integers(4, -500, 500, 2, shape.bias_offset),
                  onnx::TensorProto_DataType_INT32);
}

ModelBuilder qlinear_model(const QuantisedShape& shape) {
    ModelBuilder builder;
    add_constants(builder, shape);
    builder.node("QLinearConv", "conv", {"x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"}, "y")
        .ints("pads", {shape.padding, shape.padding, shape.padding, shape.padding});
    builder.output("y");
    return builder;
}

ModelBuilder qdq_model(const QuantisedShape& shape) {
    ModelBuilder builder;
    add_constants(builder, shape);
    builder.floats("bs", {}, {shape.x_scale * 0.015625F});
    builder.int8s("bz", {}, {0}, onnx::TensorProto_DataType_INT32);
    builder.node("DequantizeLinear", "dqx", {"x", "xs", "xz"});
    builder.node("DequantizeLinear", "dqw", {"w", "ws", "wz"});
    builder.node("DequantizeLinear", "dqb", {"b", "bs", "bz"});
    builder.node("Conv", "conv", {"dqx_y", "dqw_y", "dqb_y"})
        .ints("pads", {shape.padding, shape.padding, shape.padding, shape.padding});
    if (shape.relu) {
        builder.node("Relu", "relu", {builder.last()});
    }
    builder.node("QuantizeLinear", "qy", {builder.last(), "ys", "yz"}, "y");
    builder.output("y");
    return builder;
}

/// Values of the form as in the file, and whether it ran on the NPU.
void compare(const ModelBuilder& builder, bool exact) {
    Graph plain = parse_onnx(builder.bytes(), "built.onnx");
    prepare_graph(plain);
    const Graph graph = test::graph_of(builder);
    const auto inputs = test::some_inputs(graph, ElementType::Int8, 2);
    const LayerPlan plan = plan_layers(graph, test::bundled_preset());
    EXPECT_EQ(plan.partition.groups.size(), exact ? 1U : 0U)
        << ::testing::PrintToString(test::broken_rules(plan.partition));
    EXPECT_EQ(test::run_on(graph, test::bundled_preset(), inputs).outputs.at("y").numbers,
              test::run_on(plain, test::host_only(), inputs).outputs.at("y").numbers);
    if (!exact) {
        EXPECT_THAT(test::broken_rules(plan.partition),
                    ::testing::Contains("quantised_exact at conv"));
    }
}

/// x -> MatMul of 4 kernels, Add of a bias where there is one -> y.
ModelBuilder matmul_model(const std::vector<std::int64_t>& sizes,
                          const std::vector<std::int64_t>& bias, std::size_t numbers) {
    ModelBuilder builder;
    builder.input("x", sizes, onnx::TensorProto_DataType_INT8);
    builder.floats("xs", {}, {0.0625F}).int8s("xz", {}, {0});
    builder.int8s("w", {4, 4}, some_integers(16, -15, 15, 2, 0));
    builder.floats("ws", {}, {0.015625F}).int8s("wz", {}, {0});
    builder.floats("ys", {}, {0.015625F}).int8s("yz", {}, {0});
    builder.node("DequantizeLinear", "dqx", {"x", "xs", "xz"});
    builder.node("DequantizeLinear", "dqw", {"w", "ws", "wz"});
    builder.node("MatMul", "conv", {"dqx_y", "dqw_y"});
    if (numbers > 0) {
        std::vector<float> odd;
        for (const int integer : some_integers(numbers, -200, 200, 2, 1)) {
            odd.push_back(static_cast<float>(integer) * 0.0625F * 0.015625F);
        }
        builder.floats("b", bias, odd).node("Add", "add", {builder.last(), "b"});
    }
    builder.node("QuantizeLinear", "qy", {builder.last(), "ys", "yz"}, "y").output("y");
    return builder;
}

TEST(Quantised, AVectorTimesAMatrixIsAProduct) { compare(matmul_model({4}, {4}, 4), true); }

TEST(Quantised, ABiasIsBroadcastOverTheKernels) {
    compare(matmul_model({1, 4}, {4}, 4), true);
    compare(matmul_model({1, 4}, {1, 4}, 4), true);
    compare(matmul_model({1, 4}, {}, 1), true);
    compare(matmul_model({1, 4}, {1, 1}, 1), true);
}

TEST(Quantised, ABiasOfRowsIsNotOneOfKernels) {
    for (const std::vector<std::int64_t>& sizes :
         {std::vector<std::int64_t>{4, 4}, std::vector<std::int64_t>{4, 1}}) {
        ModelBuilder builder = matmul_model({4, 4}, {}, 0);
        auto numbers = static_cast<std::size_t>(sizes[0] * sizes[1]);
        builder.floats("b", sizes, test::some_numbers(numbers, -9, 9, 3));
        onnx::NodeProto& product = *builder.graph().mutable_node(2);
        product.set_op_type("Gemm");
        product.add_input("b");
        Graph graph = parse_onnx(builder.bytes(), "built.onnx");
        prepare_graph(graph);
        const GraphView view(graph);
        const auto layer = read_quantised_layer(view, 2);
        ASSERT_TRUE(layer);
        EXPECT_EQ(layer->obstacle, "its bias is not one value per kernel");
    }
}

/// With all float constants as float16, which holds them exactly.
ModelBuilder in_halves(ModelBuilder builder) {
    for (onnx::TensorProto& tensor : *builder.graph().mutable_initializer()) {
        if (tensor.data_type() == onnx::TensorProto_DataType_FLOAT) {
            tensor.set_data_type(onnx::TensorProto_DataType_FLOAT16);
            for (const float number : tensor.float_data()) {
                tensor.add_int32_data(to_float16(number));
            }
            tensor.clear_float_data();
        }
    }
    return builder;
}

TEST(Quantised, ScalesOfHalvesMakeTheSameLayer) {
    const Graph graph = test::graph_of(in_halves(qdq_model({})));
    const auto inputs = test::some_inputs(graph, ElementType::Int8, 2);
    EXPECT_EQ(plan_layers(graph, test::bundled_preset()).partition.groups.size(), 1U);
    EXPECT_EQ(test::run_on(graph, test::bundled_preset(), inputs).outputs.at("y").numbers,
              test::run_on(test::graph_of(qdq_model({})), test::bundled_preset(), inputs)
                  .outputs.at("y")
                  .numbers);
}

TEST(Quantised, EvenWeightsAndOddBiasesAreExact) {
    compare(qlinear_model({}), true);
    compare(qdq_model({}), true);
}
TEST(Quantised, OutputZeroPointsMoveTheBias) {
    QuantisedShape shape;
    shape.y_zero = -7;
    compare(qlinear_model(shape), true);
    compare(qdq_model(shape), true);
}
TEST(Quantised, InputZeroPointsMoveTheBiasWhereNothingIsPadded) {
    QuantisedShape shape;
    shape.x_zero = 6;
    compare(qlinear_model(shape), false);
    shape.padding = 0;
    compare(qlinear_model(shape), true);
    compare(qdq_model(shape), true);
}
TEST(Quantised, TiesAreRefused) {
    QuantisedShape shape;
    shape.weight_factor = 1;
    compare(qlinear_model(shape), false);
    compare(qdq_model(shape), false);
    shape.weight_factor = 2;
    shape.bias_offset = 0;
    compare(qlinear_model(shape), false);
}
TEST(Quantised, NoShiftHasNoTies) {
    QuantisedShape shape;
    shape.weight_factor = 1;
    shape.bias_offset = 0;
    shape.y_scale = 0.0625F * 0.015625F;
    compare(qlinear_model(shape), true);
    compare(qdq_model(shape), true);
}
TEST(Quantised, ScalesThatAreNoShiftAreRefused) {
    QuantisedShape shape;
    shape.y_scale = 0.3F;
    compare(qlinear_model(shape), false);
    compare(qdq_model(shape), false);
    // the quotient is a power of two, but the steps to it are rounded
    shape.x_scale = 0.1F;
    shape.y_scale = 0.1F;
    compare(qdq_model(shape), false);
}
TEST(Quantised, ReluBehindTheConvolutionIsAClip) {
    QuantisedShape shape;
    shape.relu = true;
    shape.y_zero = -128;
    compare(qdq_model(shape), true);
}
/// x [sizes.. 8] times a matrix, with the bias in an Add after it.
ModelBuilder qdq_product(const std::vector<std::int64_t>& sizes) {
    ModelBuilder builder;
    builder.input("x", sizes, onnx::TensorProto_DataType_INT8);
    builder.floats("xs", {}, {0.0625F}).int8s("w", {8, 4}, some_integers(32, -63, 63, 2, 0));
    builder.floats("ws", {}, {0.015625F}).floats("ys", {}, {0.25F});
    builder.floats("bs", {}, {0.0625F * 0.015625F}).int8s("yz", {}, {0});
    builder.int8s("b", {4}, some_integers(4, -500, 500, 2, 1), onnx::TensorProto_DataType_INT32);
    builder.node("DequantizeLinear", "dqx", {"x", "xs"});
    builder.node("DequantizeLinear", "dqw", {"w", "ws"});
    builder.node("DequantizeLinear", "dqb", {"b", "bs"});
    builder.node("MatMul", "conv", {"dqx_y", "dqw_y"});
    builder.node("Add", "bias", {"dqb_y", "conv_y"});
    builder.node("QuantizeLinear", "qy", {"bias_y", "ys", "yz"}, "y");
    builder.output("y");
    return builder;
}

TEST(Quantised, BiasesOfProductsMayStandBehindThem) {
    compare(qdq_product({1, 8}), true);

    // several rows are a convolution over a map of one column
    const Graph graph = test::graph_of(qdq_product({1, 4, 8}));
    const auto inputs = test::some_inputs(graph, ElementType::Int8, 2);
    EXPECT_EQ(test::tinpu_partition(graph, {}).groups.size(), 1U);
    Graph plain = parse_onnx(qdq_product({1, 4, 8}).bytes(), "built.onnx");
    prepare_graph(plain);
    EXPECT_EQ(test::run_on(graph, test::host_only(), inputs).outputs.at("y").numbers,
              test::run_on(plain, test::host_only(), inputs).outputs.at("y").numbers);
}
TEST(Quantised, LayersWithoutAQuantiserSayWhatIsMissing) {
    ModelBuilder builder = qdq_product({1, 8});
    builder.graph().mutable_node()->RemoveLast();
    builder.graph().mutable_output(0)->set_name("bias_y");
    const Graph graph = test::graph_of(builder);
    const Partition plan = test::tinpu_partition(graph, test::bundled_preset().restrictions);
    ASSERT_EQ(plan.refusals.size(), 1U);
    ASSERT_EQ(plan.refusals[0].problems.size(), 1U);
    EXPECT_EQ(plan.refusals[0].problems[0].id, "not_quantised");
    EXPECT_THAT(plan.refusals[0].problems[0].sentence, HasSubstr("its result is not quantised"));
}
TEST(Quantised, PoolsBetweenEqualScalesReadIntegers) {
    ModelBuilder builder;
    builder.input("x", {1, 4, 6, 6}, onnx::TensorProto_DataType_INT8);
    builder.floats("s", {}, {0.3F}).int8s("z", {}, {5});
    builder.node("DequantizeLinear", "dq", {"x", "s", "z"});
    builder.node("MaxPool", "pool", {"dq_y"}).ints("kernel_shape", {2, 2});
    builder.node("QuantizeLinear", "q", {"pool_y", "s", "z"}, "y");
    builder.output("y");
    compare(builder, true);
}

TEST(Quantised, QuotientsOfScalesThatAreZeroOrInfiniteAreNoShift) {
    for (float QuantisedShape::*scale : {&QuantisedShape::x_scale, &QuantisedShape::y_scale}) {
        QuantisedShape shape;
        shape.*scale = 0;
        const Graph graph = test::graph_of(qlinear_model(shape));
        const Partition plan = test::tinpu_partition(graph, test::bundled_preset().restrictions);
        ASSERT_EQ(plan.refusals.size(), 1U);
        EXPECT_THAT(plan.refusals[0].problems[0].sentence, HasSubstr("which is not a right shift"));
    }
}

TEST(Quantised, ABiasMayGiveTheResultMoreDimensions) {
    const ModelBuilder builder = matmul_model({4}, {1, 4}, 4);
    const Graph graph = test::graph_of(builder);
    Graph plain = parse_onnx(builder.bytes(), "built.onnx");
    prepare_graph(plain);
    const auto inputs = test::some_inputs(graph, ElementType::Int8, 2);
    const GraphValue wanted = test::run_on(plain, test::host_only(), inputs).outputs.at("y");
    EXPECT_EQ(wanted.type.sizes, (Sizes{1, 4}));
    EXPECT_EQ(test::run_on(graph, test::bundled_preset(), inputs).outputs.at("y"), wanted);
}

/// The model states that the outputs are int8, whichever values they have.
TEST(Quantised, OutputsHaveTheTypeOfTheModel) {
    ModelBuilder builder = qdq_model({});
    builder.graph().mutable_node(0)->set_input(0, "absolute");
    builder.node("Abs", "abs", {"x"}, "absolute").output("absolute");
    const Graph graph = test::graph_of(builder);
    const GraphInputs inputs = test::some_inputs(graph, ElementType::Int8, 2);
    const ModelResult result = test::run_on(graph, test::bundled_preset(), inputs);
    EXPECT_GT(test::npu_cycles(result.result), Cycles(0));
    EXPECT_EQ(result.outputs.at("absolute").type.element, ElementType::Int8);
    EXPECT_EQ(result.outputs.at("y").type.element, ElementType::Int8);
}

/// Without values the type of the model determines whether a job's maps are signed.
TEST(Quantised, PlannedJobsHaveTheSignsOfTheModel) {
    for (const int element : {onnx::TensorProto_DataType_INT8, onnx::TensorProto_DataType_UINT8}) {
        ModelBuilder builder = qdq_model({});
        builder.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(
            element);
        for (onnx::TensorProto& tensor : *builder.graph().mutable_initializer()) {
            if (tensor.name() == "xz") {
                tensor.set_data_type(element);
            }
        }
        const Graph graph = test::graph_of(builder);
        const LayerNpuConfig config = test::bundled_preset();
        const ModelProgram model =
            layer_program(graph, plan_layers(graph, config), config, {}, nullptr);
        std::size_t jobs = 0;
        for (const Statement& statement : model.program.statements) {
            if (const auto* launch = std::get_if<LaunchJob>(&statement.action)) {
                const auto& job = dynamic_cast<const TinpuJob&>(*launch->job);
                EXPECT_EQ(job.input.is_signed, element == onnx::TensorProto_DataType_INT8);
                ++jobs;
            }
        }
        EXPECT_EQ(jobs, 1U);
    }
}

}  // namespace
}  // namespace npuscope
