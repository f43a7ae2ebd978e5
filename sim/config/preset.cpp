// SPDX-License-Identifier: Apache-2.0
#include "sim/config/preset.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "sim/config/file_io.h"
#include "sim/config/nearest_name.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;

bool holds_presets(const fs::path& folder) {
    std::error_code error;
    return fs::is_directory(folder / "npu", error);
}

bool names_a_file(const std::string& asked) {
    return asked.find('/') != std::string::npos || asked.ends_with(".yaml") ||
           asked.ends_with(".yml");
}

}  // namespace

fs::path find_configs_folder(const char* environment, const fs::path& executable) {
    if (environment != nullptr && *environment != '\0') {
        if (!holds_presets(environment)) {
            throw ConfigError(
                fmt::format("NPUSCOPE_CONFIGS names '{}', which has no folder npu", environment),
                "name the folder that contains npu/ and memory/");
        }
        return environment;
    }
    for (fs::path folder = executable.parent_path(); !folder.empty();
         folder = folder.parent_path()) {
        for (const char* candidate : {"share/npuscope/configs", "configs"}) {
            if (holds_presets(folder / candidate)) {
                return folder / candidate;
            }
        }
        if (folder == folder.root_path()) {
            break;
        }
    }
    throw ConfigError("the folder of presets was not found near the executable",
                      "set NPUSCOPE_CONFIGS to the folder that contains npu/ and memory/");
}

fs::path configs_folder() {
    std::error_code error;
    return find_configs_folder(std::getenv("NPUSCOPE_CONFIGS"),
                               fs::read_symlink("/proc/self/exe", error));
}

std::vector<std::string> list_presets(const fs::path& configs, const std::string& kind) {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(configs / kind, error)) {
        if (entry.path().extension() == ".yaml") {
            names.push_back(entry.path().stem().string());
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

PresetFile find_preset(const fs::path& configs, const std::string& kind, const std::string& asked) {
    if (names_a_file(asked)) {
        return {fs::path(asked).stem().string(), asked, asked};
    }
    const std::vector<std::string> names = list_presets(configs, kind);
    if (std::find(names.begin(), names.end(), asked) == names.end()) {
        std::string remedy = fmt::format("known: {}", fmt::join(names, ", "));
        if (const auto nearest = nearest_name(asked, names)) {
            remedy = fmt::format("did you mean '{}'? {}", *nearest, remedy);
        }
        throw ConfigError(fmt::format("unknown {} preset '{}'", kind, asked), remedy);
    }
    const std::string file = asked + ".yaml";
    return {asked, fmt::format("configs/{}/{}", kind, file), configs / kind / file};
}

std::string read_preset_text(const PresetFile& preset) {
    try {
        return read_whole_file(preset.path);
    } catch (const ConfigError&) {
        std::error_code error;
        const bool exists = fs::exists(preset.path, error);
        throw ConfigError(Place{preset.shown, 0, 0},
                          exists ? "the file cannot be read" : "there is no such file",
                          "name a preset (`npuscope list presets`) or a YAML file");
    }
}

}  // namespace npuscope
