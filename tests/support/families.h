// SPDX-License-Identifier: Apache-2.0
// The families of the executable.
#pragma once

#include <filesystem>
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

/// A preset's TINPU, with what the command line reads of it.
inline LayerNpuConfig tinpu_preset(const std::filesystem::path& configs) {
    const PresetFile preset = find_preset(configs, "npu", "tinpu_f28p55");
    return tinpu_npu(parse_system(read_whole_file(preset.path), preset.shown, families()));
}

}  // namespace npuscope::test
