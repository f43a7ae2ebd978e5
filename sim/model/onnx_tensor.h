// SPDX-License-Identifier: Apache-2.0
// Tensors and types of ONNX as ours. ConfigError without a place: the caller knows it.
#pragma once

#include <onnx/onnx_pb.h>

#include "sim/model/graph.h"

namespace npuscope {

/// `number` is ONNX's own code of an element type.
ElementType element_of(int number);
/// A tensor in the file itself, whichever of ONNX's fields holds it.
GraphValue value_of(const onnx::TensorProto& tensor);
/// A tensor's type with fixed, positive sizes.
TensorType type_of(const onnx::ValueInfoProto& info);
/// Whether both element type and fixed sizes are stated.
bool is_stated(const onnx::ValueInfoProto& info);

}  // namespace npuscope
