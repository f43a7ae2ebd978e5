// SPDX-License-Identifier: Apache-2.0
// Graphs as ONNX models, for other programs to read.
#pragma once

#include <string>

#include "sim/model/graph.h"

namespace npuscope {

/// The bytes of a model file: parse_onnx() on them returns the same graph, with its opset.
/// ConfigError if they exceed the protobuf size limit.
std::string onnx_bytes(const Graph& graph, const std::string& producer_version);

}  // namespace npuscope
