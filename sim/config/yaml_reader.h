// SPDX-License-Identifier: Apache-2.0
// Text to described structs: every key must be a field, every value of the field's kind. What the
// text leaves out keeps the value it had; a field described as `required` must be there. Every
// mistake is a ConfigError with the place of the key or value.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/config_node.h"
#include "sim/config/field_types.h"

namespace npuscope {

bool read_bool(const ConfigNode& node, const std::string& path);
std::uint64_t read_unsigned(const ConfigNode& node, const std::string& path, UnitKind kind,
                            std::uint64_t most);
std::string read_text(const ConfigNode& node, const std::string& path);
[[noreturn]] void refuse_name(const ConfigNode& node, const std::string& path,
                              const std::vector<std::string>& known);
void expect_kind(const ConfigNode& node, ConfigNode::Kind kind, const std::string& path);

template <class T>
void read_value(const ConfigNode& node, T& value, const std::string& path);

/// Reads the fields of one struct from one map.
class StructReader {
 public:
    StructReader(const ConfigNode& node, std::string path);

    template <class T>
    void field(std::string_view name, T& value, std::string_view /*sentence*/) {
        if (const ConfigNode* child = take(name)) {
            read_value(*child, value, join_path(path_, name));
        }
    }
    template <class T>
    void required(std::string_view name, T& value, std::string_view sentence) {
        if (node_.find(name) == nullptr) {
            refuse_missing(name, sentence);
        }
        field(name, value, sentence);
    }
    /// Every key must have been a field.
    void finish() const;

 private:
    const ConfigNode* take(std::string_view name);
    [[noreturn]] void refuse_missing(std::string_view name, std::string_view sentence) const;

    const ConfigNode& node_;
    std::string path_;
    std::vector<std::string> known_;
};

template <class T>
void read_items(const ConfigNode& node, std::vector<T>& values, const std::string& path) {
    expect_kind(node, ConfigNode::Kind::Sequence, path);
    values.clear();
    values.resize(node.items.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        read_value(node.items[i], values[i], index_path(path, i));
    }
}

template <class T>
void read_value(const ConfigNode& node, T& value, const std::string& path) {
    if constexpr (std::same_as<T, bool>) {
        value = read_bool(node, path);
    } else if constexpr (PlainInteger<T>) {
        value = static_cast<T>(
            read_unsigned(node, path, UnitKind::Plain, std::numeric_limits<T>::max()));
    } else if constexpr (is_quantity<T>) {
        value = T(
            read_unsigned(node, path, unit_kind_of<T>, std::numeric_limits<std::uint64_t>::max()));
    } else if constexpr (std::same_as<T, std::string>) {
        value = read_text(node, path);
    } else if constexpr (DescribedEnum<T>) {
        const auto found = enum_from_name<T>(read_text(node, path));
        found ? void(value = *found) : refuse_name(node, path, enum_names<T>());
    } else if constexpr (is_optional<T>) {
        node.kind == ConfigNode::Kind::Null ? value.reset()
                                            : read_value(node, value.emplace(), path);
    } else if constexpr (is_vector<T>) {
        read_items(node, value, path);
    } else {
        static_assert(Described<T>, "describe() lists a field of a kind that YAML cannot hold");
        StructReader reader(node, path);
        T::describe(reader, value);
        reader.finish();
    }
}

/// A struct from YAML text; `file` is how messages name it.
template <Described T>
T read_yaml(const std::string& text, const std::string& file) {
    T value;
    read_value(parse_yaml(text, file), value, {});
    return value;
}

}  // namespace npuscope
