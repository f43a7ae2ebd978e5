// SPDX-License-Identifier: Apache-2.0
// Described structs to JSON with stable key order. Quantities are plain numbers in bytes, cycles or
// hertz; addresses are hexadecimal text; an optional without a value is null.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "sim/config/field_types.h"

namespace npuscope {

using Json = nlohmann::ordered_json;

/// Any text in quotes, valid in JSON and in YAML.
inline std::string quoted(const std::string& text) {
    return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <class T>
Json to_json(const T& value);

class JsonWriter {
 public:
    template <class T>
    void field(std::string_view name, const T& value, std::string_view /*sentence*/) {
        object_[std::string(name)] = to_json(value);
    }
    template <class T>
    void required(std::string_view name, const T& value, std::string_view sentence) {
        field(name, value, sentence);
    }
    Json take() { return std::move(object_); }

 private:
    Json object_ = Json::object();
};

template <class T>
Json to_json(const T& value) {
    if constexpr (std::same_as<T, bool> || PlainInteger<T> || std::same_as<T, std::string>) {
        return Json(value);
    } else if constexpr (std::same_as<T, Address>) {
        return Json(to_hex(value));
    } else if constexpr (is_quantity<T>) {
        return Json(value.value);
    } else if constexpr (DescribedEnum<T>) {
        return Json(std::string(enum_name(value)));
    } else if constexpr (is_optional<T>) {
        return value ? to_json(*value) : Json(nullptr);
    } else if constexpr (is_vector<T>) {
        Json list = Json::array();
        for (const auto& item : value) {
            list.push_back(to_json(item));
        }
        return list;
    } else {
        static_assert(Described<T>, "describe() lists a field of a kind that JSON cannot hold");
        JsonWriter writer;
        T::describe(writer, value);
        return writer.take();
    }
}

}  // namespace npuscope
