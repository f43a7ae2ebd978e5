// SPDX-License-Identifier: Apache-2.0
// Text to described structs: every key must be a field, every value of the field's kind. What the
// text leaves out keeps its previous value; a field described as `required` must be present. Every
// mistake is a ConfigError with the place of the key or value.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/error.h"
#include "models/base/follow.h"
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

/// Adds the name of a field to those known; a struct with derived fields is described twice.
void add_name(std::vector<std::string>& known, std::string_view name);

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
        if (node_.find(name) == nullptr && missing_.empty()) {
            missing_ = name;
            missing_sentence_ = sentence;
        }
        field(name, value, sentence);
    }
    /// Every key must have been a field: a missing one may be misspelt. None must be missing.
    void finish() const;

 private:
    const ConfigNode* take(std::string_view name);

    const ConfigNode& node_;
    std::string path_;
    std::vector<std::string> known_;
    std::string missing_{};  ///< the first required field that is not there
    std::string missing_sentence_{};
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
    if constexpr (std::same_as<T, ConfigNode>) {
        value = node;
    } else if constexpr (std::same_as<T, bool>) {
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
        if constexpr (Deriving<T>) {
            // the text's values affect derived ones; those that it sets itself are read again
            T before = value;
            StructReader first(node, path);
            T::describe(first, value);
            follow(value, std::move(before));
        }
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

// `--set KEY=VALUE`: one field of a struct by its dotted name, `memory.regions[0].size=1 GiB`. The
// value is YAML and is read exactly as a value in a file would be.

/// One part of a dotted name.
struct PathStep {
    std::string name;
    std::optional<std::size_t> index;
};

struct FieldOverride {
    std::vector<PathStep> steps;
    ConfigNode value;  ///< its place is `--set KEY=VALUE`
};

/// `KEY=VALUE`.
FieldOverride parse_override(const std::string& text);

namespace detail {

[[noreturn]] void refuse_step(const Place& place, const std::string& path, std::string_view what,
                              const std::string& remedy);
[[noreturn]] void refuse_unknown_step(const Place& place, const std::string& path,
                                      std::string_view name, const std::vector<std::string>& known);

template <class T>
void override_value(T& value, const PathStep& step, std::span<const PathStep> rest,
                    const ConfigNode& node, const std::string& path);

class OverrideVisitor {
 public:
    OverrideVisitor(std::span<const PathStep> steps, const ConfigNode& node, std::string path)
        : steps_(steps), node_(node), path_(std::move(path)) {}

    template <class T>
    void field(std::string_view name, T& value, std::string_view /*sentence*/) {
        add_name(known_, name);
        if (name == steps_.front().name) {
            found_ = true;
            override_value(value, steps_.front(), steps_.subspan(1), node_, join_path(path_, name));
        }
    }
    template <class T>
    void required(std::string_view name, T& value, std::string_view sentence) {
        field(name, value, sentence);
    }
    void finish() const {
        if (!found_) {
            refuse_unknown_step(node_.place, path_, steps_.front().name, known_);
        }
    }

 private:
    std::span<const PathStep> steps_;
    const ConfigNode& node_;
    std::string path_;
    std::vector<std::string> known_;
    bool found_ = false;
};

template <Described T>
void override_struct(T& value, std::span<const PathStep> steps, const ConfigNode& node,
                     const std::string& path) {
    if constexpr (Deriving<T>) {
        T before = value;
        OverrideVisitor first(steps, node, path);
        T::describe(first, value);
        first.finish();
        follow(value, std::move(before));
    }
    OverrideVisitor visitor(steps, node, path);
    T::describe(visitor, value);
    visitor.finish();
}

template <class T>
void override_element(std::vector<T>& values, const PathStep& step, std::span<const PathStep> rest,
                      const ConfigNode& node, const std::string& path) {
    if (*step.index >= values.size()) {
        refuse_step(
            node.place, index_path(path, *step.index),
            "lies beyond the end of the list, whose length is " + std::to_string(values.size()),
            values.empty() ? "give the whole list"
                           : "the last one is " + index_path(path, values.size() - 1));
    }
    override_value(values[*step.index], PathStep{step.name, {}}, rest, node,
                   index_path(path, *step.index));
}

template <class T>
void override_value(T& value, const PathStep& step, std::span<const PathStep> rest,
                    const ConfigNode& node, const std::string& path) {
    if (step.index) {
        if constexpr (is_vector<T>) {
            return override_element(value, step, rest, node, path);
        }
        refuse_step(node.place, path, "is not a list", "leave out the index");
    }
    if (rest.empty()) {
        return read_value(node, value, path);
    }
    if constexpr (is_optional<T>) {
        override_value(value ? *value : value.emplace(), step, rest, node, path);
    } else if constexpr (Described<T>) {
        override_struct(value, rest, node, path);
    } else {
        refuse_step(node.place, path, is_vector<T> ? "is a list" : "has no fields",
                    is_vector<T> ? "give an index: " + index_path(path, 0)
                                 : "set it itself: " + path + "=VALUE");
    }
}

}  // namespace detail

template <Described T>
void override_field(T& config, const FieldOverride& change) {
    detail::override_struct(config, change.steps, change.value, {});
}
template <Described T>
void override_field(T& config, const std::string& text) {
    override_field(config, parse_override(text));
}

}  // namespace npuscope
