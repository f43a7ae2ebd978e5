// SPDX-License-Identifier: Apache-2.0
// Quantised models of any scales and zero points on an NPU with registers: bit by bit what the
// rewritten graph gives, and within one step of what the model itself gives.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/compile/nvdla/nvdla_target.h"
#include "sim/compile/nvdla/segmented_program.h"
#include "sim/model/onnx_reader.h"
#include "sim/model/prepare_graph.h"
#include "tests/sim/compile/tinpu/layer_fixture.h"
#include "tests/sim/run/random_graph.h"

namespace npuscope {
namespace {

using test::ModelBuilder;

constexpr int int8_code = onnx::TensorProto_DataType_INT8;
constexpr int uint8_code = onnx::TensorProto_DataType_UINT8;

/// DequantizeLinear -> operator -> QuantizeLinear, as quantisers write it.
class QuantisedModel {
 public:
    QuantisedModel(unsigned seed, bool is_signed)
        : random_(seed), code_(is_signed ? int8_code : uint8_code), is_signed_(is_signed) {}

    ModelBuilder builder;

    std::string input(const std::string& name, std::int64_t channels, std::int64_t side) {
        return input(name, {1, channels, side, side});
    }
    std::string input(const std::string& name, const Sizes& sizes) {
        builder.input(name, sizes, code_);
        quantiser(name);
        return name;
    }
    /// Scale and zero point of a tensor.
    void quantiser(const std::string& tensor) {
        scales_[tensor] = std::exp(real(-5, -2));
        builder.floats(tensor + "_s", {}, {scales_[tensor]});
        builder.int8s(tensor + "_z", {}, {whole(is_signed_ ? -128 : 0, is_signed_ ? 127 : 255)},
                      code_);
    }
    std::string dequantised(const std::string& tensor) {
        const std::string name = tensor + "_real" + std::to_string(++count_);
        builder.node("DequantizeLinear", name, {tensor, tensor + "_s", tensor + "_z"});
        return builder.last();
    }
    std::string quantised(const std::string& name) {
        const std::string real = builder.last();
        quantiser(name);
        builder.node("QuantizeLinear", name + "_q", {real, name + "_s", name + "_z"}, name);
        return name;
    }
    std::string conv(const std::string& name, const std::string& from, std::int64_t channels,
                     std::int64_t kernels, std::int64_t size, std::int64_t groups = 1,
                     std::int64_t dilation = 1) {
        weighted("Conv", name, from, {kernels, channels / groups, size, size}, 0);
        builder.integer("group", groups).ints("dilations", {dilation, dilation});
        const std::int64_t pad = size / 2 * dilation;
        builder.ints("pads", {pad, pad, pad, pad});
        return quantised(name);
    }
    std::string transposed_conv(const std::string& name, const std::string& from,
                                const Sizes& weights, std::int64_t stride, std::int64_t pad,
                                std::int64_t more) {
        weighted("ConvTranspose", name, from, weights, 1);
        builder.ints("strides", {stride, stride}).ints("pads", {pad, pad, pad, pad});
        builder.ints("output_padding", {more, more});
        return quantised(name);
    }
    /// Of rows, without a bias.
    std::string product(const std::string& name, const std::string& from, const Sizes& weights) {
        weighted("MatMul", name, from, weights, 1);
        return quantised(name);
    }
    std::string sum(const std::string& name, const std::string& a, const std::string& b) {
        const std::string first = dequantised(a);
        const std::string second = dequantised(b);
        builder.node("Add", name + "_add", {first, second});
        return quantised(name);
    }
    std::string mean(const std::string& name, const std::string& from) {
        builder.node("GlobalAveragePool", name + "_pool", {dequantised(from)});
        return quantised(name);
    }

    float real(float low, float high) {
        return std::uniform_real_distribution<float>(low, high)(random_);
    }
    int whole(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

 private:
    /// Weights with a scale per kernel, biases that are multiples of what they are added to.
    void weighted(const std::string& op, const std::string& name, const std::string& from,
                  const Sizes& sizes, std::size_t axis) {
        const std::vector<float> numbers =
            test::some_numbers(count_elements(sizes), -127, 127, static_cast<unsigned>(random_()));
        const std::int64_t kernels = sizes[axis];
        std::vector<float> scales;
        std::vector<float> bias;
        for (std::int64_t k = 0; k < kernels; ++k) {
            scales.push_back(std::exp(real(-6, -5)));
            bias.push_back(static_cast<float>(whole(-60000, 60000)) * scales_[from] *
                           scales.back());
        }
        builder.int8s(name + "_w", sizes, {numbers.begin(), numbers.end()}, int8_code);
        builder.floats(name + "_ws", {kernels}, scales).floats(name + "_b", {kernels}, bias);
        builder.int8s(name + "_wz", {kernels},
                      std::vector<int>(static_cast<std::size_t>(kernels), 0), int8_code);
        std::vector<std::string> operands{dequantised(from)};
        builder.node("DequantizeLinear", name + "_wd", {name + "_w", name + "_ws", name + "_wz"});
        builder.integer("axis", static_cast<std::int64_t>(axis));
        operands.push_back(builder.last());
        if (op != "MatMul") {
            operands.push_back(name + "_b");
        }
        builder.node(op, name + "_product", operands);
    }

    std::mt19937 random_;
    int code_;
    bool is_signed_;
    int count_ = 0;
    std::map<std::string, float> scales_;
};

GraphInputs outputs_of(const Graph& graph, const GraphInputs& inputs) {
    return test::run_on(graph, test::host_only(), inputs).outputs;
}

/// Runs it on the NPU; no node but views and ends may be left to the host.
void expect_close(QuantisedModel& model, const std::string& output, const std::string& npu,
                  std::size_t groups, double steps = 1) {
    model.builder.output(output);
    SystemConfig system = nvdla_system();
    nvdla_npu(system) = read_preset<NpuConfig>(find_preset(configs_folder(), "npu", npu));
    const Graph raw = parse_onnx(model.builder.bytes(), "built.onnx");
    const Graph exact = finish_graph(raw);
    const Graph rounded = finish_graph(raw, ScaleForm::Rounded);
    const ElementType element = raw.types.at(raw.inputs.front()).element;
    const GraphInputs inputs = test::some_inputs(exact, element, 11);
    SegmentedPlan plan = plan_segments(rounded, {nvdla_npu(system), system.memory}, {});
    EXPECT_EQ(plan.partition.groups.size(), groups);
    const ModelResult run =
        run_model(segmented_program(rounded, std::move(plan), system.host, &inputs), system, {});
    const GraphInputs same = outputs_of(rounded, inputs);
    const GraphInputs wanted = outputs_of(exact, inputs);
    const std::vector<double>& numbers = run.outputs.at(output).numbers;
    EXPECT_EQ(numbers, same.at(output).numbers);
    std::size_t differ = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const double step = std::abs(numbers[i] - wanted.at(output).numbers[i]);
        EXPECT_LE(step, steps) << i;
        differ += step != 0 ? 1U : 0U;
    }
    if (groups == 1) {  // a second layer spreads what the first one made
        EXPECT_LE(differ, 3 + numbers.size() / 500);
    }
}

class RoundedScales : public ::testing::TestWithParam<std::tuple<const char*, bool, unsigned>> {
 protected:
    const char* npu() const { return std::get<0>(GetParam()); }
    QuantisedModel model() const { return {std::get<2>(GetParam()), std::get<1>(GetParam())}; }
};

TEST_P(RoundedScales, Convolution) {
    QuantisedModel model = this->model();
    expect_close(model, model.conv("y", model.input("x", 12, 9), 12, 20, 3), npu(), 1);
}

TEST_P(RoundedScales, DepthwiseConvolution) {
    QuantisedModel model = this->model();
    expect_close(model, model.conv("y", model.input("x", 16, 9), 16, 16, 3, 16), npu(), 1);
}

TEST_P(RoundedScales, DilatedConvolution) {
    QuantisedModel model = this->model();
    expect_close(model, model.conv("y", model.input("x", 12, 11), 12, 20, 3, 1, 3), npu(), 1);
}

TEST_P(RoundedScales, TransposedConvolutionOfApartKernels) {
    QuantisedModel model = this->model();
    const std::string x = model.input("x", 12, 7);
    expect_close(model, model.transposed_conv("y", x, {12, 10, 2, 2}, 2, 0, 0), npu(), 1);
}

TEST_P(RoundedScales, TransposedConvolutionOfOverlappingKernels) {
    QuantisedModel model = this->model();
    const std::string x = model.input("x", 8, 6);
    const std::string a = model.transposed_conv("a", x, {8, 9, 4, 4}, 2, 1, 0);
    expect_close(model, model.transposed_conv("y", a, {9, 8, 3, 3}, 2, 1, 1), npu(), 2, 2);
}

TEST_P(RoundedScales, ProductOfSeveralRows) {
    QuantisedModel model = this->model();
    expect_close(model, model.product("y", model.input("x", {1, 9, 24}), {24, 20}), npu(), 1);
}

TEST_P(RoundedScales, SumOfTwoScales) {
    QuantisedModel model = this->model();
    const std::string a = model.input("a", 12, 9);
    expect_close(model, model.sum("y", a, model.input("b", 12, 9)), npu(), 1);
}

TEST_P(RoundedScales, MeanOfAPlane) {
    QuantisedModel model = this->model();
    expect_close(model, model.mean("y", model.input("x", 24, 7)), npu(), 1);
}

INSTANTIATE_TEST_SUITE_P(Presets, RoundedScales,
                         ::testing::Combine(::testing::Values("nv_small", "nv_full", "kl720"),
                                            ::testing::Bool(), ::testing::Values(1U, 2U, 3U)));

}  // namespace
}  // namespace npuscope
