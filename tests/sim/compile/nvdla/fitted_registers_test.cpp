// SPDX-License-Identifier: Apache-2.0
// Convolutions beyond the registers, as ones within them: they run on the NPU, and the graph's
// values stay those of the model.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <ostream>

#include "sim/compile/nvdla/nvdla_target.h"
#include "sim/model/operators.h"
#include "tests/sim/compile/nvdla/checked_run.h"
#include "tests/sim/compile/tinpu/layer_fixture.h"

namespace npuscope {
namespace {

using test::ModelBuilder;
using Integers = std::vector<std::int64_t>;

struct FittedShape {
    const char* name;
    Integers input;    ///< without the batch
    Integers weights;  ///< K C and the kernel
    Integers strides{};
    Integers pads{};
    Integers dilations{};
    std::int64_t groups = 1;
    int zero = 0;  ///< of the input

    friend std::ostream& operator<<(std::ostream& out, const FittedShape& shape) {
        return out << shape.name;
    }
};

std::vector<int> integers(std::int64_t count, int low, int high, int factor, int offset) {
    std::vector<int> all;
    for (const float number : test::some_numbers(static_cast<std::size_t>(count), low, high, 5)) {
        all.push_back(static_cast<int>(number) * factor + offset);
    }
    return all;
}

/// Even weights and odd biases: no sum is a tie.
ModelBuilder model_of(const FittedShape& shape, std::int64_t batch) {
    ModelBuilder builder;
    Integers input = shape.input;
    input.insert(input.begin(), batch);
    const std::int64_t kernels = shape.weights[0];
    builder.input("x", input, onnx::TensorProto_DataType_INT8);
    builder.floats("xs", {}, {0.0625F}).int8s("xz", {}, {shape.zero});
    builder.int8s("w", shape.weights,
                  integers(static_cast<std::int64_t>(count_elements(shape.weights)), -7, 7, 2, 0));
    builder.floats("ws", {}, {0.015625F}).int8s("wz", {}, {0});
    builder.floats("ys", {}, {0.125F}).int8s("yz", {}, {0});
    builder.int8s("b", {kernels}, integers(kernels, -500, 500, 2, 1),
                  onnx::TensorProto_DataType_INT32);
    builder.node("QLinearConv", "conv", {"x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"}, "y");
    for (const auto& [attribute, numbers] :
         {std::pair("strides", shape.strides), std::pair("pads", shape.pads),
          std::pair("dilations", shape.dilations)}) {
        if (!numbers.empty()) {
            builder.ints(attribute, numbers);
        }
    }
    builder.integer("group", shape.groups).output("y");
    return builder;
}

std::uint64_t planned_macs(const Graph& graph) {
    std::uint64_t macs = 0;
    const SegmentedPlan plan = plan_segments(graph, sample::preset_target("nv_full"), {});
    for (const PlannedSegment& segment : plan.segments) {
        for (const PlannedLayer& layer : segment.plan.layers) {
            macs += layer.macs;
        }
    }
    return macs;
}

class FittedRegisters : public testing::TestWithParam<FittedShape> {};

TEST_P(FittedRegisters, KeepEveryValue) {
    for (const std::int64_t batch : {1, 2}) {
        const ModelBuilder builder = model_of(GetParam(), batch);
        const Graph plain = parse_onnx(builder.bytes(), "built.onnx");
        const Graph exact = finish_graph(plain);
        const Graph fitted = finish_graph(plain, ScaleForm::Rounded);
        const auto inputs = test::some_inputs(exact, ElementType::Int8, 2);
        const auto values = [&](const Graph& graph) {
            return test::run_on(graph, test::host_only(), inputs).outputs.at("y");
        };
        EXPECT_EQ(values(fitted), values(exact)) << batch;
        const Partition partition = partition_graph(GraphView(fitted, value_ranges(fitted)),
                                                    NvdlaTarget(sample::preset_target("nv_full")));
        if (GetParam().input[0] > 8192) {  // a map that only a layer before it could give
            continue;
        }
        EXPECT_GE(partition.groups.size(), static_cast<std::size_t>(batch));
        EXPECT_TRUE(partition.refusals.empty())
            << testing::PrintToString(test::broken_rules(partition));
        std::uint64_t macs = 0;
        for (const GraphNode& node : exact.nodes) {
            macs += count_macs(exact, node);
        }
        EXPECT_EQ(planned_macs(fitted), macs);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, FittedRegisters,
    testing::Values(
        FittedShape{"patch", {3, 32, 48}, {8, 3, 16, 16}, {16, 16}},
        FittedShape{"two_strides", {4, 30, 21}, {6, 4, 5, 3}, {9, 2}, {1, 1, 2, 0}},
        FittedShape{"gaps", {2, 40, 40}, {4, 2, 3, 3}, {10, 12}, {}, {}, 1, 3},
        FittedShape{"overlap", {2, 40, 45}, {4, 2, 13, 11}, {9, 9}, {3, 2, 1, 4}, {}, 1, -9},
        FittedShape{"long_kernel", {2, 80, 9}, {4, 2, 40, 3}, {2, 1}, {5, 1, 7, 1}},
        FittedShape{"long_line", {3, 90}, {4, 3, 51}, {}, {25, 25}, {}, 1, 3},
        FittedShape{"very_long_line", {1, 300}, {5, 1, 251}},
        FittedShape{"long_kernel_and_stride", {2, 400}, {4, 2, 301}, {9}, {7, 0}},
        FittedShape{
            "large_kernel", {2, 40, 37}, {3, 2, 35, 33}, {1, 2}, {17, 16, 17, 16}, {}, 1, 1},
        FittedShape{"large_depthwise", {4, 34, 34}, {4, 1, 33, 33}, {}, {16, 16, 16, 16}, {}, 4},
        FittedShape{"long_map", {2, 20000}, {4, 2, 5}, {2}, {2, 2}, {}, 1, 4},
        FittedShape{"tall_map", {2, 8300, 3}, {4, 2, 3, 3}, {}, {1, 1, 1, 1}},
        FittedShape{"groups", {6, 36, 36}, {4, 3, 12, 12}, {12, 12}, {}, {}, 2},
        FittedShape{"line", {3, 400}, {8, 3, 80}, {16}, {8, 9}},
        FittedShape{"wide_padding", {3, 20, 20}, {4, 3, 3, 3}, {}, {16, 0, 17, 0}, {16, 1}, 1, 5},
        FittedShape{"windows_in_padding", {3, 9, 9}, {4, 3, 3, 3}, {2, 1}, {3, 1, 4, 0}, {}, 1, -5},
        FittedShape{"dilated_line", {5, 200}, {6, 5, 3}, {}, {64, 64}, {64}, 1, 7},
        FittedShape{"dilated_odd", {5, 201}, {6, 5, 2}, {}, {0, 50}, {50}},
        FittedShape{"wide_product", {9000, 1, 1}, {5, 9000, 1, 1}}),
    [](const auto& shape) { return std::string(shape.param.name); });

/// A map of 4 channels, as many as there are inputs.
TEST(SplitBatches, AnOperandOfFewerSizesIsTheSameForEveryInput) {
    ModelBuilder builder = model_of({"conv", {3, 5, 6}, {4, 3, 1, 1}}, 4);
    builder.input("p", {4, 5, 6}, onnx::TensorProto_DataType_INT8);
    builder.node("DequantizeLinear", "map", {"y", "ys", "yz"});
    builder.node("DequantizeLinear", "places", {"p", "ys", "yz"});
    builder.node("Add", "sum", {"map_y", "places_y"});
    builder.node("QuantizeLinear", "code", {"sum_y", "ys", "yz"}, "z").output("z");
    const Graph plain = parse_onnx(builder.bytes(), "built.onnx");
    const Graph exact = finish_graph(plain);
    const auto inputs = test::some_inputs(exact, ElementType::Int8, 2);
    const auto values = [&](const Graph& graph) {
        return test::run_on(graph, test::host_only(), inputs).outputs.at("z");
    };
    const Graph split = finish_graph(plain, ScaleForm::Rounded);
    EXPECT_TRUE(split.types.contains("y/3"));
    EXPECT_EQ(values(split), values(exact));
}

/// A scale for each row of W.
TEST(LeftProducts, AnActivationBeforeTheQuantiserIsPartOfTheLayer) {
    ModelBuilder builder;
    builder.input("x", {1, 6, 5}, onnx::TensorProto_DataType_INT8);
    builder.floats("xs", {}, {0.0625F}).int8s("w", {4, 6}, integers(24, -60, 60, 1, 0));
    builder.floats("ws", {4}, {0.25F, 0.125F, 0.25F, 0.5F}).floats("ys", {}, {0.5F});
    builder.int8s("z", {}, {0}).int8s("wz", {4}, {0, 0, 0, 0});
    builder.node("DequantizeLinear", "dqx", {"x", "xs", "z"});
    builder.node("DequantizeLinear", "dqw", {"w", "ws", "wz"}).integer("axis", 0);
    builder.node("MatMul", "product", {"dqw_y", "dqx_y"}).node("Relu", "relu", {"product_y"});
    builder.node("QuantizeLinear", "code", {"relu_y", "ys", "z"}, "y").output("y");
    const Graph plain = parse_onnx(builder.bytes(), "built.onnx");
    Graph exact = plain;
    prepare_graph(exact);
    const Graph rounded = finish_graph(plain, ScaleForm::Rounded);
    const auto inputs = test::some_inputs(exact, ElementType::Int8, 2);
    const auto values = [&](const Graph& graph) {
        return test::run_on(graph, test::host_only(), inputs).outputs.at("y").numbers;
    };
    const std::vector<double> wanted = values(exact);
    const std::vector<double> found = values(rounded);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        EXPECT_NEAR(found[i], wanted[i], 1) << i;
    }
    const Partition partition = partition_graph(GraphView(rounded, value_ranges(rounded)),
                                                NvdlaTarget(sample::preset_target("nv_full")));
    EXPECT_EQ(partition.groups.size(), 1U);
    EXPECT_TRUE(partition.refusals.empty());
    EXPECT_TRUE(std::ranges::none_of(rounded.nodes, [](const GraphNode& node) {
        return node.op == "Relu" || node.op == "MatMul" || node.op == "npuscope.Lookup";
    }));
}

/// Training leaves kernels whose weights are nearly 0; quantisers give them a tiny scale, and so a
/// bias of most of 32 bits. Other quantisers than npuscope's do, too.
class SmallScales : public testing::TestWithParam<int> {};

TEST_P(SmallScales, AKernelWithoutUseKeepsItsBias) {
    ModelBuilder builder;
    builder.input("x", {1, 4, 6, 6}, onnx::TensorProto_DataType_INT8);
    builder.floats("xs", {}, {0.03F}).int8s("xz", {}, {-5});
    builder.int8s("w", {4, 4, 3, 3}, integers(144, -63, 63, 2, 0));
    builder.floats("ws", {4}, {0.003F, 5e-8F, 0.002F, 2e-7F}).int8s("wz", {4}, {0, 0, 0, 0});
    builder.floats("ys", {}, {0.04F}).int8s("yz", {}, {1});
    builder.int8s("b", {4}, {-2653, 1073741826, 3396, GetParam()},
                  onnx::TensorProto_DataType_INT32);
    builder.node("QLinearConv", "conv", {"x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"}, "y");
    builder.ints("pads", {1, 1, 1, 1}).output("y");
    const Graph plain = parse_onnx(builder.bytes(), "built.onnx");
    const Graph exact = finish_graph(plain);
    const Graph rounded = finish_graph(plain, ScaleForm::Rounded);
    const auto inputs = test::some_inputs(exact, ElementType::Int8, 2);
    const auto values = [&](const Graph& graph) {
        return test::run_on(graph, test::host_only(), inputs).outputs.at("y").numbers;
    };
    const std::vector<double> wanted = values(exact);
    const std::vector<double> found = values(rounded);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        EXPECT_NEAR(found[i], wanted[i], 1) << i;
    }
    ASSERT_EQ(rounded.rounded.size(), 1U);
    EXPECT_EQ(rounded.rounded[0].deviation.steps(), 1);
    EXPECT_LT(rounded.rounded[0].deviation.expected, 0.05);
}
INSTANTIATE_TEST_SUITE_P(Biases, SmallScales,
                         testing::Values(-170000000, std::numeric_limits<int>::min()));

}  // namespace
}  // namespace npuscope
