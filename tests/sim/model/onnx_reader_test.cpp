// SPDX-License-Identifier: Apache-2.0
#include "sim/model/onnx_reader.h"

#include <fmt/format.h>
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "sim/model/prepare_graph.h"
#include "tests/sim/message_of.h"
#include "tests/support/growth.h"
#include "tests/support/sample_models.h"

namespace npuscope::onnx_reader_test {
namespace {

using test::ModelBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string refusal(const ModelBuilder& builder) {
    return sample::message_of([&] { finish_graph(parse_onnx(builder.bytes(), "m.onnx")); });
}

ModelBuilder small_model() {
    ModelBuilder builder;
    builder.input("x", {1, 4}).floats("c", {4}, {1, 2, 3, 4});
    builder.node("Add", "add", {"x", "c"}, "y").output("y");
    return builder;
}

TEST(OnnxReader, GivesNodesConstantsAndTypes) {
    const Graph graph = parse_onnx(small_model().bytes(), "m.onnx");
    EXPECT_EQ(graph.opset, 13U);
    EXPECT_THAT(graph.inputs, ElementsAre("x"));
    EXPECT_THAT(graph.outputs, ElementsAre("y"));
    EXPECT_EQ(graph.constants.at("c").numbers, (std::vector<double>{1, 2, 3, 4}));
    EXPECT_EQ(graph.types.at("x"), (TensorType{ElementType::Float32, {1, 4}}));
}

TEST(OnnxReader, ReadsEveryFieldThatHoldsNumbers) {
    ModelBuilder builder = small_model();
    auto* raw = builder.graph().add_initializer();
    raw->set_name("raw");
    raw->set_data_type(onnx::TensorProto_DataType_INT8);
    raw->add_dims(3);
    raw->set_raw_data(std::string("\x01\xff\x80", 3));
    builder.int8s("u", {2}, {7, 255}, onnx::TensorProto_DataType_UINT8);
    builder.int64s("l", {-5, 1LL << 40});
    const Graph graph = parse_onnx(builder.bytes(), "m.onnx");
    EXPECT_EQ(graph.constants.at("raw").numbers, (std::vector<double>{1, -1, -128}));
    EXPECT_EQ(graph.constants.at("u").numbers, (std::vector<double>{7, 255}));
    EXPECT_EQ(graph.constants.at("l").numbers, (std::vector<double>{-5, 1099511627776.0}));
}

TEST(OnnxReader, AGraphWithoutANameOfItsOwnIsCalledAsItsFile) {
    const auto name = [](const std::string& graph, const std::string& file) {
        ModelBuilder builder = small_model();
        builder.graph().set_name(graph);
        return parse_onnx(builder.bytes(), file).name;
    };
    EXPECT_EQ(name("digits", "a/m.onnx"), "digits");
    EXPECT_EQ(name("main_graph", "a/resnet.onnx"), "resnet");
    EXPECT_EQ(name("torch_jit", "a/resnet/model.onnx"), "resnet");
    EXPECT_EQ(name("", "model.onnx"), "model");
}

TEST(OnnxReader, InitialisersMayStandAmongTheInputs) {
    ModelBuilder builder = small_model();
    builder.input("c", {4});
    EXPECT_THAT(parse_onnx(builder.bytes(), "m.onnx").inputs, ElementsAre("x"));
    builder = small_model();
    builder.input("c", {5});
    EXPECT_THAT(refusal(builder), HasSubstr("declared as float32 5 but defined as float32 4"));
}

TEST(OnnxReader, NodesMayStandInAnyOrder) {
    ModelBuilder builder = small_model();
    builder.node("Floor", "floor", {"y"}, "z").output("z");
    builder.graph().mutable_node()->SwapElements(0, 1);
    const Graph graph = parse_onnx(builder.bytes(), "m.onnx");
    EXPECT_EQ(graph.nodes[0].name, "add");
}

/// `count` nodes, the last one first.
ModelBuilder backwards(std::size_t count) {
    ModelBuilder builder;
    builder.input("x", {1, 4});
    for (std::size_t i = count; i-- > 0;) {
        const std::string before = i == 0 ? "x" : fmt::format("t{}", i - 1);
        builder.node("Relu", fmt::format("n{}", i), {before}, fmt::format("t{}", i));
    }
    return std::move(builder.output(fmt::format("t{}", count - 1)));
}

TEST(OnnxReader, NodesInTheWorstOrderTakeTimeInProportion) {
    const Graph graph = parse_onnx(backwards(100).bytes(), "m.onnx");
    EXPECT_EQ(graph.nodes.front().name, "n0");
    EXPECT_EQ(graph.nodes.back().name, "n99");
    EXPECT_LT(test::growth(
                  1000, [](std::size_t count) { parse_onnx(backwards(count).bytes(), "m.onnx"); }),
              test::between_linear_and_quadratic);
}

TEST(OnnxReader, ConstantsThatNodesMakeAreLimitedTogether) {
    ModelBuilder builder = small_model();
    builder.int64s("many", {18'000'000});
    for (int i = 0; i < 40; ++i) {
        const std::string name = fmt::format("c{}", i);
        builder.node("ConstantOfShape", name, {"many"}, name).output(name);
    }
    Graph graph = parse_onnx(builder.bytes(), "m.onnx");
    EXPECT_THAT(
        sample::message_of([&] { prepare_graph(graph); }),
        HasSubstr("constant folding produces 36000000 elements, far more than the file holds"));
}

TEST(OnnxReader, NodesWithoutNamesAreCalledByTheirOutput) {
    ModelBuilder builder = small_model();
    builder.graph().mutable_node(0)->clear_name();
    builder.graph().mutable_node(0)->set_input(1, "lost");
    EXPECT_THAT(refusal(builder), HasSubstr("node 'y' (Add): its input 'lost'"));
}

struct BrokenRow {
    const char* message;
    void (*breaks)(ModelBuilder&);
};
class BrokenModels : public ::testing::TestWithParam<BrokenRow> {};
TEST_P(BrokenModels, AreRefusedWithWhatIsWrong) {
    ModelBuilder builder = small_model();
    GetParam().breaks(builder);
    EXPECT_THAT(refusal(builder), HasSubstr(GetParam().message));
    EXPECT_THAT(refusal(builder), ::testing::StartsWith("m.onnx: "));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, BrokenModels,
    ::testing::Values(
        BrokenRow{"has no nodes", [](ModelBuilder& b) { b.graph().clear_node(); }},
        BrokenRow{"has no outputs", [](ModelBuilder& b) { b.graph().clear_output(); }},
        BrokenRow{"opset 6",
                  [](ModelBuilder& b) { b.model().mutable_opset_import(0)->set_version(6); }},
        BrokenRow{"IR version 99", [](ModelBuilder& b) { b.model().set_ir_version(99); }},
        BrokenRow{"its input has type int8",
                  [](ModelBuilder& b) {
                      b.int8s("i", {2}, {1, 2}).node("Floor", "bad", {"i"});
                  }},
        BrokenRow{"opset 99",
                  [](ModelBuilder& b) { b.model().mutable_opset_import(0)->set_version(99); }},
        BrokenRow{"no node produces the model's output 'q'",
                  [](ModelBuilder& b) { b.output("q"); }},
        BrokenRow{"two nodes produce the tensor 'y'",
                  [](ModelBuilder& b) { b.node("Floor", "f", {"x"}, "y"); }},
        BrokenRow{"cycle",
                  [](ModelBuilder& b) {
                      b.node("Add", "p", {"q_y", "x"}).node("Floor", "q", {"p_y"});
                  }},
        BrokenRow{"its size 'N' is dynamic",
                  [](ModelBuilder& b) {
                      b.graph()
                          .mutable_input(0)
                          ->mutable_type()
                          ->mutable_tensor_type()
                          ->mutable_shape()
                          ->mutable_dim(1)
                          ->set_dim_param("N");
                  }},
        BrokenRow{"-3 is not a valid tensor size",
                  [](ModelBuilder& b) { b.graph().mutable_initializer(0)->set_dims(0, -3); }},
        BrokenRow{"it holds 4 elements, but its shape needs 3",
                  [](ModelBuilder& b) { b.graph().mutable_initializer(0)->set_dims(0, 3); }},
        BrokenRow{
            "data are missing",
            [](ModelBuilder& b) { b.graph().mutable_initializer(0)->set_dims(0, 1LL << 24); }},
        BrokenRow{
            "1099511627776 is not a valid tensor size",
            [](ModelBuilder& b) { b.graph().mutable_initializer(0)->set_dims(0, 1LL << 40); }},
        BrokenRow{"COMPLEX64 is not supported",
                  [](ModelBuilder& b) {
                      b.graph().mutable_initializer(0)->set_data_type(
                          onnx::TensorProto_DataType_COMPLEX64);
                  }},
        BrokenRow{"outside the model's folder",
                  [](ModelBuilder& b) {
                      b.graph().mutable_initializer(0)->set_data_location(
                          onnx::TensorProto_DataLocation_EXTERNAL);
                  }},
        BrokenRow{"NaN",
                  [](ModelBuilder& b) {
                      b.graph().mutable_initializer(0)->set_float_data(1, std::nanf(""));
                  }},
        BrokenRow{"not finite: inf",
                  [](ModelBuilder& b) {
                      b.floats("w", {4, 1}, {1, INFINITY, 1, 1}).node("MatMul", "bad", {"x", "w"});
                  }},
        BrokenRow{"the model does not import the operator domain 'com.other'",
                  [](ModelBuilder& b) { b.graph().mutable_node(0)->set_domain("com.other"); }},
        BrokenRow{"have types float32 and int8",
                  [](ModelBuilder& b) {
                      b.int8s("i", {4}, {1, 2, 3, 4}).node("Add", "bad", {"x", "i"});
                  }},
        BrokenRow{"do not match",
                  [](ModelBuilder& b) {
                      b.floats("five", {5}, {1, 2, 3, 4, 5}).node("Add", "bad", {"x", "five"});
                  }},
        BrokenRow{"ONNX has no such operator",
                  [](ModelBuilder& b) { b.node("Frobnicate", "f", {"x"}).output("f_y"); }},
        BrokenRow{"divides by a constant 0",
                  [](ModelBuilder& b) {
                      b.floats("zero", {}, {0}).node("Div", "bad", {"x", "zero"});
                  }},
        BrokenRow{"is not constant",
                  [](ModelBuilder& b) {
                      b.node("Cast", "c", {"x"}).integer("to", 7);
                      b.node("Reshape", "r", {"x", "c_y"});
                  }},
        BrokenRow{"has 1 input ", [](ModelBuilder& b) { b.node("Conv", "bad", {"x"}); }},
        BrokenRow{"did you mean 'Floor'?",
                  [](ModelBuilder& b) { b.node("Flor", "f", {"x"}).output("f_y"); }},
        BrokenRow{
            "the operator is not supported",
            [](ModelBuilder& b) { b.node("Bernoulli", "f", {"x"}).node("Floor", "g", {"f_y"}); }},
        BrokenRow{"the operator has no attribute 'axes' (did you mean 'axis'?)",
                  [](ModelBuilder& b) { b.node("Softmax", "s", {"x"}).ints("axes", {1}); }},
        BrokenRow{"the operator has no attribute 'axis' (leave it out)",
                  [](ModelBuilder& b) { b.node("Floor", "s", {"x"}).integer("axis", 1); }},
        BrokenRow{"the domain 'ai.onnx' is imported twice",
                  [](ModelBuilder& b) { b.model().add_opset_import()->set_version(7); }},
        BrokenRow{
            "it declares no opset",
            [](ModelBuilder& b) { b.model().mutable_opset_import(0)->set_domain("com.other"); }},
        BrokenRow{"it holds its data twice",
                  [](ModelBuilder& b) {
                      b.graph().mutable_initializer(0)->set_raw_data(std::string(16, '\0'));
                  }},
        BrokenRow{"its min 4 exceeds its max 3",
                  [](ModelBuilder& b) {
                      b.floats("low", {}, {4}).floats("high", {}, {3});
                      b.node("Clip", "clip", {"x", "low", "high"});
                  }},
        BrokenRow{"attribute 'k' is given twice",
                  [](ModelBuilder& b) { b.integer("k", 1).integer("k", 2); }}));

TEST(OnnxReader, WindowsAreCheckedBeforeAnythingDividesByThem) {
    const auto conv = [](void (*change)(ModelBuilder&)) {
        ModelBuilder builder;
        builder.input("x", {1, 4, 6, 6})
            .floats("w", {4, 4, 3, 3}, test::some_numbers(144, 0, 1, 1));
        builder.node("Conv", "conv", {"x", "w"}, "y").output("y");
        change(builder);
        return refusal(builder);
    };
    EXPECT_THAT(conv([](ModelBuilder& b) { b.ints("strides", {0, 1}); }), HasSubstr("'strides'"));
    EXPECT_THAT(conv([](ModelBuilder& b) { b.ints("strides", {}); }),
                HasSubstr("'strides' has 0 values"));
    EXPECT_THAT(conv([](ModelBuilder& b) {
                    b.ints("dilations", {1, 0});
                }),
                HasSubstr("'dilations'"));
    EXPECT_THAT(conv([](ModelBuilder& b) { b.ints("pads", {1, 1, 1}); }), HasSubstr("'pads'"));
    EXPECT_THAT(conv([](ModelBuilder& b) {
                    b.ints("pads", {0, 0, 0, 1LL << 40});
                }),
                HasSubstr("'pads'"));
    EXPECT_THAT(conv([](ModelBuilder& b) { b.integer("group", 0); }), HasSubstr("0 groups"));
    EXPECT_THAT(conv([](ModelBuilder& b) {
                    b.ints("kernel_shape", {5, 5});
                }),
                HasSubstr("'kernel_shape'"));
    EXPECT_THAT(conv([](ModelBuilder& b) { b.text("auto_pad", "ALL"); }), HasSubstr("'auto_pad'"));
    EXPECT_THAT(conv([](ModelBuilder& b) {
                    b.ints("dilations", {3, 3});
                }),
                HasSubstr("exceeds its padded input"));
    EXPECT_THAT(conv([](ModelBuilder& b) { b.integer("strides", 1); }),
                HasSubstr("attribute 'strides' has the wrong type"));
}

TEST(OnnxReader, TextThatIsNoModelIsRefused) {
    const std::string good = small_model().bytes();
    EXPECT_THAT(sample::message_of([] { parse_onnx("", "m.onnx"); }), HasSubstr("is empty"));
    for (const std::string& text : {std::string(), std::string("garbage"), good.substr(0, 40),
                                    good + std::string(64, '\xff')}) {
        EXPECT_THAT(sample::message_of([&] { parse_onnx(text, "m.onnx"); }),
                    ::testing::StartsWith("m.onnx: "));
    }
}

TEST(OnnxReader, NodesOfOneNameAreToldApart) {
    ModelBuilder builder;
    builder.input("x", {1, 4}).node("Relu", "same", {"x"}, "a").node("Neg", "same", {"a"}, "b");
    builder.node("Abs", "", {"b"}, "same").node("Abs", "same_1", {"same"}, "y").output("y");
    std::vector<std::string> names;
    for (const GraphNode& node : parse_onnx(builder.bytes(), "m.onnx").nodes) {
        names.push_back(node_name(node));
    }
    EXPECT_THAT(names, ElementsAre("same", "same_1", "same_2", "same_1_1"));
}

TEST(OnnxReader, ValuesEndWhereSizesDependOnThem) {
    ModelBuilder builder;
    builder.input("x", {1, 4}).node("Relu", "relu", {"x"}, "r").output("r");
    builder.node("Neg", "neg", {"r"}, "n").node("NonZero", "where", {"n"});
    builder.node("Cast", "cast", {builder.last()}, "y").integer("to", 1).output("y");
    Graph graph = finish_graph(parse_onnx(builder.bytes(), "m.onnx"));
    EXPECT_THAT(graph.outputs, ElementsAre("r", "n"));
    ASSERT_EQ(graph.left_out.size(), 2U);
    EXPECT_EQ(graph.left_out[0].second,
              "the sizes of its result depend on 'n', which is computed at run time");
    EXPECT_EQ(graph.left_out[1].second, "the sizes of its input 'where_y' are not known");

    builder.floats("w", {2, 2}, {1, 2, 3, 4}).node("MatMul", "product", {"y", "w"}, "z");
    builder.output("z");
    EXPECT_THAT(refusal(builder), HasSubstr("node 'where' (NonZero): its operand 'n' is not "
                                            "constant"));
}

TEST(OnnxReader, ConstantsThatMaskMayBeInfinite) {
    ModelBuilder builder;
    builder.input("x", {1, 2}).floats("mask", {1, 2}, {0, -INFINITY});
    builder.floats("low", {}, {-INFINITY}).int64s("pads", {0, 1, 0, 0});
    builder.node("Add", "masked", {"x", "mask"});
    builder.node("Pad", "padded", {builder.last(), "pads", "low"});
    builder.node("Softmax", "shares", {builder.last()}, "y").output("y");
    const Graph graph = finish_graph(parse_onnx(builder.bytes(), "m.onnx"));
    EXPECT_EQ(graph.nodes.size(), 3U);
    EXPECT_EQ(graph.types.at("y").sizes, (Sizes{1, 3}));
}

/// The values of the constant `c` that is read from a file.
std::vector<double> read_constant(int element, const std::vector<std::int64_t>& sizes,
                                  const std::string& bytes) {
    ModelBuilder builder;
    builder.input("x", {1, 4}).node("Relu", "r", {"x"}, "y").output("y");
    auto* tensor = builder.graph().add_initializer();
    tensor->set_name("c");
    tensor->set_data_type(element);
    tensor->mutable_dims()->Add(sizes.begin(), sizes.end());
    tensor->set_raw_data(bytes);
    const std::vector<double> numbers =
        parse_onnx(builder.bytes(), "m.onnx").constant("c")->numbers;
    tensor->clear_raw_data();  // the same in the field for numbers
    for (std::size_t i = 0; i < bytes.size(); i += element == 16 ? 2 : 1) {
        const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(bytes[at]); };
        tensor->add_int32_data(element == 16 ? byte(i) + byte(i + 1) * 256 : byte(i));
    }
    EXPECT_EQ(parse_onnx(builder.bytes(), "m.onnx").constant("c")->numbers, numbers);
    return numbers;
}

TEST(OnnxReader, ConstantsOfFourBitsAreHeldAsBytesAndBfloat16AsFloats) {
    EXPECT_THAT(read_constant(22, {3}, "\x8f\x07"), ElementsAre(-1, -8, 7));
    EXPECT_THAT(read_constant(21, {3}, "\x8f\x07"), ElementsAre(15, 8, 7));
    EXPECT_THAT(read_constant(16, {2}, "\xc0\x3f\x20\xc1"), ElementsAre(1.5, -10));
    EXPECT_THAT(sample::message_of([] { read_constant(22, {3}, "\x8f"); }),
                HasSubstr("it holds 1 byte where its sizes (3) need 2"));
}

TEST(OnnxReader, QuantisingToFourBitsIsRefused) {
    ModelBuilder builder(21);
    builder.input("x", {1, 4}).floats("s", {}, {0.5F}).int8s("z", {}, {0}, 22);
    builder.node("QuantizeLinear", "q", {"x", "s", "z"});
    builder.node("DequantizeLinear", "d", {"q_y", "s", "z"}, "y").output("y");
    EXPECT_THAT(refusal(builder), HasSubstr("it quantises to 4 bits"));
}

TEST(OnnxReader, WhatHasNoElementsIsDroppedFromAConcat) {
    ModelBuilder builder;
    builder.input("x", {1, 4}).int64s("two", {2}).int64s("one", {1});
    builder.node("Slice", "none", {"x", "two", "two", "one"});
    builder.node("Concat", "all", {"none_y", "x"}, "y").integer("axis", 1).output("y");
    const Graph graph = finish_graph(parse_onnx(builder.bytes(), "m.onnx"));
    ASSERT_EQ(graph.nodes.size(), 1U);
    EXPECT_EQ(graph.nodes[0].op, "Identity");
    EXPECT_EQ(graph.nodes[0].inputs, std::vector<std::string>{"x"});
}

TEST(OnnxReader, SizesThatTheFileStatesCountOnlyWhereNodesGiveNone) {
    ModelBuilder builder;
    builder.input("x", {1, 4}).node("Relu", "r", {"x"}).node("Relu", "s", {"r_y"}, "y");
    builder.output("y");
    const auto state = [](onnx::ValueInfoProto& info, int element, std::int64_t size) {
        auto* type = info.mutable_type()->mutable_tensor_type();
        type->set_elem_type(element);
        type->mutable_shape()->add_dim()->set_dim_value(1);
        type->mutable_shape()->add_dim()->set_dim_value(size);
    };
    onnx::ValueInfoProto& inner = *builder.graph().add_value_info();
    inner.set_name("r_y");
    state(inner, onnx::TensorProto_DataType_FLOAT, 5);
    state(*builder.graph().mutable_output(0), onnx::TensorProto_DataType_FLOAT, 6);
    const Graph graph = finish_graph(parse_onnx(builder.bytes(), "m.onnx"));
    EXPECT_EQ(graph.types.at("y").sizes, (Sizes{1, 4}));
    ASSERT_EQ(graph.notes.size(), 1U);
    EXPECT_EQ(
        graph.notes[0].sentence,
        "sizes that the model states for 2 tensors differ from those computed from its nodes, "
        "which are used: 'r_y' is 1x4, not 1x5, ..");
    inner.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto_DataType_INT8);
    EXPECT_THAT(refusal(builder), HasSubstr("'r_y' is float32 1x4, but the model declares int8"));
}

TEST(OnnxReader, SizesOfTensorsAreConstants) {
    ModelBuilder builder;  // x.view(x.size(0), -1)
    builder.input("x", {2, 3, 4}).int64s("first", {0}).int64s("rest", {-1});
    builder.node("Shape", "shape", {"x"});
    builder.node("Gather", "size", {builder.last(), "first"});
    builder.node("Concat", "sizes", {builder.last(), "rest"}).integer("axis", 0);
    builder.node("Reshape", "view", {"x", builder.last()}, "y").output("y");
    const Graph graph = finish_graph(parse_onnx(builder.bytes(), "m.onnx"));
    EXPECT_EQ(graph.types.at("y").sizes, (Sizes{2, 12}));
    EXPECT_EQ(graph.nodes.size(), 1U);
}

}  // namespace
}  // namespace npuscope::onnx_reader_test
