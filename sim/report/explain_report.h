// SPDX-License-Identifier: Apache-2.0
// Where every node of a graph runs and why; for each layer that the NPU does not take, its
// configuration, the rules that it breaks, and the nearest values that would not.
#pragma once

#include <string>

#include "sim/compile/partition.h"
#include "sim/config/text_table.h"

namespace npuscope {

std::string explain_report(const Graph& graph, const Target& target, const ModelPlan& plan,
                           std::size_t width = no_width_limit);

}  // namespace npuscope
