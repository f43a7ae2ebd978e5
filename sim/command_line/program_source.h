// SPDX-License-Identifier: Apache-2.0
// Programs of registers or jobs, from what the user names.
#pragma once

#include <string>

#include "sim/config/system_config.h"
#include "sim/program/read_program.h"

namespace npuscope {

/// For the NPU at hand: jobs become those of its family. ConfigError with the place of what is wrong.
Program read_any_program(const std::string& path, const SystemConfig& system, Images images);

}  // namespace npuscope
