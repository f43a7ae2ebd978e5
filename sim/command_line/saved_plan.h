// SPDX-License-Identifier: Apache-2.0
// A plan as files: its program with the CRC of every layer's result, memory images, memory map.
#pragma once

#include <filesystem>
#include <string>

#include "sim/compile/nvdla/plan.h"
#include "sim/config/system_config.h"
#include "sim/program/program.h"

namespace npuscope {

struct SavedPlan {
    Program program;
    std::string memory_map;
};

/// Takes the plan's images. With `expectations` the program runs on the simulated machine once.
SavedPlan finish_plan(Plan plan, const SystemConfig& system, bool expectations);
/// program.cfg, images and memory_map.yaml.
void write_plan(const SavedPlan& plan, const std::filesystem::path& folder);

}  // namespace npuscope
