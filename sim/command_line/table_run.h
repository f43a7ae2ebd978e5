// SPDX-License-Identifier: Apache-2.0
// A shape table on an NPU with registers: surfaces are placed as the table or the NPU declares.
#pragma once

#include <string>

#include "sim/command_line/network_files.h"

namespace npuscope {

/// As run_network_files().
Result run_table(const std::string& network, const NetworkFiles& files, const SystemConfig& system,
                 const PlanChoices& choices, RunOptions options, SurfaceQueries* queries);

}  // namespace npuscope
