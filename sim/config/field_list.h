// SPDX-License-Identifier: Apache-2.0
// Every field of a described struct as one row: what `npuscope list fields` prints and the
// reference page is made of. The fields of list elements appear once, under `name[]`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/config/yaml_writer.h"

namespace npuscope {

struct FieldRow {
    std::string name;  ///< dotted, e.g. `memory.regions[].size`
    std::string type;  ///< `bytes`, `one of a, b`, `list of text`
    std::string default_text;
    std::string sentence;
};

template <class T>
std::string field_type() {
    if constexpr (std::same_as<T, bool>) {
        return "true or false";
    } else if constexpr (PlainInteger<T>) {
        return "integer";
    } else if constexpr (is_quantity<T>) {
        return std::string(unit_kind_name(unit_kind_of<T>));
    } else if constexpr (std::same_as<T, std::string>) {
        return "text";
    } else if constexpr (DescribedEnum<T>) {
        std::string names;
        for (const std::string& name : enum_names<T>()) {
            names += (names.empty() ? "" : ", ") + name;
        }
        return "one of " + names;
    } else if constexpr (is_optional<T>) {
        return "optional " + field_type<typename T::value_type>();
    } else if constexpr (is_vector<T>) {
        return "list of " + field_type<typename T::value_type>();
    } else {
        return "fields";
    }
}

class FieldLister {
 public:
    FieldLister(std::string path, std::vector<FieldRow>& rows)
        : path_(std::move(path)), rows_(rows) {}

    template <class T>
    void field(std::string_view name, const T& value, std::string_view sentence) {
        list(join_path(path_, name), value, sentence);
    }
    template <class T>
    void required(std::string_view name, const T& /*value*/, std::string_view sentence) {
        rows_.push_back(
            {join_path(path_, name), field_type<T>(), "required", std::string(sentence)});
    }

 private:
    template <class T>
    void list(const std::string& name, const T& value, std::string_view sentence) {
        if constexpr (is_inline<T>()) {
            rows_.push_back({name, field_type<T>(), yaml_scalar(value), std::string(sentence)});
        } else if constexpr (is_vector<T>) {
            rows_.push_back({name, field_type<T>(), std::to_string(value.size()) + " entries",
                             std::string(sentence)});
            list(name + "[]", value.empty() ? typename T::value_type{} : value.front(), sentence);
        } else if constexpr (is_optional<T>) {
            list(name, value.value_or(typename T::value_type{}), sentence);
        } else {
            FieldLister inner(name, rows_);
            T::describe(inner, value);
        }
    }

    std::string path_;
    std::vector<FieldRow>& rows_;
};

/// The fields of a struct with the values of `value` as their defaults.
template <Described T>
std::vector<FieldRow> list_fields(const T& value = T{}) {
    std::vector<FieldRow> rows;
    FieldLister lister({}, rows);
    T::describe(lister, value);
    return rows;
}

}  // namespace npuscope
