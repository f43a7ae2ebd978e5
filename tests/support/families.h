// SPDX-License-Identifier: Apache-2.0
// The families of the executable.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/compile/tinpu/tinpu_target.h"
#include "sim/config/file_io.h"
#include "sim/config/preset.h"

namespace npuscope::test {

inline const std::vector<const NpuFamily*>& families() {
    static const NvdlaFamily nvdla;
    static const TinpuFamily tinpu;
    static const std::vector<const NpuFamily*> all{&nvdla, &tinpu};
    return all;
}

/// A preset of any family and the memory that belongs to it, as the command line reads them.
inline SystemConfig preset_system(const std::filesystem::path& configs, const std::string& npu) {
    const PresetFile preset = find_preset(configs, "npu", npu);
    SystemConfig system = parse_system(read_preset_text(preset), preset.shown, families());
    const std::string memory = system.family->memory_preset(system.npu);
    if (!memory.empty()) {
        system.memory = read_preset<MemoryConfig>(find_preset(configs, "memory", memory));
    }
    return system;
}

/// A preset's TINPU, with what the command line reads of it.
inline LayerNpuConfig tinpu_preset(const std::filesystem::path& configs) {
    return tinpu_npu(preset_system(configs, "tinpu_f28p55"));
}

}  // namespace npuscope::test
