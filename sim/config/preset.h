// SPDX-License-Identifier: Apache-2.0
// Presets: configs/<kind>/<name>.yaml, named by file or by bare name. The folder `configs` is the
// one that the environment variable NPUSCOPE_CONFIGS names, else the nearest beside or above the
// executable (build tree, or share/npuscope/configs of an install prefix).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/config/system_config.h"
#include "sim/config/yaml_reader.h"

namespace npuscope {

struct PresetFile {
    std::string name;   ///< `nv_small`, or the stem of the file
    std::string shown;  ///< how messages name the file: `configs/npu/nv_small.yaml`
    std::filesystem::path path;
};

/// ConfigError where there is none; `environment` may be null.
std::filesystem::path find_configs_folder(const char* environment,
                                          const std::filesystem::path& executable);
/// The folder for this process.
std::filesystem::path configs_folder();

/// Names of all presets of a kind (`npu`, `memory`), sorted.
std::vector<std::string> list_presets(const std::filesystem::path& configs,
                                      const std::string& kind);
/// `asked` is a bare name, or a path where it contains `/` or ends in `.yaml`.
PresetFile find_preset(const std::filesystem::path& configs, const std::string& kind,
                       const std::string& asked);

std::string read_preset_text(const PresetFile& preset);

/// A preset's NPU with the host that the preset may name beside it, and no memory yet. Every preset
/// may have `family`, nvdla where it is left out, and `host`. ConfigError with its place.
SystemConfig parse_system(const std::string& text, const std::string& file, NpuFamilies families);

template <Described T>
T read_preset(const PresetFile& preset) {
    return read_yaml<T>(read_preset_text(preset), preset.shown);
}

}  // namespace npuscope
