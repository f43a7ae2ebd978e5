// SPDX-License-Identifier: Apache-2.0
// `--set KEY=VALUE`: one field of a struct by its dotted name, `memory.regions[0].size=1 GiB`. The
// value is YAML and is read exactly as a value in a file would be.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/yaml_reader.h"

namespace npuscope {

/// One part of a dotted name.
struct PathStep {
    std::string name;
    std::optional<std::size_t> index;
};

struct FieldOverride {
    std::vector<PathStep> steps;
    ConfigNode value;  ///< stands at the place `--set KEY=VALUE`
};

/// `KEY=VALUE`.
FieldOverride parse_override(const std::string& text);

namespace detail {

[[noreturn]] void refuse_step(const Place& place, const std::string& path, std::string_view what);
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
        known_.emplace_back(name);
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
    OverrideVisitor visitor(steps, node, path);
    T::describe(visitor, value);
    visitor.finish();
}

template <class T>
void override_element(std::vector<T>& values, const PathStep& step, std::span<const PathStep> rest,
                      const ConfigNode& node, const std::string& path) {
    if (*step.index >= values.size()) {
        refuse_step(node.place, index_path(path, *step.index),
                    "lies beyond the list of " + std::to_string(values.size()));
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
        refuse_step(node.place, path, "is not a list");
    }
    if (rest.empty()) {
        return read_value(node, value, path);
    }
    if constexpr (is_optional<T>) {
        override_value(value ? *value : value.emplace(), step, rest, node, path);
    } else if constexpr (Described<T>) {
        override_struct(value, rest, node, path);
    } else {
        refuse_step(node.place, path, is_vector<T> ? "is a list: give an index" : "has no fields");
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
