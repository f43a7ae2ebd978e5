// SPDX-License-Identifier: Apache-2.0
// A YAML document as our own tree, every node with its place. Stricter than YAML: one document, no
// duplicate keys, no anchors, aliases or merges. Types are defined by the struct that is read, so a
// scalar stays text here. A field of this type is read by code other than its struct: a preset's
// name, or its fields.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/error.h"

namespace npuscope {

struct ConfigNode {
    enum class Kind { Null, Scalar, Sequence, Map };
    struct Key {
        std::string name;
        Place place;
    };

    Kind kind = Kind::Null;
    Place place;
    std::string text;               ///< of a scalar
    std::vector<Key> keys;          ///< of a map, one per item
    std::vector<ConfigNode> items;  ///< of a map or a sequence

    const ConfigNode* find(std::string_view key) const;
};

/// `file` is how messages name the text.
ConfigNode parse_yaml(const std::string& text, const std::string& file);
/// Whether a file with a YAML extension holds a map with this key. ConfigError if it is not YAML.
bool file_has_key(const std::filesystem::path& path, std::string_view key);
/// Sets the place of every node to `place`: for text that is not from a file.
void move_to(ConfigNode& node, const Place& place);
/// `a mapping`, `a list`, `a single value`, `nothing`.
std::string_view kind_name(ConfigNode::Kind kind);

}  // namespace npuscope
