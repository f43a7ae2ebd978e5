// SPDX-License-Identifier: Apache-2.0
// Tensors of ONNX as ours: from the model's own bytes, or from files beside it, where large models
// keep their weights. Where shapes alone are asked for, weights that are nowhere are synthetic.
// ConfigErrors have no place: the caller knows it. source: onnx.proto, TensorProto; ONNX,
// ExternalData
#pragma once

#include <onnx/onnx_pb.h>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "sim/model/graph.h"

namespace npuscope {

/// The row of ONNX's number of an element type. ConfigError where graphs do not hold it.
const ElementRow& onnx_element(int number);

class OnnxTensors {
 public:
    /// `folder`: of the model's file. `by_shape`: missing weights are synthetic.
    OnnxTensors(std::filesystem::path folder, bool by_shape)
        : folder_(std::move(folder)), by_shape_(by_shape) {}

    GraphValue value_of(const onnx::TensorProto& tensor);
    /// Numbers of a type that were not given: whole steps between -1 and 1, or small integers.
    GraphValue synthetic(const TensorType& type);

 private:
    /// The tensor's bytes in another file; nothing where they are not there and may be missing.
    std::optional<std::string_view> external_bytes(const onnx::TensorProto& tensor,
                                                   std::size_t bytes);
    const std::string& file_of(const std::string& location);

    std::filesystem::path folder_;
    bool by_shape_;
    std::map<std::string, std::string> files_;  ///< by location
    std::size_t synthetic_count_ = 0;           ///< elements
};

}  // namespace npuscope
