// SPDX-License-Identifier: Apache-2.0
#include "sim/config/preset.h"

#include <dlfcn.h>
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

const NpuFamily& family_of(const ConfigNode* node, NpuFamilies families) {
    const std::string name = node == nullptr || node->kind == ConfigNode::Kind::Null
                                 ? "nvdla"
                                 : read_text(*node, "family");
    const auto found =
        std::ranges::find(families, name, [](const NpuFamily* family) { return family->name(); });
    if (found == families.end()) {
        std::vector<std::string> known;
        std::ranges::transform(families, std::back_inserter(known),
                               [](const NpuFamily* family) { return std::string(family->name()); });
        refuse_name(node == nullptr ? ConfigNode{} : *node, "family", known);
    }
    return **found;
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

namespace {

/// The file that this code is in: a shared library inside another program, or the executable.
fs::path own_file() {
    std::error_code error;
    Dl_info info{};
    const bool known =
        ::dladdr(reinterpret_cast<const void*>(&own_file), &info) != 0 && info.dli_fname != nullptr;
    const fs::path file = known ? fs::path(info.dli_fname) : fs::path();
    return file.filename().string().find(".so") == std::string::npos
               ? fs::read_symlink("/proc/self/exe", error)
               : fs::canonical(file, error);
}

}  // namespace

fs::path configs_folder() {
    return find_configs_folder(std::getenv("NPUSCOPE_CONFIGS"), own_file());
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

bool names_preset_file(const std::string& asked) {
    return asked.find('/') != std::string::npos || asked.ends_with(".yaml") ||
           asked.ends_with(".yml");
}

PresetFile find_preset(const fs::path& configs, const std::string& kind, const std::string& asked) {
    if (names_preset_file(asked)) {
        return {fs::path(asked).stem().string(), asked, asked};
    }
    const std::string file = asked + ".yaml";
    std::error_code error;
    if (!fs::exists(configs / kind / file, error)) {
        const std::vector<std::string> names = list_presets(configs, kind);
        std::string remedy = fmt::format("known: {}", fmt::join(names, ", "));
        if (const auto nearest = nearest_name(asked, names)) {
            remedy = fmt::format("did you mean '{}'? {}", *nearest, remedy);
        } else if (fs::exists(asked, error)) {
            remedy = "a preset's file ends in .yaml; " + remedy;
        }
        throw ConfigError(fmt::format("unknown {} preset '{}'", kind, asked), remedy);
    }
    return {asked, fmt::format("configs/{}/{}", kind, file), configs / kind / file};
}

std::string read_preset_text(const PresetFile& preset) {
    try {
        return read_whole_file(preset.path, {}, largest_config);
    } catch (const ConfigError&) {
        std::error_code error;
        const bool exists = fs::exists(preset.path, error);
        throw ConfigError(Place{preset.shown, 0, 0},
                          exists ? "the file cannot be read" : "there is no such file",
                          "name a preset (`npuscope list presets`) or a YAML file");
    }
}

FoundProgram find_program(const std::string& asked, const fs::path& folder,
                          std::span<const BundleRow> offered) {
    std::error_code error;
    const fs::path file = folder.empty() ? fs::path(asked) : (folder / asked).lexically_normal();
    const bool bare = asked.find_first_of("/.") == std::string::npos && !asked.empty();
    if (!bare || fs::exists(file, error)) {
        return {file, {}};
    }
    const fs::path configs = configs_folder();
    for (const BundleRow& row : bundle_rows) {
        const std::vector<std::string> names = list_presets(configs, row.kind);
        if (std::ranges::find(names, asked) != names.end()) {
            return {configs / row.kind / (asked + ".yaml"), asked};
        }
    }
    std::vector<std::string> all;
    std::string known;
    for (const BundleRow& row : offered) {
        const std::vector<std::string> names = list_presets(configs, row.kind);
        all.insert(all.end(), names.begin(), names.end());
        known +=
            fmt::format("{}{}: {}", known.empty() ? "" : "; ", row.plural, fmt::join(names, ", "));
    }
    const auto nearest = nearest_name(asked, all);
    throw ConfigError(fmt::format("there is no file '{}' and no bundled item of that name", asked),
                      nearest ? fmt::format("did you mean '{}'? {}", *nearest, known) : known);
}

SystemConfig parse_system(const std::string& text, const std::string& file, NpuFamilies families) {
    return read_system_fields(parse_yaml(text, file), families);
}

SystemConfig read_system_fields(const ConfigNode& root, NpuFamilies families) {
    SystemConfig system;
    system.family = &family_of(root.find("family"), families);
    system.npu = system.family->defaults();
    StructReader reader(root, {});
    ConfigNode family;
    ConfigNode host;
    reader.field("family", family, {});
    reader.field("host", host, {});
    AnyConfig::describe(reader, system.npu);
    reader.finish();
    if (host.kind != ConfigNode::Kind::Null) {
        read_value(host, system.host, "host");
    }
    return system;
}

}  // namespace npuscope
