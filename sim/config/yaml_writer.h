// SPDX-License-Identifier: Apache-2.0
// Described structs back to YAML: every field, with its unit, such that reading the text gives the
// same struct. An optional without a value is written as null.
#pragma once

#include <string>
#include <string_view>

#include "sim/config/field_types.h"

namespace npuscope {

/// A string as a YAML scalar: bare where that is unambiguous, else quoted and escaped.
std::string yaml_quoted(const std::string& text);

/// Whether a field takes one line: everything but structs and lists of structs.
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
    if constexpr (std::same_as<T, bool>) {
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

}  // namespace npuscope
