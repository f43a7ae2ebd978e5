// SPDX-License-Identifier: Apache-2.0
#include "tests/support/sample_models.h"

namespace npuscope::test {
namespace {

std::vector<std::int64_t> constant_sizes(const std::vector<float>& numbers, int behind) {
    if (numbers.size() == 1) {
        return {};
    }
    std::vector<std::int64_t> sizes{1, static_cast<std::int64_t>(numbers.size())};
    sizes.resize(sizes.size() + static_cast<std::size_t>(behind), 1);
    return sizes;
}

void append_clip(ModelBuilder& builder, const Sequence& sequence, const std::string& output) {
    const std::string before = builder.last();
    builder.floats("clip_low", {}, {sequence.low}).floats("clip_high", {}, {sequence.high});
    switch (sequence.clip) {
        case Sequence::Clip::Operands:
            builder.node("Clip", "clip", {before, "clip_low", "clip_high"}, output);
            break;
        case Sequence::Clip::MaxMin:
            builder.node("Max", "clip", {before, "clip_low"});
            builder.node("Min", "clip_end", {builder.last(), "clip_high"}, output);
            break;
        case Sequence::Clip::MinMax:
            builder.node("Min", "clip", {before, "clip_high"});
            builder.node("Max", "clip_end", {builder.last(), "clip_low"}, output);
            break;
        case Sequence::Clip::ReluMin:
            builder.node("Relu", "clip", {before});
            builder.node("Min", "clip_end", {builder.last(), "clip_high"}, output);
            break;
    }
}

void append_arithmetic(ModelBuilder& builder, const Sequence& sequence, int behind) {
    const auto operands = [&](const std::string& constant) {
        return sequence.swapped ? std::vector<std::string>{constant, builder.last()}
                                : std::vector<std::string>{builder.last(), constant};
    };
    if (!sequence.bias.empty()) {
        builder.floats("bias_c", constant_sizes(sequence.bias, behind), sequence.bias);
        builder.node("Add", "bias", operands("bias_c"));
    }
    if (!sequence.scale.empty()) {
        builder.floats("scale_c", constant_sizes(sequence.scale, behind), sequence.scale);
        builder.node("Mul", "scale", operands("scale_c"));
    }
    builder.floats("div_c", {}, {sequence.divide ? sequence.divisor : 1 / sequence.divisor});
    builder.node(
        sequence.divide ? "Div" : "Mul", "div",
        sequence.divide ? std::vector<std::string>{builder.last(), "div_c"} : operands("div_c"));
    builder.node("Floor", "floor", {builder.last()});
}

std::size_t product(std::initializer_list<std::int64_t> sizes) {
    std::int64_t product = 1;
    for (const std::int64_t size : sizes) {
        product *= size;
    }
    return static_cast<std::size_t>(product);
}

}  // namespace

void append_sequence(ModelBuilder& builder, const Sequence& sequence, int behind,
                     const std::string& output) {
    append_arithmetic(builder, sequence, behind);
    append_clip(builder, sequence, output);
}

ModelBuilder conv_model(const ConvShape& shape, const Sequence& sequence, std::int64_t opset) {
    ModelBuilder builder(opset);
    builder.input("x", {1, shape.channels, shape.height, shape.width});
    const std::int64_t per_group = shape.channels / shape.groups;
    std::vector<float> weights =
        some_numbers(product({shape.kernels, per_group, shape.rows, shape.columns}),
                     shape.weight_low, shape.weight_high, 7);
    weights.front() = static_cast<float>(shape.weight_low);
    builder.floats("w", {shape.kernels, per_group, shape.rows, shape.columns}, weights);
    builder.node("Conv", "conv", {"x", "w"})
        .integer("group", shape.groups)
        .ints("strides", {shape.stride, shape.stride})
        .ints("pads", {shape.padding, shape.padding, shape.padding, shape.padding});
    append_sequence(builder, sequence);
    builder.output("y");
    return builder;
}

ModelBuilder residual_model(const Sequence& sequence, float preclip_low, float preclip_high) {
    ModelBuilder builder;
    builder.input("x", {1, 4, 6, 5}).input("r", {1, 8, 6, 5});
    builder.floats("w", {8, 4, 1, 1}, some_numbers(32, -2, 1, 7));
    builder.node("Conv", "conv", {"x", "w"});
    append_arithmetic(builder, sequence, 2);
    builder.floats("pre_low", {}, {preclip_low}).floats("pre_high", {}, {preclip_high});
    builder.node("Clip", "preclip", {builder.last(), "pre_low", "pre_high"});
    builder.node("Add", "residual", {builder.last(), "r"});
    append_clip(builder, sequence, "y");
    builder.output("y");
    return builder;
}

ModelBuilder transposed_model(const Sequence& sequence, std::int64_t stride) {
    ModelBuilder builder;
    builder.input("x", {1, 4, 3, 3});
    builder.floats("w", {4, 8, 2, 2}, some_numbers(128, -2, 1, 7));
    builder.node("ConvTranspose", "conv", {"x", "w"}).ints("strides", {stride, stride});
    append_sequence(builder, sequence);
    builder.output("y");
    return builder;
}

ModelBuilder fc_model(const Sequence& sequence, std::int64_t inputs, std::int64_t outputs) {
    ModelBuilder builder;
    builder.input("x", {1, inputs});
    builder.floats("w", {inputs, outputs}, some_numbers(product({inputs, outputs}), -2, 1, 7));
    builder.node("MatMul", "fc", {"x", "w"});
    append_sequence(builder, sequence, 0);
    builder.output("y");
    return builder;
}

ModelBuilder max_pool_model(std::int64_t window, std::int64_t stride) {
    ModelBuilder builder;
    builder.input("x", {1, 4, 6, 6});
    builder.node("MaxPool", "pool", {"x"}, "y")
        .ints("kernel_shape", {window, window})
        .ints("strides", {stride, stride});
    builder.output("y");
    return builder;
}

ModelBuilder average_pool_model(const Sequence& sequence, float area, std::int64_t padding) {
    ModelBuilder builder;
    builder.input("x", {1, 4, 6, 6});
    builder.node("AveragePool", "pool", {"x"})
        .ints("kernel_shape", {2, 2})
        .ints("strides", {2, 2})
        .ints("pads", {padding, padding, padding, padding});
    builder.floats("area_c", {}, {area});
    builder.node("Mul", "area", {builder.last(), "area_c"});
    builder.node("Round", "round", {builder.last()});
    append_sequence(builder, sequence);
    builder.output("y");
    return builder;
}

ModelBuilder global_pool_model(const Sequence& sequence, const std::vector<std::int64_t>& axes) {
    ModelBuilder builder;
    builder.input("x", {1, 4, 6, 6});
    builder.int64s("axes", axes);
    builder.node("ReduceSum", "pool", {"x", "axes"});
    builder.node("Round", "round", {builder.last()});
    append_sequence(builder, sequence);
    builder.output("y");
    return builder;
}

ModelBuilder branch_model(std::optional<std::int64_t> axis) {
    ModelBuilder builder;
    builder.input("x", {1, 4});
    std::string condition = "p";
    if (axis) {
        builder.int64s("axis", {*axis}).int64s("four", {4});
        builder.node("Shape", "shape", {"x"}).node("Gather", "size", {"shape_y", "axis"});
        builder.node("Equal", "equal", {"size_y", "four"});
        condition = builder.last();
    } else {
        builder.input("p", {1}, onnx::TensorProto_DataType_BOOL);
    }
    builder.node("If", "pick", {condition}, "y").output("y");
    ModelBuilder yes;
    yes.floats("k", {1}, {3}).node("Add", "add", {"x", "k"}, "sum").output("sum");
    ModelBuilder no;
    no.output("x");
    const auto branch = [&](const char* name, const ModelBuilder& part) {
        auto* attribute = builder.last_node().add_attribute();
        attribute->set_name(name);
        attribute->set_type(onnx::AttributeProto_AttributeType_GRAPH);
        *attribute->mutable_g() = part.model().graph();
    };
    branch("then_branch", yes);
    branch("else_branch", no);
    return builder;
}

ModelBuilder function_model() {
    ModelBuilder builder;
    const auto function = [&](const char* name, const std::vector<std::string>& inputs,
                              const char* output, const ModelBuilder& body) {
        onnx::FunctionProto& added = *builder.model().add_functions();
        added.set_name(name);
        added.set_domain("local");
        added.mutable_input()->Assign(inputs.begin(), inputs.end());
        added.add_output(output);
        *added.mutable_node() = body.model().graph().node();
        added.add_opset_import()->set_version(13);
        return &added;
    };
    ModelBuilder act;
    act.node("LeakyRelu", "leaky", {"X"}, "Y");
    auto* alpha = act.last_node().add_attribute();
    alpha->set_name("alpha");
    alpha->set_type(onnx::AttributeProto_AttributeType_FLOAT);
    alpha->set_ref_attr_name("slope");
    function("Act", {"X"}, "Y", act)->add_attribute("slope");
    ModelBuilder block;
    block.node("Act", "act", {"in"}, "t").number("slope", 0.5F);
    block.last_node().set_domain("local");
    block.node("Mul", "scale", {"t", "factor"}, "out");
    auto* added = function("Block", {"in", "factor"}, "out", block);
    auto* import = added->add_opset_import();
    import->set_domain("local");
    import->set_version(1);
    import = builder.model().add_opset_import();
    import->set_domain("local");
    import->set_version(1);
    builder.input("x", {1, 4}).floats("f", {1}, {1.5F});
    for (const char* name : {"block1", "block2"}) {
        const std::string input = builder.last();
        builder.node("Block", name, {input, "f"});
        builder.last_node().set_domain("local");
    }
    builder.output(builder.last());
    return builder;
}

}  // namespace npuscope::test
