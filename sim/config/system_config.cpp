// SPDX-License-Identifier: Apache-2.0
#include "sim/config/system_config.h"

#include <algorithm>

#include "sim/config/nearest_name.h"

namespace npuscope {
namespace {

/// Takes a key out of a map; null where it is not there.
ConfigNode take(ConfigNode& map, std::string_view key) {
    ConfigNode taken;
    const auto found = std::ranges::find(map.keys, key, &ConfigNode::Key::name);
    if (map.kind == ConfigNode::Kind::Map && found != map.keys.end()) {
        const auto item = map.items.begin() + (found - map.keys.begin());
        taken = std::move(*item);
        map.items.erase(item);
        map.keys.erase(found);
    }
    return taken;
}

const NpuFamily& family_of(const ConfigNode& node, NpuFamilies families) {
    const std::string name =
        node.kind == ConfigNode::Kind::Null ? "nvdla" : read_text(node, "family");
    const auto found =
        std::ranges::find(families, name, [](const NpuFamily* family) { return family->name(); });
    if (found == families.end()) {
        std::vector<std::string> known;
        std::ranges::transform(families, std::back_inserter(known),
                               [](const NpuFamily* family) { return std::string(family->name()); });
        refuse_name(node, "family", known);
    }
    return **found;
}

}  // namespace

SystemConfig parse_system(const std::string& text, const std::string& file, NpuFamilies families) {
    ConfigNode root = parse_yaml(text, file);
    SystemConfig system;
    system.family = &family_of(take(root, "family"), families);
    if (const ConfigNode host = take(root, "host"); host.kind != ConfigNode::Kind::Null) {
        read_value(host, system.host, "host");
    }
    system.npu = system.family->defaults();
    read_value(root, system.npu, {});
    return system;
}

}  // namespace npuscope
