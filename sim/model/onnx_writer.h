// SPDX-License-Identifier: Apache-2.0
// Graphs as ONNX models, for other programs to read.
#pragma once

#include <string>

#include "sim/model/graph.h"

namespace npuscope {

/// The bytes of a model file: parse_onnx() of them gives the same graph, with the opset that it has.
/// ConfigError where that would be more than a protobuf file holds.
std::string onnx_bytes(const Graph& graph, const std::string& producer_version);

}  // namespace npuscope
