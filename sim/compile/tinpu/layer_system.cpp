// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/tinpu/layer_system.h"

#include "sim/config/preset.h"

namespace npuscope {

LayerSystem read_layer_system(const std::filesystem::path& configs, const std::string& npu,
                              const std::string& memory) {
    LayerSystem system;
    system.npu = read_preset<LayerNpuConfig>(find_preset(configs, "npu", npu));
    const std::string& chosen = memory.empty() ? system.npu.memory : memory;
    if (!chosen.empty()) {
        system.memory = read_preset<MemoryConfig>(find_preset(configs, "memory", chosen));
    }
    return system;
}

NpuFamily family_of(const std::string& text, const std::string& file) {
    const ConfigNode root = parse_yaml(text, file);
    NpuFamily family = NpuFamily::Nvdla;
    if (root.kind == ConfigNode::Kind::Map) {
        if (const ConfigNode* node = root.find("family")) {
            read_value(*node, family, "family");
        }
    }
    return family;
}

}  // namespace npuscope
