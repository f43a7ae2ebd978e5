// SPDX-License-Identifier: Apache-2.0
// What ONNX calls its operators and their attributes, to tell a misspelled name from an operator
// that the host merely cannot run. source: ONNX, Operators.md, opset 7 to 21
#pragma once

#include "sim/model/graph.h"

namespace npuscope {

/// ConfigError without a place, with the nearest name, where the node's operator is none of ONNX's
/// own, or has an attribute that the operator does not have. Operators of other domains and
/// attributes of operators that the host does not know are not looked at.
void check_names(const GraphNode& node);

}  // namespace npuscope
