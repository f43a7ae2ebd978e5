// SPDX-License-Identifier: Apache-2.0
// Functions that a model defines, and branches of an If: read as nodes of the graph.
#include "sim/model/onnx_parts.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "sim/model/onnx_reader.h"
#include "sim/model/prepare_graph.h"
#include "tests/sim/message_of.h"
#include "tests/support/sample_models.h"

namespace npuscope::onnx_parts_test {
namespace {

using test::ModelBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Numbers = std::vector<double>;

Graph read(const ModelBuilder& builder, bool by_shape = false) {
    return parse_onnx(builder.bytes(), "m.onnx", {.by_shape = by_shape});
}

std::string refusal(const ModelBuilder& builder) {
    return sample::message_of([&] { read(builder); });
}

/// The output if the inputs have these values.
Numbers computed(const ModelBuilder& builder, const std::map<std::string, Numbers>& inputs) {
    Graph graph = read(builder);
    for (const auto& [name, numbers] : inputs) {
        graph.constants[name] = {graph.types.at(name), numbers};
    }
    graph.inputs.clear();
    prepare_graph(graph);
    return graph.constants.at(graph.outputs.front()).numbers;
}

std::vector<std::string> operators_of(const Graph& graph) {
    std::vector<std::string> operators;
    for (const GraphNode& node : graph.nodes) {
        operators.push_back(node.op);
    }
    return operators;
}

onnx::GraphProto& branch_of(ModelBuilder& builder, int index) {
    return *builder.last_node().mutable_attribute(index)->mutable_g();
}

TEST(OnnxBranches, OneOfAKnownConditionIsTaken) {
    Graph taken = read(test::branch_model(1));
    EXPECT_EQ(taken.nodes.back().op, "Add");
    EXPECT_EQ(taken.nodes.back().name, "pick/then/add");
    EXPECT_THAT(taken.nodes.back().outputs, ElementsAre("y"));
    prepare_graph(taken);
    EXPECT_THAT(operators_of(taken), ElementsAre("Add"));
    EXPECT_EQ(computed(test::branch_model(1), {{"x", {1, 2, 3, 4}}}), (Numbers{4, 5, 6, 7}));
    EXPECT_EQ(read(test::branch_model(0)).nodes.back().op, "Identity");
    EXPECT_EQ(computed(test::branch_model(0), {{"x", {1, 2, 3, 4}}}), (Numbers{1, 2, 3, 4}));
}

TEST(OnnxBranches, BothAreComputedIfTheConditionIsNotKnown) {
    const ModelBuilder builder = test::branch_model({});
    EXPECT_THAT(operators_of(read(builder)), ElementsAre("Reshape", "Add", "Identity", "Where"));
    EXPECT_EQ(computed(builder, {{"x", {1, 2, 3, 4}}, {"p", {1}}}), (Numbers{4, 5, 6, 7}));
    EXPECT_EQ(computed(builder, {{"x", {1, 2, 3, 4}}, {"p", {0}}}), (Numbers{1, 2, 3, 4}));
}

TEST(OnnxBranches, OfDifferentSizesNeedAKnownCondition) {
    const auto widened = [](std::optional<std::int64_t> axis) {
        ModelBuilder builder = test::branch_model(axis);
        ModelBuilder wide;
        wide.node("Concat", "both", {"x", "x"}, "w").integer("axis", 1).output("w");
        branch_of(builder, 1) = wide.graph();
        return builder;
    };
    EXPECT_EQ(
        refusal(widened({})),
        "m.onnx: the branches of the If that computes 'y' give float32 1x4 and float32 1x8, but "
        "the condition is computed at run time (export the model with fixed sizes, or without "
        "the If)");
    EXPECT_EQ(computed(widened(0), {{"x", {1, 2, 3, 4}}}), (Numbers{1, 2, 3, 4, 1, 2, 3, 4}));
}

TEST(OnnxBranches, AreReadAfterThoseThatTheirConditionNeeds) {
    ModelBuilder builder = test::branch_model(1);
    onnx::NodeProto second = builder.last_node();
    second.set_name("second");
    second.set_output(0, "z");
    builder.int64s("end", {4});
    builder.node("Shape", "later", {"y"}).node("Gather", "size2", {"later_y", "axis"});
    builder.node("Equal", "equal2", {"size2_y", "end"});
    second.set_input(0, builder.last());
    *builder.graph().add_node() = second;
    builder.graph().mutable_output(0)->set_name("z");
    EXPECT_EQ(computed(builder, {{"x", {1, 2, 3, 4}}}), (Numbers{4, 5, 6, 7}));
    builder.graph().mutable_node()->SwapElements(3, builder.graph().node_size() - 1);
    EXPECT_EQ(computed(builder, {{"x", {1, 2, 3, 4}}}), (Numbers{4, 5, 6, 7}));
}

TEST(OnnxBranches, ByShapeAnUnknownConditionNeedsAStatedType) {
    ModelBuilder builder = test::branch_model({});
    builder.node("Relu", "relu", {"x"}).output(builder.last());
    Graph graph = read(builder, true);
    prepare_graph(graph);
    ASSERT_EQ(graph.left_out.size(), 1U);
    EXPECT_EQ(graph.left_out.front().first.name, "pick");
}

TEST(OnnxBranches, MustBeWhole) {
    ModelBuilder builder = test::branch_model(1);
    builder.last_node().mutable_attribute()->RemoveLast();
    EXPECT_THAT(refusal(builder), HasSubstr("node 'pick' (If) must have two branches"));
    builder = test::branch_model(1);
    branch_of(builder, 0).clear_output();
    EXPECT_THAT(refusal(builder), HasSubstr("with as many results as outputs"));
    builder = test::branch_model(1);
    builder.last_node().set_input(0, "y");
    EXPECT_THAT(refusal(builder), HasSubstr("its condition depends on its own result"));
    builder = test::branch_model(1);
    builder.last_node().set_input(0, "axes");
    EXPECT_THAT(refusal(builder), HasSubstr("'axes'"));
    builder = test::branch_model(1);
    branch_of(builder, 0).mutable_node(0)->set_input(1, "unknown");
    EXPECT_THAT(refusal(builder), HasSubstr("its input 'unknown' is neither"));
    builder = test::branch_model(1);
    builder.last_node().set_input(0, "x");
    EXPECT_THAT(refusal(builder), HasSubstr("the condition of node 'pick' (If) is not one value"));
}

TEST(OnnxFunctions, BecomeTheirNodes) {
    const Graph graph = read(test::function_model());
    EXPECT_THAT(operators_of(graph), ElementsAre("LeakyRelu", "Mul", "LeakyRelu", "Mul"));
    EXPECT_EQ(graph.nodes[0].name, "block1/act/leaky");
    EXPECT_EQ(graph.nodes[0].number("alpha", 0), 0.5);
    EXPECT_THAT(graph.nodes[1].inputs, ElementsAre("block1/t", "f"));
    EXPECT_THAT(graph.nodes[1].outputs, ElementsAre("block1_y"));
    EXPECT_EQ(computed(test::function_model(), {{"x", {1, 2, -4, -8}}}),
              (Numbers{2.25, 4.5, -2.25, -4.5}));
}

TEST(OnnxFunctions, NamesOfTheModelAreKept) {
    ModelBuilder builder = test::function_model();
    builder.node("Relu", "relu", {"x"}, "block1/t").output("block1/t");
    const Graph graph = read(builder);
    EXPECT_THAT(graph.nodes[0].outputs, ElementsAre("block1/t_"));
}

/// The value that a function of a newer ONNX gives an attribute which its call omits.
TEST(OnnxFunctions, HaveDefaultsForAttributes) {
    ModelBuilder builder = test::function_model();
    onnx::FunctionProto& block = *builder.model().mutable_functions(1);
    block.mutable_node(0)->clear_attribute();
    EXPECT_FALSE(read(builder).nodes[0].has("alpha"));
    onnx::AttributeProto slope;
    slope.set_name("slope");
    slope.set_type(onnx::AttributeProto_AttributeType_FLOAT);
    slope.set_f(0.25F);
    constexpr int attribute_default = 11;  // source: onnx.proto of ONNX 1.16
    builder.model().mutable_functions(0)->mutable_unknown_fields()->AddLengthDelimited(
        attribute_default, slope.SerializeAsString());
    EXPECT_EQ(read(builder).nodes[0].number("alpha", 0), 0.25);
}

TEST(OnnxFunctions, AreKnownByTheirOverloadToo) {
    ModelBuilder builder = test::function_model();
    onnx::FunctionProto other = builder.model().functions(0);
    other.mutable_node(0)->set_op_type("Relu");
    other.mutable_node(0)->clear_attribute();
    constexpr int function_overload = 13;  // source: onnx.proto of ONNX 1.16
    constexpr int node_overload = 8;
    other.mutable_unknown_fields()->AddLengthDelimited(function_overload, "plain");
    *builder.model().add_functions() = other;
    EXPECT_EQ(read(builder).nodes[0].op, "LeakyRelu");
    builder.model()
        .mutable_functions(1)
        ->mutable_node(0)
        ->mutable_unknown_fields()
        ->AddLengthDelimited(node_overload, "plain");
    EXPECT_EQ(read(builder).nodes[0].op, "Relu");
}

TEST(OnnxFunctions, OmittedInputsStayOmitted) {
    ModelBuilder builder = test::function_model();
    onnx::FunctionProto& block = *builder.model().mutable_functions(1);
    *block.mutable_node(1)->mutable_op_type() = "Clip";
    builder.graph().mutable_node(0)->mutable_input()->RemoveLast();
    EXPECT_THAT(read(builder).nodes[1].inputs, ElementsAre("block1/t", ""));
}

TEST(OnnxFunctions, MayContainAnIf) {
    ModelBuilder builder = test::branch_model(1);
    onnx::FunctionProto& function = *builder.model().add_functions();
    function.set_name("Whole");
    function.set_domain("local");
    function.add_input("x");
    function.add_output("y");
    function.mutable_node()->Swap(builder.graph().mutable_node());
    *function.mutable_node(1)->mutable_input(1) = "axis";
    function.add_input("axis");
    function.add_input("four");
    builder.node("Whole", "whole", {"x", "axis", "four"}, "y");
    builder.last_node().set_domain("local");
    EXPECT_EQ(computed(builder, {{"x", {1, 2, 3, 4}}}), (Numbers{4, 5, 6, 7}));
}

TEST(OnnxFunctions, MustFitTheirCalls) {
    ModelBuilder builder = test::function_model();
    builder.graph().mutable_node(0)->add_input("x");
    EXPECT_THAT(refusal(builder),
                HasSubstr("node 'block1' (Block) has 3 inputs and 1 outputs, but its "
                          "function has 2 and 1"));
    builder = test::function_model();
    builder.model().mutable_functions(1)->mutable_node(0)->mutable_attribute(0)->set_name("tilt");
    EXPECT_THAT(refusal(builder), HasSubstr("the function 'Act' has no attribute 'tilt'"));
    builder = test::function_model();
    *builder.model().add_functions() = builder.model().functions(0);
    EXPECT_THAT(refusal(builder), HasSubstr("the function 'Act' is defined twice"));
    builder = test::function_model();
    builder.model().mutable_functions(0)->mutable_opset_import(0)->set_version(12);
    EXPECT_THAT(refusal(builder),
                HasSubstr("the function 'Act' is written for opset 12, the model for 13"));
    builder = test::function_model();
    builder.model().mutable_functions(0)->mutable_node(0)->set_op_type("Block");
    builder.model().mutable_functions(0)->mutable_node(0)->set_domain("local");
    builder.model().mutable_functions(0)->mutable_node(0)->clear_attribute();
    EXPECT_THAT(refusal(builder), HasSubstr("are nested more than 64 deep"));
}

}  // namespace
}  // namespace npuscope::onnx_parts_test
