// SPDX-License-Identifier: Apache-2.0
// Golden programs for drivers in platforms and in C, and their cycles on the command line.
#pragma once

#include <filesystem>
#include <string>

#include "models/npu/register_blocks.h"
#include "sim/config/preset.h"
#include "sim/program/read_program.h"
#include "sim/run/session.h"
#include "tests/support/families.h"
#include "tests/support/platform.h"

namespace npuscope::test {

inline Program golden(const std::string& name) {
    return read_program(std::filesystem::path(NPUSCOPE_SOURCE) / "tests/golden/rtl" / name,
                        RegisterNames(nvdla_register_blocks()));
}

inline std::uint64_t cycles_alone(const Program& program, Cycles read_latency = Cycles(50)) {
    SystemConfig system = parse_system(
        read_preset_text(find_preset(configs_folder(), "npu", "nv_small")), "", families());
    system.memory = read_preset<MemoryConfig>(find_preset(configs_folder(), "memory", "dram_50"));
    system.memory.read_latency = read_latency;
    return run_program(program, system, {}).cycles.value;
}

}  // namespace npuscope::test
