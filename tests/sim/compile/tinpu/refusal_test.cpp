// SPDX-License-Identifier: Apache-2.0
// Unsupported layers of the preset: the rule, the node, and the model still produces its values.
#include <fmt/format.h>
#include <gmock/gmock-more-matchers.h>
#include <gtest/gtest.h>

#include "sim/compile/explain.h"
#include "tests/sim/compile/tinpu/layer_fixture.h"

namespace npuscope {
namespace {

using test::ConvShape;
using test::ModelBuilder;
using test::Sequence;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> rules_of(const ModelBuilder& builder, const Restrictions& restrictions) {
    return test::broken_rules(test::tinpu_partition(test::graph_of(builder), restrictions));
}
std::vector<std::string> rules_of(const ModelBuilder& builder) {
    return rules_of(builder, test::bundled_preset().restrictions);
}

struct SequenceRow {
    const char* rule;
    void (*change)(Sequence&);
};

class SequenceRules : public ::testing::TestWithParam<SequenceRow> {};

TEST_P(SequenceRules, AreNamedWithTheirNode) {
    Sequence sequence;
    GetParam().change(sequence);
    EXPECT_THAT(rules_of(test::conv_model({}, sequence)), ElementsAre(GetParam().rule));
    EXPECT_THAT(rules_of(test::fc_model(sequence)), ElementsAre(GetParam().rule));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, SequenceRules,
    ::testing::Values(
        SequenceRow{"bias_range at bias", [](Sequence& s) { s.bias = {32768}; }},
        SequenceRow{"bias_range at bias", [](Sequence& s) { s.bias = {-32769}; }},
        SequenceRow{"bias_integer at bias", [](Sequence& s) { s.bias = {0.5F}; }},
        SequenceRow{"scale_u8 at scale", [](Sequence& s) { s.scale = {256}; }},
        SequenceRow{"scale_u8 at scale", [](Sequence& s) { s.scale = {-1}; }},
        SequenceRow{"scale_integer at scale", [](Sequence& s) { s.scale = {1.5F}; }},
        SequenceRow{"div_power_of_two at div", [](Sequence& s) { s.divisor = 12; }},
        SequenceRow{"div_power_of_two at div", [](Sequence& s) { s.divisor = -8; }},
        SequenceRow{"shift_5bit at div", [](Sequence& s) { s.divisor = 4294967296.0F; }},
        SequenceRow{"shift_5bit at div", [](Sequence& s) { s.divisor = 0.5F; }},
        SequenceRow{"clip_range at clip", [](Sequence& s) { s.high = 126; }},
        SequenceRow{"clip_range at clip", [](Sequence& s) { s.low = 0, s.high = 6; }},
        SequenceRow{"clip_range at clip", [](Sequence& s) { s.low = -512, s.high = 511; }}));

TEST(SequenceLimits, TheLastLegalValueIsTaken) {
    for (const auto& [bias, scale, divisor] :
         {std::tuple{32767.0F, 255.0F, 2147483648.0F}, {-32768.0F, 0.0F, 1.0F}}) {
        Sequence sequence;
        sequence.bias = {bias};
        sequence.scale = {scale};
        sequence.divisor = divisor;
        EXPECT_THAT(rules_of(test::conv_model({}, sequence)), IsEmpty());
    }
}

TEST(WidthRules, EightBitWeightsHaveWideBiasesAndNoScale) {
    ConvShape shape;
    shape.weight_low = -128;
    shape.weight_high = 127;
    Sequence sequence;
    sequence.scale = {2};
    EXPECT_THAT(rules_of(test::conv_model(shape, sequence)), ElementsAre("scale_1_w8 at scale"));
    sequence.scale = {1};
    sequence.bias = {8388607};
    EXPECT_THAT(rules_of(test::conv_model(shape, sequence)), IsEmpty());
    sequence.bias = {8388608};
    EXPECT_THAT(rules_of(test::conv_model(shape, sequence)), ElementsAre("bias_range at bias"));
}

TEST(WidthRules, WeightsAreIntegersOfAtMostEightBits) {
    ConvShape shape;
    Sequence sequence;
    sequence.scale = {};
    shape.weight_low = -129;
    EXPECT_THAT(rules_of(test::conv_model(shape, sequence)), ElementsAre("weight_range at conv"));
    ModelBuilder builder = test::conv_model({}, sequence);
    builder.graph().mutable_initializer(0)->set_float_data(3, 0.25F);
    EXPECT_THAT(rules_of(builder), ElementsAre("weight_integer at conv"));
}

TEST(ShapeRules, AreNamedWithTheirNode) {
    ConvShape shape;
    shape.channels = 6;
    EXPECT_THAT(rules_of(test::conv_model(shape, {})),
                ElementsAre("channels_multiple_of_4 at conv"));
    shape = {};
    shape.channels = shape.kernels = shape.groups = 6;
    EXPECT_THAT(rules_of(test::conv_model(shape, {})),
                ElementsAre("channels_multiple_of_4 at conv"));
    shape = {};
    shape.kernels = 5;
    EXPECT_THAT(rules_of(test::conv_model(shape, {})),
                ElementsAre("channels_multiple_of_4 at conv"));
    shape = {};
    shape.channels = shape.kernels = 8;
    shape.groups = 2;
    EXPECT_THAT(rules_of(test::conv_model(shape, {})), ElementsAre("groups_1 at conv"));
    EXPECT_THAT(rules_of(test::transposed_model({}, 1)),
                ElementsAre("tconv_stride_eq_kernel at conv"));
}

TEST(ShapeRules, OneAndThreeDirectionsAreNoTwo) {
    for (const std::size_t directions : {1U, 3U}) {
        ModelBuilder builder;
        std::vector<std::int64_t> sizes(directions, 3);
        sizes.insert(sizes.begin(), {4, 4});
        std::vector<std::int64_t> input = sizes;
        input.front() = 1;
        builder.input("x", input)
            .floats("w", sizes, test::some_numbers(directions == 1 ? 48 : 432, -2, 1, 3));
        builder.node("Conv", "conv", {"x", "w"});
        test::append_sequence(builder, {});
        builder.output("y");
        EXPECT_THAT(rules_of(builder), Contains("conv_2d at conv"));
    }
}

TEST(SequenceOrder, MissingAndMisplacedStepsAreNamed) {
    const auto model = [](const std::vector<std::string>& ops) {
        ModelBuilder builder;
        builder.input("x", {1, 4, 5, 5});
        builder.floats("w", {4, 4, 1, 1}, test::some_numbers(16, -2, 1, 3));
        builder.floats("c", {}, {4}).floats("low", {}, {-128}).floats("high", {}, {127});
        builder.node("Conv", "conv", {"x", "w"});
        for (const std::string& op : ops) {
            const std::string before = builder.last();
            builder.node(op, op,
                         op == "Clip" ? std::vector<std::string>{before, "low", "high"}
                         : op == "Floor" || op == "Round" ? std::vector<std::string>{before}
                                                          : std::vector<std::string>{before, "c"});
        }
        builder.output(builder.last());
        return builder;
    };
    EXPECT_THAT(rules_of(model({"Add", "Div", "Clip"})), ElementsAre("floor_required at Clip"));
    EXPECT_THAT(rules_of(model({"Add", "Div", "Floor"})), ElementsAre("clip_required at Floor"));
    EXPECT_THAT(rules_of(model({"Add", "Div", "Round", "Clip"})),
                ElementsAre("floor_required at Round"));
    EXPECT_THAT(rules_of(model({"Add", "Floor", "Div", "Clip"})),
                ElementsAre("sequence_order at Floor"));
    EXPECT_THAT(rules_of(model({"Mul", "Add", "Div", "Floor", "Clip"})),
                ElementsAre("sequence_order at Mul"));
    EXPECT_THAT(rules_of(model({"Div", "Mul", "Floor", "Clip"})),
                ElementsAre("sequence_order at Div"));
    EXPECT_THAT(rules_of(model({"Add", "Clip", "Div", "Floor"})),
                Contains("sequence_order at Clip"));
}

/// `rule: nearest` of the first rule that a model breaks, where the guidelines are enforced, too.
std::string nearest_of(const ModelBuilder& builder, Verdict narrow_maps = Verdict::Allow) {
    Restrictions restrictions = test::bundled_preset().restrictions;
    restrictions.beyond_guidelines = Verdict::Refuse;
    restrictions.narrow_maps = narrow_maps;
    const Partition plan = test::tinpu_partition(test::graph_of(builder), restrictions);
    const Diagnostic& problem = plan.refusals.at(0).problems.at(0);
    return problem.id + ": " + problem.nearest;
}

std::string nearest_clip(float low, float high, Verdict narrow_maps = Verdict::Allow) {
    Sequence sequence;
    sequence.low = low;
    sequence.high = high;
    return nearest_of(test::conv_model({}, sequence), narrow_maps);
}

TEST(NearestValues, ClipsKeepTheRange) {
    EXPECT_EQ(nearest_clip(0, 127), "clip_range: 0..255");
    EXPECT_EQ(nearest_clip(0, 1), "clip_range: 0..3");
    EXPECT_EQ(nearest_clip(-64, 63), "clip_range: -128..127");
    EXPECT_EQ(nearest_clip(-8, 15), "clip_range: -128..127");
    EXPECT_EQ(nearest_clip(0, 511), "clip_range: 0..255");
    EXPECT_EQ(nearest_clip(-300, 300), "clip_range: -128..127");
    EXPECT_EQ(nearest_clip(0, 15, Verdict::Refuse), "clip_range: 0..255");
    EXPECT_EQ(nearest_clip(-8, 7, Verdict::Refuse), "clip_range: -128..127");
}

TEST(NearestValues, ScalesAreAtLeastOne) {
    Sequence sequence;
    sequence.scale = {0.5F};
    EXPECT_EQ(nearest_of(test::conv_model({}, sequence)), "scale_integer: 1");
    sequence.scale = {-3};
    EXPECT_EQ(nearest_of(test::conv_model({}, sequence)), "scale_u8: 1");
    sequence.scale = {300};
    EXPECT_EQ(nearest_of(test::conv_model({}, sequence)), "scale_u8: 255");
}

TEST(NearestValues, KernelsAndStridesChangeAsLittleAsPossible) {
    const auto kernel = [](std::int64_t channels, std::int64_t rows, std::int64_t columns) {
        ConvShape shape;
        shape.channels = channels;
        shape.height = shape.width = 12;
        shape.rows = rows;
        shape.columns = columns;
        return nearest_of(test::conv_model(shape, {}));
    };
    EXPECT_EQ(kernel(4, 9, 3), "kernel_limit: 7x3");
    EXPECT_EQ(kernel(4, 9, 8), "kernel_limit: 7x7");
    EXPECT_EQ(kernel(1, 3, 9), "kernel_limit: 3x8");
    ModelBuilder pool = test::max_pool_model(5, 1);
    EXPECT_EQ(nearest_of(pool), "kernel_limit: 5x4");
    const auto strides = [](std::int64_t rows, std::int64_t columns) {
        ModelBuilder builder = test::conv_model({}, {});
        for (auto& attribute : *builder.graph().mutable_node(0)->mutable_attribute()) {
            if (attribute.name() == "strides") {
                attribute.set_ints(0, rows);
                attribute.set_ints(1, columns);
            }
        }
        return nearest_of(builder);
    };
    EXPECT_EQ(strides(3, 1), "stride_limit: 2x1");
    EXPECT_EQ(strides(3, 3), "stride_limit: 2x2");
    EXPECT_EQ(strides(1, 2), "stride_limit: 1x1");
}

/// A job's descriptor has 16 bits for each of these numbers.
TEST(DescriptorRules, LargerNumbersAreRefused) {
    const auto pool = [](const std::vector<std::int64_t>& kernel,
                         const std::vector<std::int64_t>& strides) {
        ModelBuilder builder;
        builder.input("x", {1, 4, 70010, 1}).node("MaxPool", "pool", {"x"}, "y");
        builder.ints("kernel_shape", kernel).ints("strides", strides).output("y");
        return builder;
    };
    const Restrictions restrictions = test::bundled_preset().restrictions;
    const Partition plan =
        test::tinpu_partition(test::graph_of(pool({66000, 1}, {70000, 1})), restrictions);
    std::vector<std::string> sentences;
    for (const Diagnostic& problem : plan.refusals.at(0).problems) {
        EXPECT_EQ(problem.id, "descriptor");
        sentences.push_back(problem.sentence);
    }
    EXPECT_THAT(sentences,
                ElementsAre("its largest input size is more than 65536",
                            "its kernel is more than 65535", "its stride is more than 65535"));
}

/// An input that is assumed to be an 8-bit map may be joined with numbers that are not.
TEST(MapRules, NumbersBeyondEightBitsAreKnown) {
    ModelBuilder builder = test::conv_model({}, {});
    builder.int64s("pads", {0, 0, 1, 1, 0, 0, 1, 1}).floats("border", {}, {300});
    builder.node("Pad", "pad", {"x", "pads", "border"});
    builder.graph().mutable_node(0)->set_input(0, "pad_y");
    EXPECT_THAT(rules_of(builder), Contains("input_8bit at conv"));
}

/// Pools have no weights.
TEST(PoolRules, WidthsAreThoseOfPools) {
    Sequence sequence;
    sequence.scale = {256};
    const Graph graph = test::graph_of(test::global_pool_model(sequence));
    const Partition plan = test::tinpu_partition(graph, test::bundled_preset().restrictions);
    EXPECT_EQ(plan.refusals.at(0).problems.at(0).sentence,
              "scale must be an unsigned 8-bit integer in a pool");
}

TEST(ResidualRules, PreclipAndJoinAreChecked) {
    // the part before the residual is legal by itself and runs on the NPU
    const Graph graph = test::graph_of(test::residual_model({}, -128, 127));
    const Partition plan = test::tinpu_partition(graph, test::bundled_preset().restrictions);
    EXPECT_THAT(test::broken_rules(plan), ElementsAre("preclip_range at preclip"));
    ASSERT_EQ(plan.groups.size(), 1U);
    EXPECT_EQ(plan.groups[0].pattern, "PWCONV");
    EXPECT_TRUE(plan.refusals[0].partly_taken);

    ModelBuilder joined = test::residual_model({});
    for (int i = 0; i < joined.graph().node_size(); ++i) {
        if (joined.graph().node(i).name() == "residual") {
            joined.graph().mutable_node(i)->set_op_type("Mul");
        }
    }
    EXPECT_THAT(rules_of(joined), ElementsAre("residual_add at residual"));
    for (int i = 0; i < joined.graph().node_size(); ++i) {
        if (joined.graph().node(i).name() == "residual") {
            joined.graph().mutable_node(i)->set_op_type("Max");
        }
    }
    EXPECT_THAT(rules_of(joined), ElementsAre("residual_add at residual"));
}

/// x and a residual of these sizes, and what the layer writes for the residual's rule.
std::string residual_shape(const std::vector<std::int64_t>& x,
                           const std::vector<std::int64_t>& residual) {
    ModelBuilder builder = test::residual_model({});
    builder.graph().clear_input();
    builder.input("x", x).input("r", residual);
    const Partition plan =
        test::tinpu_partition(test::graph_of(builder), test::bundled_preset().restrictions);
    if (plan.refusals.size() != 1 || plan.refusals[0].problems.size() != 1) {
        return {};
    }
    const Diagnostic& problem = plan.refusals[0].problems[0];
    return fmt::format("{}: {}, not {}", problem.id, problem.nearest, problem.value);
}

TEST(ResidualRules, NeitherResidualNorResultIsBroadcast) {
    EXPECT_EQ(residual_shape({1, 4, 6, 5}, {1, 8, 6, 5}), "");
    EXPECT_EQ(residual_shape({1, 4, 6, 5}, {1, 8, 1, 1}), "residual_shape: 1x8x6x5, not 1x8x1x1");
    EXPECT_EQ(residual_shape({1, 4, 6, 5}, {8, 1, 1}), "residual_shape: 1x8x6x5, not 8x1x1");
    EXPECT_EQ(residual_shape({1, 4, 1, 1}, {1, 8, 6, 5}), "residual_shape: 1x8x1x1, not 1x8x6x5");
}

TEST(PoolRules, AreaAxesAndRoundAreChecked) {
    EXPECT_THAT(rules_of(test::average_pool_model({}, 5)), ElementsAre("pool_area at area"));
    EXPECT_THAT(rules_of(test::global_pool_model({}, {2})), ElementsAre("avgpool_reduce at pool"));
    ModelBuilder builder;
    builder.input("x", {1, 4, 6, 6}).int64s("axes", {2, 3});
    builder.node("ReduceSum", "pool", {"x", "axes"});
    test::append_sequence(builder, {});
    builder.output("y");
    EXPECT_THAT(rules_of(builder), ElementsAre("round_required at pool"));

    ModelBuilder floored = test::global_pool_model({});
    for (int i = 0; i < floored.graph().node_size(); ++i) {
        if (floored.graph().node(i).op_type() == "Round") {
            floored.graph().mutable_node(i)->set_op_type("Floor");
        }
    }
    EXPECT_THAT(rules_of(floored), ElementsAre("round_required at round"));
}

TEST(MapRules, InputsMustBeEightBitIntegers) {
    ModelBuilder builder;
    builder.input("x", {1, 4, 5, 5});
    builder.floats("w", {4, 4, 1, 1}, test::some_numbers(16, -2, 1, 3));
    builder.node("Sigmoid", "squash", {"x"}).node("Conv", "conv", {"squash_y", "w"});
    test::append_sequence(builder, {});
    builder.output("y");
    EXPECT_THAT(rules_of(builder), ElementsAre("input_8bit at conv"));
}

TEST(Switches, DecideWhereTheTextsContradictEachOther) {
    Restrictions strict = test::bundled_preset().restrictions;
    strict.beyond_guidelines = Verdict::Refuse;
    ConvShape shape;
    shape.height = shape.width = 12;
    shape.rows = shape.columns = 9;
    EXPECT_THAT(rules_of(test::conv_model(shape, {})), IsEmpty());
    EXPECT_THAT(rules_of(test::conv_model(shape, {}), strict), ElementsAre("kernel_limit at conv"));

    shape = {};
    shape.stride = 2;
    EXPECT_THAT(rules_of(test::conv_model(shape, {}), strict), IsEmpty());
    shape.rows = shape.columns = 1;
    shape.padding = 0;
    EXPECT_THAT(rules_of(test::conv_model(shape, {}), strict), ElementsAre("stride_limit at conv"));
    Sequence narrow;
    narrow.scale = {1};
    EXPECT_THAT(rules_of(test::fc_model(narrow, 4), strict), IsEmpty());
    for (const auto& [width, inputs] : {std::pair{-8.0F, 8}, {-128.0F, 16}}) {
        for (const int missing : {0, 4}) {
            ModelBuilder fc = test::fc_model(narrow, inputs - missing);
            fc.graph().mutable_initializer(0)->set_float_data(0, width);
            EXPECT_THAT(rules_of(fc), IsEmpty());
            const std::vector<std::string> wanted(missing == 0 ? 0 : 1, "fc_inputs at fc");
            EXPECT_EQ(rules_of(fc, strict), wanted);
        }
    }
    ModelBuilder tiny = test::global_pool_model({});
    for (const int direction : {2, 3}) {
        tiny.graph()
            .mutable_input(0)
            ->mutable_type()
            ->mutable_tensor_type()
            ->mutable_shape()
            ->mutable_dim(direction)
            ->set_dim_value(direction - 1);
    }
    EXPECT_THAT(rules_of(tiny), IsEmpty());
    EXPECT_THAT(rules_of(tiny, strict), ElementsAre("window_area at pool"));

    Restrictions wide = test::bundled_preset().restrictions;
    wide.four_bit_weights = Verdict::Refuse;
    shape = {};
    shape.weight_low = -8;
    EXPECT_THAT(rules_of(test::conv_model(shape, {}), wide), ElementsAre("weight_4bit at conv"));

    Restrictions padded = test::bundled_preset().restrictions;
    padded.padded_channels = Verdict::Allow;
    shape = {};
    shape.channels = 6;
    EXPECT_THAT(rules_of(test::conv_model(shape, {}), padded), IsEmpty());
}

TEST(Explain, GivesConfigurationRuleAndNearestLegalValue) {
    ConvShape shape;
    shape.channels = 6;
    const Graph graph = test::graph_of(test::conv_model(shape, {}));
    const TinpuTarget target(test::bundled_preset());
    const std::string text = explain_report(graph, target, *target.plan(graph, {}));
    EXPECT_THAT(text, HasSubstr("[H,W,C] = [6,5,6]"));
    EXPECT_THAT(text, HasSubstr("kernel 3x3, strides 1x1, padding t1 l1 b1 r1"));
    EXPECT_THAT(text, HasSubstr("channels_multiple_of_4 at node 'conv' (Conv)"));
    EXPECT_THAT(text, HasSubstr("nearest legal value 8"));
    EXPECT_THAT(text, HasSubstr("runs on the host"));
}

TEST(Host, RunsWhatIsRefusedAndItsTimeIsKeptApart) {
    ConvShape shape;
    shape.channels = 6;
    const Graph graph = test::graph_of(test::conv_model(shape, {}));
    const ModelResult run =
        test::run_on(graph, test::bundled_preset(), test::some_inputs(graph, ElementType::Int8, 3));
    EXPECT_EQ(test::npu_cycles(run.result), Cycles(0));
    EXPECT_GT(run.result.model->host.cycles, Cycles(0));
    EXPECT_EQ(run.outputs.at("y").type.element, ElementType::Int8);
}

}  // namespace
}  // namespace npuscope
