// SPDX-License-Identifier: Apache-2.0
// Legal values of the fields of a configuration, and relations that must hold between fields: rows
// of two tables here, after those of the NPU's family. A configuration that breaks one could not be built as hardware, or is not
// supported by this simulator; it is refused, naming the nearest legal values.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "models/base/diagnostic.h"
#include "sim/config/system_config.h"
#include "sim/config/yaml_reader.h"

namespace npuscope {

/// `4 to 128, a power of two`; empty for a field that may have any value of its type (`type` as
/// named by `npuscope list fields`). `family` is null for a field that is not an NPU's.
std::string limit_text(const NpuFamily* family, std::string_view field, std::string_view type);

/// The sentence of every relation that the field is part of, one per line.
std::string relations_text(const NpuFamily* family, std::string_view field);

/// ConfigError for the first broken limit or relation. `place_of` returns where a field, by its
/// dotted name, was given its value.
void check_limits(const SystemConfig& system,
                  const std::function<Place(const std::string& field)>& place_of);

/// ConfigError at `place` if the row of this name does not allow the value; `field` is its name in
/// the message, `--max-cycles` for an option. A row for a list's elements is named like
/// `network.layers[].kernel`.
void check_limit(const std::string& row, const std::string& field, std::uint64_t value,
                 const Place& place);

/// Checks the numbers of a struct read from `node` against the rows that begin with `path`.
class LimitChecker {
 public:
    LimitChecker(const ConfigNode& node, std::string row, std::string field)
        : node_(node), row_(std::move(row)), field_(std::move(field)) {}

    template <class T>
    void field(std::string_view name, const T& value, std::string_view /*sentence*/) {
        if (const ConfigNode* child = node_.find(name)) {
            check(*child, value, join_path(row_, name), join_path(field_, name));
        }
    }
    template <class T>
    void required(std::string_view name, const T& value, std::string_view sentence) {
        field(name, value, sentence);
    }

 private:
    template <class T>
    static void check(const ConfigNode& node, const T& value, const std::string& row,
                      const std::string& field) {
        if constexpr (is_optional<T>) {
            value ? check(node, *value, row, field) : void();
        } else if constexpr (is_vector<T>) {
            for (std::size_t i = 0; i < value.size(); ++i) {
                check(node.items[i], value[i], row + "[]", index_path(field, i));
            }
        } else if constexpr (is_quantity<T>) {
            check_limit(row, field, value.value, node.place);
        } else if constexpr (PlainInteger<T>) {
            check_limit(row, field, value, node.place);
        } else if constexpr (Described<T>) {
            LimitChecker inner(node, row, field);
            T::describe(inner, value);
        }
    }

    const ConfigNode& node_;
    std::string row_;
    std::string field_;
};

/// A struct from YAML text, as read_yaml() returns it, with its numbers within their limits.
template <Described T>
T read_limited(const ConfigNode& root, const std::string& kind) {
    T value;
    read_value(root, value, {});
    LimitChecker checker(root, kind, {});
    T::describe(checker, std::as_const(value));
    return value;
}

}  // namespace npuscope
