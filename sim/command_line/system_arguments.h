// SPDX-License-Identifier: Apache-2.0
// The options that name the machine, the same for every sub-command that builds one.
#pragma once

#include <string>
#include <vector>

#include "sim/config/system_config.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name
class App;
}

namespace npuscope {

struct SystemArguments {
    NpuFamilies families{};
    std::string npu = "nv_small";
    std::string memory{};              ///< empty: what goes with the NPU
    std::vector<std::string> changes;  ///< KEY=VALUE, in the order given
};

/// Adds --npu, --memory and --set. `arguments` must outlive the parsing.
void add_system_options(CLI::App& app, SystemArguments& arguments, NpuFamilies families);

/// Presets read, changes applied. ConfigError names the file or the change that is wrong.
SystemConfig read_system(const SystemArguments& arguments);

}  // namespace npuscope
