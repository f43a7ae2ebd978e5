// SPDX-License-Identifier: Apache-2.0
#include "sim/layers/layer_system.h"

#include "sim/config/yaml_reader.h"

namespace npuscope {

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
