// SPDX-License-Identifier: Apache-2.0
// ONNX models, opset 7 to 21, as graphs. What cannot be a model is refused with what is wrong and
// where: text that is not protobuf, names that no node or two nodes make, cycles, sizes that
// are not fixed, element types and domains that are unknown, data in other files. Not looked at
// here: what the operators demand of their inputs and attributes (operators.h).
#pragma once

#include <filesystem>
#include <string>

#include "sim/model/graph.h"

namespace npuscope {

/// By the file's name: .onnx.
bool is_onnx_file(const std::filesystem::path& path);
/// A model from its bytes; `file` is how messages name it. ConfigError for whatever is wrong.
Graph parse_onnx(const std::string& bytes, const std::string& file);
Graph read_onnx(const std::filesystem::path& path);

}  // namespace npuscope
