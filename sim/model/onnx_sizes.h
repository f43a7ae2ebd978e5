// SPDX-License-Identifier: Apache-2.0
// Sizes of a model's tensors: those that its file fixes, and those that it leaves open, by a name or
// without one, and that a user gives. ConfigErrors have no place: the caller knows it.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/model/graph.h"
#include "sim/model/onnx_reader.h"

namespace npuscope {

class OnnxSizes {
 public:
    explicit OnnxSizes(OpenSizes given) : given_(std::move(given)) {}

    /// Finds what each of the given sizes is about. ConfigError for one that fits nothing.
    void bind(const onnx::GraphProto& graph, const Graph& read);
    /// Takes 1 for the first size of an input where that alone is open: a batch. The words for each
    /// that was taken.
    std::vector<std::string> take_batches_of_one(const onnx::GraphProto& graph, const Graph& read);
    /// A tensor's type with sizes of `least` or more.
    TensorType type_of(const onnx::ValueInfoProto& info, std::int64_t least) const;
    /// Whether element type and sizes are known.
    bool is_stated(const onnx::ValueInfoProto& info) const;

 private:
    void bind_one(const std::string& text, const onnx::GraphProto& graph, const Graph& read);
    void bind_input(const onnx::ValueInfoProto& info, const Sizes& sizes);
    void name_size(const std::string& name, std::int64_t size);
    /// Of size `index` of a tensor; nothing where it is open.
    std::optional<std::int64_t> size_of(const onnx::ValueInfoProto& info, int index) const;

    OpenSizes given_;
    std::map<std::string, Sizes> inputs_;        ///< by name
    std::map<std::string, std::int64_t> named_;  ///< by the name of the size
};

}  // namespace npuscope
