// SPDX-License-Identifier: Apache-2.0
// A plan for people: its layers as a table, the reasons behind them, and the memory map as YAML.
#pragma once

#include <string>

#include "sim/compile/nvdla/plan.h"

namespace npuscope {

std::string plan_table(const Plan& plan);
/// Layer by layer: what was chosen, its predicted cycles, and what else there was.
std::string plan_reasons(const Plan& plan);
/// Every image and every result: address, bytes, strides, first and last operation that needs it.
std::string memory_map_yaml(const Plan& plan);

}  // namespace npuscope
