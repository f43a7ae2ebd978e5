// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "sim/model/onnx_reader.h"
#include "sim/model/prepare_graph.h"
#include "tests/sim/message_of.h"
#include "tests/support/model_builder.h"

namespace npuscope::onnx_sizes_test {
namespace {

using test::ModelBuilder;
using ::testing::HasSubstr;

/// x [N 3 H H] and r [N 3 H H] -> Add -> y; r where there are to be two inputs.
ModelBuilder open_model(bool two) {
    ModelBuilder builder;
    const auto open = [&](const std::string& name) {
        builder.input(name, {1, 3, 1, 1});
        auto* shape = builder.graph()
                          .mutable_input(builder.graph().input_size() - 1)
                          ->mutable_type()
                          ->mutable_tensor_type()
                          ->mutable_shape();
        shape->mutable_dim(0)->set_dim_param("N");
        shape->mutable_dim(2)->set_dim_param("H");
        shape->mutable_dim(3)->set_dim_param("H");
    };
    open("x");
    if (two) {
        open("r");
    }
    builder.node("Add", "add", {"x", two ? "r" : "x"}, "y").output("y");
    return builder;
}

Graph with_shapes(const OpenSizes& shapes, bool two = false) {
    return parse_onnx(open_model(two).bytes(), "m.onnx", {shapes, false});
}
std::string refusal(const OpenSizes& shapes, bool two = false) {
    return sample::message_of([&] { with_shapes(shapes, two); });
}

TEST(OnnxSizes, AreGivenOfTheOnlyOpenInputOfANamedOneOrOfANamedSize) {
    const Sizes wanted{2, 3, 8, 8};
    EXPECT_EQ(with_shapes({"2x3x8x8"}).types.at("x").sizes, wanted);
    EXPECT_EQ(with_shapes({"x=2x3x8x8"}).types.at("x").sizes, wanted);
    EXPECT_EQ(with_shapes({"N=2", "H=8"}).types.at("x").sizes, wanted);
    // a size of an input is that of all inputs
    EXPECT_EQ(with_shapes({"x=2x3x8x8"}, true).types.at("r").sizes, wanted);
}

TEST(OnnxSizes, ThatAreMissingOrDoNotFitAreNamedWithTheOption) {
    EXPECT_THAT(refusal({}), HasSubstr("give the sizes of Nx3xHxH: --shape x=.."));
    EXPECT_THAT(refusal({"N=2"}), HasSubstr("its size 'H' is dynamic"));
    EXPECT_THAT(refusal({"2x4x8x8"}), HasSubstr("input 'x' is Nx3xHxH, not 2x4x8x8"));
    EXPECT_THAT(refusal({"2x3x8"}), HasSubstr("input 'x' is Nx3xHxH, not 2x3x8"));
    EXPECT_THAT(refusal({"2x3x8x9"}), HasSubstr("'H' is given as 8 and as 9"));
    EXPECT_THAT(refusal({"M=2"}), HasSubstr("no input or dynamic size 'M'"));
    EXPECT_THAT(refusal({"N=2x3"}), HasSubstr("give a single number: --shape N=4"));
    EXPECT_THAT(refusal({"2x3x8x8"}, true),
                HasSubstr("sizes without an input name need exactly one input with dynamic sizes; "
                          "the model has 2"));
    for (const char* text :
         {"", "=", "x=", "1x", "x1", "-1x3x8x8", "-1", "99999999999999999999", "1x3x8x8 ", "1X3"}) {
        EXPECT_THAT(refusal({text}), HasSubstr("is not a size option")) << text;
    }
}

TEST(OnnxSizes, ABatchThatAloneIsOpenIsOneAndANoteSaysSo) {
    ModelBuilder builder;
    builder.input("x", {1, 3, 8, 8}).input("r", {1, 3, 8, 8});
    const auto size = [&](int input, int index) {
        return builder.graph()
            .mutable_input(input)
            ->mutable_type()
            ->mutable_tensor_type()
            ->mutable_shape()
            ->mutable_dim(index);
    };
    builder.node("Add", "add", {"x", "r"}, "y").output("y");
    size(0, 0)->set_dim_param("batch");
    size(1, 0)->set_dim_param("batch");
    const Graph one = parse_onnx(builder.bytes(), "m.onnx");
    EXPECT_EQ(one.types.at("x").sizes, (Sizes{1, 3, 8, 8}));
    EXPECT_EQ(one.types.at("r").sizes, (Sizes{1, 3, 8, 8}));
    ASSERT_EQ(one.notes.size(), 1);
    EXPECT_EQ(one.notes[0].sentence, "'batch' is dynamic and taken as 1");
    const Graph four = parse_onnx(builder.bytes(), "m.onnx", {{"batch=4"}, false});
    EXPECT_EQ(four.types.at("x").sizes.front(), 4);
    EXPECT_TRUE(four.notes.empty());
    size(0, 2)->set_dim_param("height");
    EXPECT_THAT(sample::message_of([&] {
                    parse_onnx(builder.bytes(), "m.onnx", {{"batch=4"}, false});
                }),
                HasSubstr("its size 'height' is dynamic"));
}

/// What the model's dynamic sizes become with these arrays.
Graph with_arrays(const std::vector<GivenArray>& arrays, const OpenSizes& shapes = {},
                  bool two = true) {
    const FindArrays find = [&](const std::vector<std::string>& /*inputs*/) { return arrays; };
    return parse_onnx(open_model(two).bytes(), "m.onnx", {shapes, false, find});
}

TEST(OnnxSizes, ThatAreNotGivenAreThoseOfTheArrays) {
    const Graph graph = with_arrays({{"x", "x.npy", {2, 3, 8, 8}}});
    EXPECT_EQ(graph.types.at("x").sizes, (Sizes{2, 3, 8, 8}));
    EXPECT_EQ(graph.types.at("r").sizes, (Sizes{2, 3, 8, 8}));
    ASSERT_EQ(graph.notes.size(), 2U);
    EXPECT_EQ(graph.notes[0].sentence, "'H' is dynamic and taken as 8, as in the arrays given");
    // --shape has precedence; the first size of the only input's array counts cases
    EXPECT_EQ(with_arrays({{"x", "x.npy", {2, 3, 8, 8}}}, {"N=4"}).types.at("r").sizes,
              (Sizes{4, 3, 8, 8}));
    EXPECT_EQ(with_arrays({{"x", "x.npy", {2, 3, 8, 8}}}, {}, false).types.at("x").sizes,
              (Sizes{1, 3, 8, 8}));
}

TEST(OnnxSizes, OfArraysMustAgreeWithEachOtherAndTheFile) {
    const auto refused = [](const std::vector<GivenArray>& arrays) {
        return sample::message_of([&] { with_arrays(arrays); });
    };
    EXPECT_THAT(refused({{"x", "a/x.npy", {1, 3, 8, 8}}, {"r", "a/r.npy", {1, 3, 9, 9}}}),
                HasSubstr("'H' is 8 in 'a/x.npy' and 9 in 'a/r.npy'"));
    EXPECT_THAT(refused({{"x", "x.npy", {1, 4, 8, 8}}}),
                HasSubstr("input 'x' is Nx3xHxH, but the array 'x.npy' is 1x4x8x8"));
    EXPECT_THAT(refused({{"x", "x.npy", {3, 8, 8}}}), HasSubstr("the array 'x.npy' is 3x8x8"));
}

/// As the past of a decoder before its first step.
TEST(OnnxSizes, MayBeZero) {
    EXPECT_EQ(with_shapes({"0x3x8x8"}).types.at("x").sizes, (Sizes{0, 3, 8, 8}));
    EXPECT_EQ(with_shapes({"N=2", "H=0"}).types.at("x").sizes, (Sizes{2, 3, 0, 0}));
    EXPECT_EQ(with_arrays({{"x", "x.npy", {2, 3, 0, 0}}}).types.at("r").sizes, (Sizes{2, 3, 0, 0}));
    ModelBuilder builder;
    builder.input("x", {1, -3}).node("Relu", "relu", {"x"}, "y").output("y");
    EXPECT_THAT(sample::message_of([&] { parse_onnx(builder.bytes(), "m.onnx"); }),
                HasSubstr("input 'x': -3 is not a size"));
}

TEST(OnnxSizes, WithoutANameAreThoseOfTheirInputsArray) {
    ModelBuilder builder;
    builder.input("x", {1, 1}).input("r", {1, 1}).node("MatMul", "m", {"x", "r"}, "y").output("y");
    const auto shape = [&](int input) {
        return builder.graph()
            .mutable_input(input)
            ->mutable_type()
            ->mutable_tensor_type()
            ->mutable_shape();
    };
    shape(0)->mutable_dim(1)->set_dim_value(-1);
    builder.graph().mutable_input(1)->mutable_type()->mutable_tensor_type()->clear_shape();
    const FindArrays find = [](const std::vector<std::string>& inputs) {
        EXPECT_EQ(inputs, (std::vector<std::string>{"x", "r"}));
        return std::vector<GivenArray>{{"x", "x.npy", {1, 5}}, {"r", "r.npy", {5, 7}}};
    };
    const Graph graph = parse_onnx(builder.bytes(), "m.onnx", {{}, false, find});
    EXPECT_EQ(graph.types.at("x").sizes, (Sizes{1, 5}));
    EXPECT_EQ(graph.types.at("r").sizes, (Sizes{5, 7}));
}

TEST(OnnxSizes, OfAFixedInputAreNotChanged) {
    ModelBuilder builder;
    builder.input("x", {1, 3}).node("Relu", "r", {"x"}, "y").output("y");
    const auto with = [&](const char* shape) {
        return sample::message_of([&] { parse_onnx(builder.bytes(), "m.onnx", {{shape}, false}); });
    };
    EXPECT_THAT(with("1x3"), HasSubstr("sizes without an input name need exactly one input with "
                                       "dynamic sizes; the model has 0"));
    EXPECT_THAT(with("x=1x4"), HasSubstr("input 'x' is 1x3, not 1x4"));
    EXPECT_EQ(with("x=1x3"), "");
}

/// x -> Relu -> unknown operator -> Sigmoid -> y, and x -> Relu -> z.
ModelBuilder unknown_model() {
    ModelBuilder builder;
    builder.input("x", {1, 4}).node("Relu", "before", {"x"});
    const std::string map = builder.last();
    builder.node("TfIdfVectorizer", "boxes", {map});
    builder.node("Sigmoid", "after", {builder.last()}, "y").output("y");
    return builder;
}

TEST(OnnxByShape, NodesWithoutKnownSizesAreLeftOutAndWhatTheyReadStays) {
    const std::string bytes = unknown_model().bytes();
    EXPECT_THAT(sample::message_of([&] { finish_graph(parse_onnx(bytes, "m.onnx")); }),
                HasSubstr("'boxes' (TfIdfVectorizer): the operator is not supported"));
    const Graph graph = finish_graph(parse_onnx(bytes, "m.onnx", {{}, true}));
    ASSERT_EQ(graph.left_out.size(), 2U);
    EXPECT_EQ(graph.left_out[0].first.name, "boxes");
    EXPECT_EQ(graph.left_out[1].first.name, "after");
    ASSERT_EQ(graph.nodes.size(), 1U);
    EXPECT_EQ(graph.outputs, std::vector<std::string>{"before_y"});
}

TEST(OnnxByShape, SizesThatAreComputedEndTheGraphThere) {
    ModelBuilder builder;
    builder.input("x", {1, 4}).input("s", {2}, onnx::TensorProto_DataType_INT64);
    builder.node("Relu", "first", {"x"});
    builder.node("Reshape", "turn", {builder.last(), "s"}, "y").output("y");
    const Graph graph = finish_graph(parse_onnx(builder.bytes(), "m.onnx", {{}, true}));
    ASSERT_EQ(graph.left_out.size(), 1U);
    EXPECT_THAT(graph.left_out[0].second, HasSubstr("depend on 's', which is computed"));
}

TEST(OnnxByShape, ComputedSizesThatTheModelStatesAreTaken) {
    ModelBuilder builder;
    builder.input("b", {1, 9, 4}).input("s", {1, 2, 9});
    builder.node("NonMaxSuppression", "boxes", {"b", "s"}, "y").output("y");
    const auto prepared = [&](bool by_shape) {
        return finish_graph(parse_onnx(builder.bytes(), "m.onnx", {{}, by_shape}));
    };
    EXPECT_THAT(sample::message_of([&] { prepared(false); }),
                HasSubstr("depend on 'b', which is computed at run time, and no other node can be "
                          "simulated without it (to get only the time, store inferred shapes"));
    EXPECT_THAT(sample::message_of([&] { prepared(true); }),
                HasSubstr("depend on 'b', which is computed"));
    auto* type = builder.graph().mutable_output(0)->mutable_type()->mutable_tensor_type();
    type->set_elem_type(onnx::TensorProto_DataType_INT64);
    type->mutable_shape()->add_dim()->set_dim_value(7);
    type->mutable_shape()->add_dim()->set_dim_value(3);
    EXPECT_EQ(prepared(true).types.at("y"), (TensorType{ElementType::Int64, {7, 3}}));
}

TEST(OnnxByShape, OmittedOutputsNeedNoTypes) {
    ModelBuilder builder;
    builder.input("x", {1, 4}).node("TfIdfVectorizer", "boxes", {"x"}).output("y");
    onnx::NodeProto& node = *builder.graph().mutable_node(0);
    node.set_output(0, "");
    node.add_output("");
    node.add_output("y");
    auto* type = builder.graph().mutable_output(0)->mutable_type()->mutable_tensor_type();
    type->set_elem_type(onnx::TensorProto_DataType_FLOAT);
    type->mutable_shape()->add_dim()->set_dim_value(7);
    for (const bool by_shape : {false, true}) {
        const Graph graph = finish_graph(parse_onnx(builder.bytes(), "m.onnx", {{}, by_shape}));
        EXPECT_EQ(graph.nodes.size(), 1U);
        EXPECT_EQ(graph.types.at("y"), (TensorType{ElementType::Float32, {7}}));
        EXPECT_EQ(value_ranges(graph, {}).at("y").whole, false);
    }
}

TEST(OnnxByShape, AModelOfNothingButUnknownNodesIsRefused) {
    ModelBuilder builder;
    builder.input("x", {1, 4}).node("TfIdfVectorizer", "boxes", {"x"}, "y").output("y");
    EXPECT_THAT(sample::message_of([&] {
                    finish_graph(parse_onnx(builder.bytes(), "m.onnx", {{}, true}));
                }),
                HasSubstr(", and no other node can be simulated without it"));
}

TEST(OnnxByShape, WeightsThatAreInputsAreMadeUp) {
    ModelBuilder builder;
    builder.input("x", {1, 4, 5, 5}).input("w", {8, 4, 3, 3});
    builder.node("Conv", "conv", {"x", "w"}, "y").output("y");
    const Graph graph = finish_graph(parse_onnx(builder.bytes(), "m.onnx", {{}, true}));
    EXPECT_EQ(graph.inputs, std::vector<std::string>{"x"});
    ASSERT_NE(graph.constant("w"), nullptr);
    EXPECT_EQ(graph.constant("w")->numbers.size(), 288U);
}

}  // namespace
}  // namespace npuscope::onnx_sizes_test
