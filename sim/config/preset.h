// SPDX-License-Identifier: Apache-2.0
// Presets: configs/<kind>/<name>.yaml, named by file or by bare name. The folder `configs` is the
// one that the environment variable NPUSCOPE_CONFIGS names, else the nearest next to or above the
// executable (build tree, or share/npuscope/configs of an install prefix). Bundled networks and
// experiments are found in the same way.
#pragma once

#include <array>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "sim/config/system_config.h"
#include "sim/config/yaml_reader.h"

namespace npuscope {

struct PresetFile {
    std::string name;   ///< `nv_small`, or the stem of the file
    std::string shown;  ///< the file's name in messages: `configs/npu/nv_small.yaml`
    std::filesystem::path path;
};

/// ConfigError if there is none; `environment` may be null.
std::filesystem::path find_configs_folder(const char* environment,
                                          const std::filesystem::path& executable);
/// The folder for this process.
std::filesystem::path configs_folder();

/// Names of all presets of a kind (`npu`, `memory`), sorted.
std::vector<std::string> list_presets(const std::filesystem::path& configs,
                                      const std::string& kind);
/// Whether a preset is named by its file.
bool names_preset_file(const std::string& asked);
/// `asked` is a bare name, or a path if it contains `/` or ends in `.yaml`.
PresetFile find_preset(const std::filesystem::path& configs, const std::string& kind,
                       const std::string& asked);

std::string read_preset_text(const PresetFile& preset);

/// A preset's NPU with the host that the preset may also name, and no memory yet. Every preset may
/// have `family`, which is nvdla by default, and `host`. ConfigError with its place.
SystemConfig parse_system(const std::string& text, const std::string& file, NpuFamilies families);
/// The same for a preset inside another file.
SystemConfig read_system_fields(const ConfigNode& root, NpuFamilies families);

// What else is bundled: networks (configs/workload), experiments (configs/experiment) and sweeps
// (configs/sweep).

/// The kinds of presets and their names for users.
struct BundleRow {
    const char* kind;    ///< folder of configs
    const char* plural;  ///< `networks`, as `npuscope list` accepts it
};
inline constexpr std::array bundle_rows{BundleRow{"workload", "networks"},
                                        BundleRow{"experiment", "experiments"},
                                        BundleRow{"sweep", "sweeps"}};
inline constexpr auto network_rows = std::span(bundle_rows).first<1>();
inline constexpr auto program_rows = std::span(bundle_rows).first<2>();
inline constexpr auto sweep_rows = std::span(bundle_rows).last<1>();

struct FoundProgram {
    std::filesystem::path path;
    std::string bundled;  ///< its bare name; empty: it is a file or folder of the user's
};

/// A file or folder, seen from `folder`; a bare name without such a file is that of a bundled
/// network, experiment or sweep. ConfigError with the nearest name of the kinds `offered` if there
/// is none.
FoundProgram find_program(const std::string& asked, const std::filesystem::path& folder = {},
                          std::span<const BundleRow> offered = program_rows);

template <Described T>
T read_preset(const PresetFile& preset) {
    return read_yaml<T>(read_preset_text(preset), preset.shown);
}

}  // namespace npuscope
