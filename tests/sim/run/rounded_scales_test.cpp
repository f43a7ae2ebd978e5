// SPDX-License-Identifier: Apache-2.0
// Quantised models of any scales and zero points on an NPU with registers: bit-exact with the
// rewritten graph, and within one step of the model itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/compile/nvdla/nvdla_target.h"
#include "sim/compile/nvdla/segmented_program.h"
#include "sim/model/onnx_reader.h"
#include "sim/model/prepare_graph.h"
#include "sim/model/quantised_form.h"
#include "tests/sim/compile/tinpu/layer_fixture.h"
#include "tests/sim/run/quantised_model.h"
#include "tests/sim/run/random_graph.h"

namespace npuscope {
namespace {

using test::QuantisedModel;

GraphInputs outputs_of(const Graph& graph, const GraphInputs& inputs) {
    return test::run_on(graph, test::host_only(), inputs).outputs;
}

/// Runs it on the NPU; no node but views and ends may be left to the host.
void expect_close(QuantisedModel& model, const std::string& output, const std::string& npu,
                  std::size_t groups, double steps = 1, ScaleForm form = ScaleForm::Rounded) {
    model.builder.output(output);
    SystemConfig system = nvdla_system();
    nvdla_npu(system) = read_preset<NpuConfig>(find_preset(configs_folder(), "npu", npu));
    const Graph raw = parse_onnx(model.builder.bytes(), "built.onnx");
    const Graph exact = finish_graph(raw);
    const Graph rounded = finish_graph(raw, form);
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

TEST_P(RoundedScales, ProductOfAConstantMatrixAndAMap) {
    for (const Sizes& sizes : {Sizes{1, 24, 9}, Sizes{24, 9}, Sizes{2, 1, 24, 9}}) {
        QuantisedModel model = this->model();
        const std::string x = model.input("x", sizes);
        const auto groups = static_cast<std::size_t>(sizes.size() == 4 ? sizes[0] : 1);
        expect_close(model, model.left_product("y", {20, 24}, x), npu(), groups);
    }
}

TEST_P(RoundedScales, MaximaOfLargeWindows) {
    QuantisedModel model = this->model();
    const std::string x = model.input("x", 8, 24);
    const std::string a = model.max_pool("a", x, 13, 1, 6);              // windows of 8, then of 6
    expect_close(model, model.max_pool("y", a, 24, 1, 0), npu(), 4, 0);  // of 8, then of 3
}

TEST_P(RoundedScales, SumOfTwoScales) {
    QuantisedModel model = this->model();
    const std::string a = model.input("a", 12, 9);
    expect_close(model, model.sum("y", a, model.input("b", 12, 9)), npu(), 1);
}

TEST_P(RoundedScales, ConvolutionInOneDirection) {
    QuantisedModel model = this->model();
    const std::string x = model.input("x", {1, 6, 40});
    expect_close(model, model.line_conv("y", x, {14, 6, 5}), npu(), 1);
}

TEST_P(RoundedScales, TransposedConvolutionOfGroups) {
    QuantisedModel model = this->model();
    const std::string x = model.input("x", 12, 6);
    expect_close(model, model.transposed_groups("y", x, {12, 5, 4, 4}, 3), npu(), 1);
}

TEST_P(RoundedScales, TransposedConvolutionInOneDirection) {
    QuantisedModel model = this->model();
    const std::string x = model.input("x", {1, 8, 12});
    expect_close(model, model.transposed_line_conv("y", x, {8, 9, 5}), npu(), 1);
}

TEST_P(RoundedScales, EachInputOfABatchByItself) {
    QuantisedModel model = this->model();
    const std::string x = model.input("x", {3, 12, 7, 7});
    expect_close(model, model.conv("y", x, 12, 20, 3), npu(), 3);
}

TEST_P(RoundedScales, SumOfTwoScalesOfWhichOneIsNearlyTwice) {
    QuantisedModel model = this->model();
    const std::string a = model.input("a", {1, 12, 9, 9});
    const float twice = std::nextafter(2.0F, 0.0F);
    expect_close(model, model.sum("y", a, model.scaled_input("b", {1, 12, 9, 9}, a, twice)), npu(),
                 1);
}

TEST_P(RoundedScales, OneMaximumBesideNumbersThatNoWindowCovers) {
    QuantisedModel model = this->model();
    expect_close(model, model.max_pool("y", model.input("x", 8, 13), 13, 13, 3), npu(), 2, 0);
}

TEST_P(RoundedScales, FunctionsAreTheModels) {
    for (const char* op : {"Sigmoid", "Tanh", "Relu", "HardSwish"}) {
        QuantisedModel model = this->model();
        expect_close(model, model.function("y", op, model.input("x", 12, 9)), npu(), 1, 0);
    }
}

TEST_P(RoundedScales, FunctionOnTheWayOfAConvolutionsResult) {
    QuantisedModel model = this->model();
    const std::string a = model.conv("a", model.input("x", 12, 9), 12, 20, 3);
    constexpr double any = 255;  // a function may amplify a step
    expect_close(model, model.function("y", "Elu", a), npu(), 2, any);
}

TEST_P(RoundedScales, SlopesOfChannels) {
    QuantisedModel model = this->model();
    expect_close(model, model.prelu("y", model.input("x", 44, 9), 44), npu(), 1);
}

TEST_P(RoundedScales, SlopesAfterAConvolutionAndBeforeOne) {
    QuantisedModel model = this->model();
    const std::string a = model.conv("a", model.input("x", 12, 9), 12, 20, 3);
    constexpr double some = 8;  // a convolution adds up steps of its input
    expect_close(model, model.conv("y", model.prelu("p", a, 20), 20, 12, 1), npu(), 3, some);
}

TEST_P(RoundedScales, MapOfWhichEachChannelHasAGate) {
    QuantisedModel model = this->model();
    const std::string a = model.input("a", 24, 9);
    const std::string gate = model.gate("gate", model.input("b", {1, 24, 1, 1}));
    expect_close(model, model.scaled("y", a, gate), npu(), 2);
}

TEST_P(RoundedScales, MapTimesAnotherOne) {
    QuantisedModel model = this->model();
    const std::string a = model.input("a", 12, 7);
    expect_close(model, model.scaled("y", a, model.gate("gate", model.input("b", 12, 7))), npu(),
                 2);
}

TEST_P(RoundedScales, MapsOfThreeScalesJoined) {
    QuantisedModel model = this->model();
    const std::string a = model.input("a", 32, 7);
    const std::string b = model.input("b", 64, 7);
    const std::string y = model.joined("y", {a, b, model.input("c", 5, 7)});
    expect_close(model, y, npu(), 4, 0);
}

TEST_P(RoundedScales, PartOfAMap) {
    QuantisedModel model = this->model();
    const std::string a = model.conv("a", model.input("x", 8, 7), 8, 96, 1);
    const std::string part = model.part("part", a, 32, 75);
    const std::string all = model.function("all", "Abs", a);
    model.builder.output(all);
    expect_close(model, part, npu(), 3, 255);
}

TEST_P(RoundedScales, MeanOfAPlane) {
    QuantisedModel model = this->model();
    expect_close(model, model.mean("y", model.input("x", 24, 7)), npu(), 1);
}

/// Ties go to even, as in the model, wherever sums are halfway between two results.
TEST_P(RoundedScales, ConvolutionOfPowersOfTwoIsExact) {
    QuantisedModel model = this->model();
    model.take_powers_of_two();
    expect_close(model, model.conv("y", model.input("x", 12, 9), 12, 20, 3), npu(), 1, 0);
}

/// A limit above that is not the largest code moves the zero that is stored by an odd number.
TEST_P(RoundedScales, LimitedConvolutionOfPowersOfTwoIsExact) {
    QuantisedModel model = this->model();
    model.take_powers_of_two();
    const std::string a = model.limited_conv("a", model.input("x", 3, 9), {16, 3, 3, 3}, 3);
    expect_close(model, model.limited_conv("y", a, {24, 16, 1, 1}, 3), npu(), 2, 0);
}

TEST_P(RoundedScales, TransposedConvolutionOfPowersOfTwoIsExact) {
    QuantisedModel model = this->model();
    model.take_powers_of_two();
    const std::string x = model.input("x", 12, 7);
    expect_close(model, model.transposed_conv("y", x, {12, 10, 2, 2}, 2, 0, 0), npu(), 1, 0);
}

TEST_P(RoundedScales, SumOfPowersOfTwoIsExact) {
    QuantisedModel model = this->model();
    model.take_powers_of_two();
    const std::string a = model.input("a", 12, 9);
    expect_close(model, model.sum("y", a, model.input("b", 12, 9)), npu(), 1, 0);
}

/// Of the 65,536 pairs of integers, those whose sum is not the one that floats produce.
std::size_t wrong_pairs(const Graph& raw, ScaleForm form) {
    const Graph graph = finish_graph(raw, form);
    const auto node = std::ranges::find(graph.nodes, scaled_sum_op, &GraphNode::op);
    if (node == graph.nodes.end()) {
        return 65536;
    }
    const ScaledSum sum = scaled_sum_of(*node);
    const auto number = [&](const std::string& tensor) {
        return static_cast<float>(raw.constants.at(tensor).numbers.front());
    };
    const bool swapped = node->inputs[0] == "b";
    const float low = raw.types.at("a").element == ElementType::Int8 ? -128.0F : 0.0F;
    std::size_t wrong = 0;
    for (int i = 0; i < 65536; ++i) {
        const float p = low + static_cast<float>(i / 256);
        const float q = low + static_cast<float>(i % 256);
        const float first = (p - number("a_z")) * number("a_s");
        const float second = (q - number("b_z")) * number("b_s");
        const float result = std::nearbyint((first + second) / number("y_s")) + number("y_z");
        const float wanted = std::clamp(result, low, low + 255);
        wrong += sum.of(swapped ? q : p, swapped ? p : q) != wanted ? 1U : 0U;
    }
    return wrong;
}

TEST_P(RoundedScales, SumThatReadsAMapTwiceIsNearerToTheModel) {
    QuantisedModel model = this->model();
    const std::string a = model.input("a", {1, 8, 9, 9});
    model.builder.output(model.sum("y", a, model.input("b", {1, 8, 9, 9})));
    const Graph raw = parse_onnx(model.builder.bytes(), "built.onnx");
    const std::size_t twice = wrong_pairs(raw, ScaleForm::RoundedTwice);
    EXPECT_LE(twice, 20U);
    EXPECT_LE(twice, wrong_pairs(raw, ScaleForm::Rounded));
}

TEST_P(RoundedScales, SumThatReadsAMapTwiceRunsOnTheNpu) {
    for (const bool nearly_twice : {false, true}) {
        QuantisedModel model = this->model();
        const std::string a = model.input("a", {1, 12, 9, 9});
        const std::string b =
            nearly_twice ? model.scaled_input("b", {1, 12, 9, 9}, a, std::nextafter(2.0F, 0.0F))
                         : model.input("b", {1, 12, 9, 9});
        expect_close(model, model.sum("y", a, b), npu(), 1, 1, ScaleForm::RoundedTwice);
    }
}

/// The convertor's offset, a zero point in sums' units, has 32 bits.
TEST_P(RoundedScales, SumWithACoarseResultFitsTheRegisters) {
    for (const float ratio : {3.1F, 4.3F, 4.9F, 5.8F}) {
        QuantisedModel model = this->model();
        const std::string b = model.input("b", {1, 12, 9, 9});
        const std::string a = model.scaled_input("a", {1, 12, 9, 9}, b, 0.87F);
        expect_close(model, model.coarse_sum("y", a, b, ratio), npu(), 1, 1,
                     ScaleForm::RoundedTwice);
    }
}

/// The third stage multiplies the second map, so that two factors fit one scale; the Relu of fewer
/// than all codes has no place after it.
TEST_P(RoundedScales, SumWithAFactorForEachMapIsNearerToTheModel) {
    QuantisedModel model = this->model();
    const std::string a = model.input("a", {1, 8, 9, 9});
    model.builder.output(model.sum("y", a, model.input("b", {1, 8, 9, 9})));
    const Graph raw = parse_onnx(model.builder.bytes(), "built.onnx");
    const std::size_t both = wrong_pairs(raw, ScaleForm::RoundedThird);
    EXPECT_LE(both, 8U);
    EXPECT_LE(both, wrong_pairs(raw, ScaleForm::Rounded));
}

TEST(ScaledSums, WithAFactorForEachMapRunOnAnNpuOfThreeStages) {
    for (const unsigned seed : {1U, 2U, 3U, 4U}) {
        QuantisedModel model(seed, seed % 2 == 0);
        const std::string a = model.input("a", {1, 12, 9, 9});
        const std::string y = model.sum("y", a, model.input("b", {1, 12, 9, 9}));
        expect_close(model, y, "nv_full", 1, 1, ScaleForm::RoundedThird);
    }
}

/// Every sum near every result, both signs: the result of the hardware's two multiplications.
TEST(EvenDivision, RoundsHalvesToEven) {
    for (int shift = 1; shift <= 15; ++shift) {
        const auto division = even_division(shift, 1);
        ASSERT_TRUE(division) << shift;
        const double first = std::ldexp(static_cast<double>(division->first), -shift - 1);
        const double second =
            std::ldexp(static_cast<double>(division->second), -division->second_shift);
        const auto reach = static_cast<std::int64_t>(std::ldexp(300.0, shift));
        for (std::int64_t sum = -reach; sum <= reach; sum += shift < 10 ? 1 : 1 << (shift - 3)) {
            const auto whole = static_cast<double>(sum);
            for (const double near : {whole - 1, whole, whole + 1}) {
                const double steps = std::round(near * first);  // ties away from zero
                ASSERT_EQ(std::round(steps * second), std::nearbyint(std::ldexp(near, -shift)))
                    << near << " by 2^" << shift;
            }
        }
    }
}

TEST(EvenDivision, SaysWhereItHasNoNumbers) {
    EXPECT_FALSE(even_division(17, 1));
    EXPECT_FALSE(even_division(10, 64));
    EXPECT_TRUE(even_division(10, 32));
}

INSTANTIATE_TEST_SUITE_P(Presets, RoundedScales,
                         ::testing::Combine(::testing::Values("nv_small", "nv_full", "kl720"),
                                            ::testing::Bool(), ::testing::Values(1U, 2U, 3U)));

}  // namespace
}  // namespace npuscope
