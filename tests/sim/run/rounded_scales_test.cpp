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
        builder.input(name, {1, channels, side, side}, code_);
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
    /// A scale per kernel, biases that are multiples of what they are added to.
    std::string conv(const std::string& name, const std::string& from, std::int64_t channels,
                     std::int64_t kernels, std::int64_t size, std::int64_t groups = 1) {
        const auto count = static_cast<std::size_t>(kernels * channels / groups * size * size);
        const std::vector<float> numbers =
            test::some_numbers(count, -127, 127, static_cast<unsigned>(random_()));
        std::vector<float> scales;
        std::vector<float> bias;
        for (std::int64_t k = 0; k < kernels; ++k) {
            scales.push_back(std::exp(real(-6, -5)));
            bias.push_back(static_cast<float>(whole(-60000, 60000)) * scales_[from] *
                           scales.back());
        }
        builder.int8s(name + "_w", {kernels, channels / groups, size, size},
                      {numbers.begin(), numbers.end()}, int8_code);
        builder.floats(name + "_ws", {kernels}, scales).floats(name + "_b", {kernels}, bias);
        builder.int8s(name + "_wz", {kernels},
                      std::vector<int>(static_cast<std::size_t>(kernels), 0), int8_code);
        const std::string data = dequantised(from);
        builder.node("DequantizeLinear", name + "_wd", {name + "_w", name + "_ws", name + "_wz"});
        builder.integer("axis", 0);
        builder.node("Conv", name + "_conv", {data, builder.last(), name + "_b"});
        builder.integer("group", groups);
        if (size > 1) {
            builder.ints("pads", {size / 2, size / 2, size / 2, size / 2});
        }
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
                  std::size_t groups) {
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
        EXPECT_LE(step, 1) << i;
        differ += step != 0 ? 1U : 0U;
    }
    EXPECT_LE(differ, 3 + numbers.size() / 500);
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
