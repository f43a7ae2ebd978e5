// SPDX-License-Identifier: Apache-2.0
// Described structs back to YAML: every field, with its unit, such that reading the text produces
// the same struct. An optional without a value is written as null. Also their fields as a list,
// with type, range, default and sentence.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/config_node.h"
#include "sim/config/field_types.h"

namespace npuscope {

/// A string as a YAML scalar: bare if that is unambiguous, else quoted and escaped.
std::string yaml_quoted(const std::string& text);

/// A tree on one line: `{read_latency: 50, regions: [a, b]}`.
std::string flow_yaml(const ConfigNode& node);

/// Whether a field fits on one line: everything but structs and lists of structs.
template <class T>
constexpr bool is_inline() {
    if constexpr (is_optional<T> || is_vector<T>) {
        return is_inline<typename T::value_type>();
    } else {
        return !Described<T>;
    }
}

template <class T>
std::string yaml_scalar(const T& value) {
    if constexpr (std::same_as<T, ConfigNode>) {
        return flow_yaml(value);
    } else if constexpr (std::same_as<T, bool>) {
        return value ? "true" : "false";
    } else if constexpr (PlainInteger<T>) {
        return std::to_string(value);
    } else if constexpr (is_quantity<T>) {
        return format_quantity(value.value, unit_kind_of<T>);
    } else if constexpr (std::same_as<T, std::string>) {
        return yaml_quoted(value);
    } else if constexpr (DescribedEnum<T>) {
        return std::string(enum_name(value));
    } else if constexpr (is_optional<T>) {
        return value ? yaml_scalar(*value) : "null";
    } else {
        static_assert(is_vector<T>, "describe() lists a field of a kind that YAML cannot hold");
        std::string text;
        for (const auto& item : value) {
            text += (text.empty() ? "" : ", ") + yaml_scalar(item);
        }
        return "[" + text + "]";
    }
}

class YamlWriter {
 public:
    explicit YamlWriter(std::size_t indent = 0) : indent_(indent) {}

    template <class T>
    void field(std::string_view name, const T& value, std::string_view /*sentence*/) {
        text_ += std::string(indent_, ' ');
        text_ += name;
        text_ += ':';
        if constexpr (is_inline<T>()) {
            text_ += ' ' + yaml_scalar(value) + '\n';
        } else {
            write_block(value);
        }
    }
    template <class T>
    void required(std::string_view name, const T& value, std::string_view sentence) {
        field(name, value, sentence);
    }
    const std::string& text() const { return text_; }

 private:
    template <class T>
    void write_block(const T& value) {
        if constexpr (is_optional<T>) {
            value ? write_block(*value) : void(text_ += " null\n");
        } else if constexpr (is_vector<T>) {
            text_ += value.empty() ? " []\n" : "\n";
            for (const auto& item : value) {
                write_item(item);
            }
        } else {
            YamlWriter inner(indent_ + 2);
            T::describe(inner, value);
            text_ += inner.text_.empty() ? " {}\n" : '\n' + inner.text_;
        }
    }
    template <Described T>
    void write_item(const T& item) {
        YamlWriter inner(indent_ + 4);
        T::describe(inner, item);
        std::string lines =
            inner.text_.empty() ? std::string(indent_ + 4, ' ') + "{}\n" : inner.text_;
        lines[indent_ + 2] = '-';
        text_ += lines;
    }

    std::size_t indent_;
    std::string text_;
};

template <Described T>
std::string write_yaml(const T& value) {
    YamlWriter writer;
    T::describe(writer, value);
    return writer.text();
}

/// A field as `npuscope list fields` prints it. Those of list elements appear once, under `name[]`.
struct FieldRow {
    std::string name;  ///< dotted, e.g. `memory.regions[].size`
    std::string type;  ///< `bytes`, `one of a, b`, `list of text`
    std::string default_text;
    std::string sentence;
    std::string holds{};  ///< range of a number's type: `0 to 4294967295`
};

/// Shown as the default of a field that must be given.
inline constexpr const char* required_field = "required";

/// For a number's type.
template <class T>
std::string type_range() {
    if constexpr (is_optional<T>) {
        return type_range<typename T::value_type>();
    } else if constexpr (PlainInteger<T>) {
        return "0 to " + std::to_string(std::numeric_limits<T>::max());
    } else if constexpr (std::same_as<T, Address>) {
        return "0x0 to 0xffffffffffffffff";
    } else if constexpr (is_quantity<T>) {
        return "0 to " + std::to_string(std::numeric_limits<std::uint64_t>::max());
    } else {
        return {};
    }
}

template <class T>
std::string field_type() {
    if constexpr (std::same_as<T, ConfigNode>) {
        return "value or fields";
    } else if constexpr (std::same_as<T, bool>) {
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
    void required(std::string_view name, const T& value, std::string_view sentence) {
        if constexpr (is_inline<T>() || is_vector<T>) {
            rows_.push_back({join_path(path_, name), field_type<T>(), required_field,
                             std::string(sentence), type_range<T>()});
        }
        if constexpr (!is_inline<T>() && is_vector<T>) {
            list_items(join_path(path_, name), value, sentence);
        } else if constexpr (!is_inline<T>()) {
            list(join_path(path_, name), value, sentence);
        }
    }

 private:
    template <class T>
    void list_items(const std::string& name, const T& values, std::string_view sentence) {
        list(name + "[]", values.empty() ? typename T::value_type{} : values.front(), sentence);
    }
    template <class T>
    void list(const std::string& name, const T& value, std::string_view sentence) {
        if constexpr (is_inline<T>()) {
            rows_.push_back({name, field_type<T>(), yaml_scalar(value), std::string(sentence),
                             type_range<T>()});
        } else if constexpr (is_vector<T>) {
            rows_.push_back(
                {name, field_type<T>(),
                 std::to_string(value.size()) + (value.size() == 1 ? " entry" : " entries"),
                 std::string(sentence)});
            list_items(name, value, sentence);
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
