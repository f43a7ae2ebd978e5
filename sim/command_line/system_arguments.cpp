// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/system_arguments.h"

#include <CLI/CLI.hpp>

#include "sim/config/preset.h"
#include "sim/config/yaml_reader.h"

namespace npuscope {

void add_system_options(CLI::App& app, SystemArguments& arguments, NpuFamilies families) {
    arguments.families = families;
    app.add_option("--npu", arguments.npu, "preset of the NPU, by name or file")
        ->capture_default_str();
    app.add_option("--memory", arguments.memory, "preset of the memory, by name or file")
        ->default_str("dram_50, or what the NPU's preset names");
    app.add_option("--set", arguments.changes,
                   "KEY=VALUE changes a field of the configuration; may be repeated")
        ->allow_extra_args(false);
}

SystemConfig read_system(const SystemArguments& arguments) {
    const auto folder = configs_folder();
    const PresetFile preset = find_preset(folder, "npu", arguments.npu);
    SystemConfig system = parse_system(read_preset_text(preset), preset.shown, arguments.families);
    const std::string memory =
        arguments.memory.empty() ? system.family->memory_preset(system.npu) : arguments.memory;
    if (!memory.empty()) {
        system.memory = read_preset<MemoryConfig>(find_preset(folder, "memory", memory));
    }
    for (const std::string& change : arguments.changes) {
        override_field(system, change);
    }
    return system;
}

}  // namespace npuscope
