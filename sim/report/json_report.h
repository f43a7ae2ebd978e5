// SPDX-License-Identifier: Apache-2.0
// A result as JSON, keys in a stable order:
//
//   npu, program, status, values, cycles, simulated_cycles, wall_seconds, checks[], traffic{...,
//   by_client{}}, operations[], units{}, findings[], config{}
//
// Addresses and checked values are hexadecimal text; all else are numbers in cycles and bytes.
#pragma once

#include <string>

#include "sim/result/result.h"

namespace npuscope {

/// Indented by two spaces, with a line end behind it.
std::string json_report(const Result& result);

}  // namespace npuscope
