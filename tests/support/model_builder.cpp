// SPDX-License-Identifier: Apache-2.0
#include "tests/support/model_builder.h"

#include <random>

namespace npuscope::test {

ModelBuilder::ModelBuilder(std::int64_t opset) {
    model_.set_ir_version(8);
    model_.add_opset_import()->set_version(opset);
    graph().set_name("built");
}

ModelBuilder& ModelBuilder::input(const std::string& name, const std::vector<std::int64_t>& sizes,
                                  int element) {
    auto* info = graph().add_input();
    info->set_name(name);
    auto* tensor = info->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(element);
    for (const std::int64_t size : sizes) {
        tensor->mutable_shape()->add_dim()->set_dim_value(size);
    }
    last_ = name;
    return *this;
}

ModelBuilder& ModelBuilder::output(const std::string& name) {
    graph().add_output()->set_name(name);
    return *this;
}

ModelBuilder& ModelBuilder::floats(const std::string& name, const std::vector<std::int64_t>& sizes,
                                   const std::vector<float>& numbers) {
    auto* tensor = graph().add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(onnx::TensorProto_DataType_FLOAT);
    for (const std::int64_t size : sizes) {
        tensor->add_dims(size);
    }
    for (const float number : numbers) {
        tensor->add_float_data(number);
    }
    return *this;
}

ModelBuilder& ModelBuilder::int8s(const std::string& name, const std::vector<std::int64_t>& sizes,
                                  const std::vector<int>& numbers, int element) {
    auto* tensor = graph().add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(element);
    for (const std::int64_t size : sizes) {
        tensor->add_dims(size);
    }
    for (const int number : numbers) {
        tensor->add_int32_data(number);
    }
    return *this;
}

ModelBuilder& ModelBuilder::int64s(const std::string& name,
                                   const std::vector<std::int64_t>& numbers) {
    auto* tensor = graph().add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(onnx::TensorProto_DataType_INT64);
    tensor->add_dims(static_cast<std::int64_t>(numbers.size()));
    for (const std::int64_t number : numbers) {
        tensor->add_int64_data(number);
    }
    return *this;
}

onnx::NodeProto& ModelBuilder::last_node() {
    return *graph().mutable_node(graph().node_size() - 1);
}

ModelBuilder& ModelBuilder::ints(const std::string& name, const std::vector<std::int64_t>& values) {
    auto* attribute = last_node().add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto_AttributeType_INTS);
    for (const std::int64_t value : values) {
        attribute->add_ints(value);
    }
    return *this;
}

ModelBuilder& ModelBuilder::integer(const std::string& name, std::int64_t value) {
    auto* attribute = last_node().add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto_AttributeType_INT);
    attribute->set_i(value);
    return *this;
}

ModelBuilder& ModelBuilder::number(const std::string& name, float value) {
    auto* attribute = last_node().add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto_AttributeType_FLOAT);
    attribute->set_f(value);
    return *this;
}

ModelBuilder& ModelBuilder::text(const std::string& name, const std::string& value) {
    auto* attribute = last_node().add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto_AttributeType_STRING);
    attribute->set_s(value);
    return *this;
}

ModelBuilder& ModelBuilder::node(const std::string& op, const std::string& name,
                                 const std::vector<std::string>& inputs,
                                 const std::string& output) {
    auto* node = graph().add_node();
    node->set_op_type(op);
    node->set_name(name);
    for (const std::string& input : inputs) {
        node->add_input(input);
    }
    last_ = output.empty() ? name + "_y" : output;
    node->add_output(last_);
    return *this;
}

std::vector<float> some_numbers(std::size_t count, int low, int high, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<float> numbers(count);
    const auto span = static_cast<unsigned>(high - low + 1);
    for (float& number : numbers) {
        number = static_cast<float>(low + static_cast<int>(random() % span));
    }
    return numbers;
}

}  // namespace npuscope::test
