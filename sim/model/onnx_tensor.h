// SPDX-License-Identifier: Apache-2.0
// Converts ONNX tensors to ours: from the model's own bytes, or from the external files in which
// large models keep their weights. If only shapes are needed, missing weights are synthetic.
// ConfigErrors have no location: the caller adds it. source: onnx.proto, TensorProto; ONNX,
// ExternalData
#pragma once

#include <onnx/onnx_pb.h>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "sim/model/graph.h"

namespace npuscope {

/// The row for ONNX's element type number. ConfigError if graphs do not support it.
const ElementRow& onnx_element(int number);
/// Constants of INT4 and UINT4 are held as int8 and uint8, those of BFLOAT16 as float32.
bool is_held_as_another(int number);
bool is_four_bits(int number);

class OnnxTensors {
 public:
    /// `folder`: the model file's. `by_shape`: missing weights are synthetic.
    OnnxTensors(std::filesystem::path folder, bool by_shape)
        : folder_(std::move(folder)), by_shape_(by_shape) {}

    GraphValue value_of(const onnx::TensorProto& tensor);
    /// Values for a tensor without data: integer steps between -1 and 1, or small integers.
    GraphValue synthetic(const TensorType& type);

 private:
    /// The tensor's bytes in another file; nothing if they are missing and may be.
    std::optional<std::string_view> external_bytes(const onnx::TensorProto& tensor,
                                                   std::size_t bytes);
    const std::string& file_of(const std::string& location);

    std::filesystem::path folder_;
    bool by_shape_;
    std::map<std::string, std::string> files_;  ///< by location
    std::size_t synthetic_count_ = 0;           ///< elements
};

}  // namespace npuscope
