// SPDX-License-Identifier: Apache-2.0
#include "sim/embed/embedded_system.h"

#include <string_view>

#include "sim/command_line/command.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/compile/tinpu/tinpu_target.h"

namespace npuscope {
namespace {

NpuFamilies families() {
    static const NvdlaFamily nvdla;
    static const TinpuFamily tinpu;
    static const std::vector<const NpuFamily*> all{&nvdla, &tinpu};
    return all;
}

}  // namespace

SystemConfig read_embedded_system(const std::string& npu, const std::vector<std::string>& changes) {
    SystemArguments arguments;
    arguments.families = families();
    arguments.npu = npu;
    constexpr std::string_view memory = "memory=";
    for (const std::string& change : changes) {
        if (change.starts_with(memory) && change.size() > memory.size()) {
            arguments.memory = change.substr(memory.size());
        } else {
            arguments.changes.push_back(change);
        }
    }
    return read_system(arguments);
}

}  // namespace npuscope
