// SPDX-License-Identifier: Apache-2.0
// ONNX models built in code: nodes, initialisers and constants, and the bytes that a file would
// hold. No code of sim/ in it.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace npuscope::test {

class ModelBuilder {
 public:
    explicit ModelBuilder(std::int64_t opset = 13);

    onnx::ModelProto& model() { return model_; }
    const onnx::ModelProto& model() const { return model_; }
    onnx::GraphProto& graph() { return *model_.mutable_graph(); }

    ModelBuilder& input(const std::string& name, const std::vector<std::int64_t>& sizes,
                        int element = onnx::TensorProto_DataType_FLOAT);
    ModelBuilder& output(const std::string& name);
    ModelBuilder& floats(const std::string& name, const std::vector<std::int64_t>& sizes,
                         const std::vector<float>& numbers);
    ModelBuilder& int8s(const std::string& name, const std::vector<std::int64_t>& sizes,
                        const std::vector<int>& numbers,
                        int element = onnx::TensorProto_DataType_INT8);
    ModelBuilder& int64s(const std::string& name, const std::vector<std::int64_t>& numbers);
    /// The last node gets the attribute.
    ModelBuilder& ints(const std::string& name, const std::vector<std::int64_t>& values);
    ModelBuilder& integer(const std::string& name, std::int64_t value);
    ModelBuilder& number(const std::string& name, float value);
    ModelBuilder& text(const std::string& name, const std::string& value);
    /// A node with one output, `name` + "_y" unless it is given.
    ModelBuilder& node(const std::string& op, const std::string& name,
                       const std::vector<std::string>& inputs, const std::string& output = {});
    /// Output of the last node.
    const std::string& last() const { return last_; }

    onnx::NodeProto& last_node();

    std::string bytes() const { return model_.SerializeAsString(); }

 private:
    onnx::ModelProto model_;
    std::string last_;
};

/// `count` integers between `low` and `high`, the same for the same seed.
std::vector<float> some_numbers(std::size_t count, int low, int high, unsigned seed);

}  // namespace npuscope::test
