// SPDX-License-Identifier: Apache-2.0
// The reason for each node on the host fits the form that the model is in, on every NPU.
#include "sim/compile/host_reason.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "sim/compile/explain.h"
#include "sim/compile/nvdla/nvdla_target.h"
#include "sim/config/text_table.h"
#include "tests/sim/compile/tinpu/layer_fixture.h"

namespace npuscope {
namespace {

using test::ModelBuilder;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Between quantisers, as long as `last` and what follows it say so.
struct Quantised {
    ModelBuilder builder;
    std::string last = "x";

    Quantised() { builder.input("x", {1, 8, 6, 6}).floats("s", {}, {0.05F}).int8s("z", {}, {0}); }
    Quantised& step(const std::string& op, const std::string& name,
                    std::vector<std::string> more = {}) {
        more.insert(more.begin(), last);
        builder.node(op, name, more);
        last = builder.last();
        return *this;
    }
    Quantised& quantise(const std::string& name) {
        return step("QuantizeLinear", name, {"s", "z"});
    }
    Quantised& dequantise(const std::string& name) {
        return step("DequantizeLinear", name, {"s", "z"});
    }
    Quantised& both(const std::string& name) {
        return quantise(name + "_q").dequantise(name + "_dq");
    }
    /// Weights of 8 kernels after a DequantizeLinear, if `quantised`.
    Quantised& conv(const std::string& name, bool quantised = true) {
        if (quantised) {
            builder.int8s(name + "_w", {8, 8, 1, 1}, std::vector<int>(64, 3));
            builder.node("DequantizeLinear", name + "_dqw", {name + "_w", "s", "z"});
            return step("Conv", name, {name + "_dqw_y"});
        }
        builder.floats(name + "_w", {8, 8, 1, 1}, std::vector<float>(64, 0.3F));
        return step("Conv", name, {name + "_w"});
    }
    Graph graph(ScaleForm form) {
        builder.output(last);
        return finish_graph(parse_onnx(builder.bytes(), "built.onnx"), form);
    }
};

struct ReasonRow {
    const char* reason;
    const char* remedy;
    void (*build)(Quantised&);
};

class HostReason : public ::testing::TestWithParam<ReasonRow> {
 protected:
    static std::string on_nvdla() {
        Quantised model;
        GetParam().build(model);
        const Graph graph = model.graph(ScaleForm::Rounded);
        const SegmentedPlan plan = plan_segments(graph, {});
        const NvdlaTarget target(PlanTarget{});
        const PlaceExplanation told{graph, target, plan.partition, layers_of_groups(plan)};
        return told.refusals() + told.node_table(no_width_limit);
    }
    static std::string on_tinpu() {
        Quantised model;
        GetParam().build(model);
        const Graph graph = model.graph(ScaleForm::Folded);
        const TinpuTarget target(test::bundled_preset());
        return explain_report(graph, target, *target.plan(graph, {}));
    }
};

TEST_P(HostReason, IsThatOfTheFormOnEveryNpu) {
    for (const std::string& text : {on_nvdla(), on_tinpu()}) {
        EXPECT_THAT(text, AllOf(HasSubstr(GetParam().reason), HasSubstr(GetParam().remedy)));
        for (const char* rule : {"BNORM", "_required", "_8bit", "does not hold integers"}) {
            EXPECT_THAT(text, Not(HasSubstr(rule)));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(
    Rows, HostReason,
    ::testing::Values(
        ReasonRow{"2 layers run on the host: 'a', 'b'\n"
                  "  not_quantised first at node 'a' (Conv): it is float32",
                  "--calibration DIR", [](Quantised& m) { m.conv("a", false).conv("b", false); }},
        ReasonRow{"its result is not quantised: an InstanceNormalization is between it and the "
                  "QuantizeLinear",
                  "insert a QuantizeLinear and a DequantizeLinear before the InstanceNormalization",
                  [](Quantised& m) {
                      m.builder.floats("one", {8}, std::vector<float>(8, 1.5F));
                      m.both("x").conv("a").step("InstanceNormalization", "n", {"one", "one"});
                      m.both("y");
                  }},
        ReasonRow{"its result is not quantised: it is an output of the model, as floats",
                  "insert a QuantizeLinear and a DequantizeLinear after it, or",
                  [](Quantised& m) { m.both("x").conv("a"); }},
        ReasonRow{"its input is not quantised: the Softmax before it outputs floats",
                  "after the Softmax, or",
                  [](Quantised& m) { m.both("x").step("Softmax", "s1").conv("a").both("y"); }},
        ReasonRow{"its input is not quantised: it reads the model's float input directly",
                  "after the model's input, or",
                  [](Quantised& m) { m.conv("a").both("y").conv("b").both("z1"); }},
        ReasonRow{"not_quantised first at node 'a' (Conv): it is float32, and the model is not "
                  "quantised",
                  "--calibration DIR", [](Quantised& m) { m.conv("a").conv("b"); }},
        ReasonRow{"its weights are not quantised", "quantise the weights as well",
                  [](Quantised& m) { m.both("x").conv("a", false).both("y"); }},
        ReasonRow{"it is left in float: none of its input, weights and result is quantised",
                  "quantise this layer as well",
                  [](Quantised& m) {
                      m.both("x").conv("a").both("y").step("Softmax", "s1");
                      m.conv("b", false).step("Softmax", "s2");
                  }},
        ReasonRow{"it multiplies two activations with each other",
                  "the host computes such products",
                  [](Quantised& m) { m.both("x").step("MatMul", "a", {m.last}).both("y"); }},
        ReasonRow{"no NPU layer computes it", "no NPU layer computes it", [](Quantised& m) {
                      m.both("x").step("ReduceMean", "a").builder.ints("axes", {1});
                      m.both("y");
                  }}));

TEST(HostReasons, TransposedConvolutionsAreComputedWithoutDilation) {
    Quantised model;
    model.both("x");
    model.builder.int8s("w", {8, 8, 3, 3}, std::vector<int>(576, 3));
    model.builder.node("DequantizeLinear", "dqw", {"w", "s", "z"});
    model.step("ConvTranspose", "a", {"dqw_y"}).builder.ints("dilations", {2, 2});
    model.quantise("y");
    const Graph graph = model.graph(ScaleForm::Rounded);
    const SegmentedPlan plan = plan_segments(graph, {});
    ASSERT_EQ(plan.partition.refusals.size(), 1U);
    ASSERT_EQ(plan.partition.refusals[0].problems.size(), 1U);
    EXPECT_THAT(plan.partition.refusals[0].problems[0].sentence,
                HasSubstr("its kernel is dilated"));
}

TEST(HostReasons, ALayerOfRowsStatesTheirNumber) {
    Quantised model;
    model.builder = ModelBuilder();
    model.builder.input("x", {16, 24}).floats("s", {}, {0.05F}).int8s("z", {}, {0});
    model.both("x").step("Sigmoid", "a").both("y");
    const Graph graph = model.graph(ScaleForm::Rounded);
    const SegmentedPlan plan = plan_segments(graph, {});
    const NvdlaTarget target(PlanTarget{});
    const PlaceExplanation told{graph, target, plan.partition, layers_of_groups(plan)};
    EXPECT_THAT(told.refusals(),
                AllOf(HasSubstr("input [N,H,W,C] = [16,1,1,24]"), HasSubstr("its maps are 16x24")));
}

TEST(HostReasons, EveryReasonIsToldOnce) {
    Quantised model;
    model.both("x").conv("a").both("y").conv("b").step("Softmax", "s1");
    model.conv("c", false).step("Softmax", "s2").conv("d", false).step("Softmax", "s3");
    const Graph graph = model.graph(ScaleForm::Rounded);
    const SegmentedPlan plan = plan_segments(graph, {});
    const Diagnostics notes = refusal_notes(refused_layers(plan.partition));
    ASSERT_EQ(notes.size(), 2U);
    EXPECT_EQ(notes[1].operation, "c");
    EXPECT_EQ(notes[1].severity, Severity::Note);
    EXPECT_THAT(notes[1].sentence, HasSubstr("; the same applies to 'd'"));
}

}  // namespace
}  // namespace npuscope
