// SPDX-License-Identifier: Apache-2.0
// The system requested by a program that embeds npuscope: a preset and what is changed in it.
#pragma once

#include <string>
#include <vector>

#include "sim/config/system_config.h"

namespace npuscope {

/// `changes`: KEY=VALUE as for `--set`, and `memory=PRESET`. ConfigError where that is no system.
SystemConfig read_embedded_system(const std::string& npu, const std::vector<std::string>& changes);

}  // namespace npuscope
