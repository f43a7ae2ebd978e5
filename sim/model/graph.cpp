// SPDX-License-Identifier: Apache-2.0
#include "sim/model/graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>

#include "models/base/error.h"

namespace npuscope {
namespace {

unsigned bits_of(ElementType type) {
    switch (type) {
        case ElementType::Bool:
            return 1;
        case ElementType::Int8:
        case ElementType::Uint8:
            return 8;
        case ElementType::Int16:
        case ElementType::Uint16:
            return 16;
        case ElementType::Int32:
        case ElementType::Uint32:
        case ElementType::Float32:
            return 32;
        default:
            return 64;
    }
}

bool is_signed(ElementType type) {
    return type == ElementType::Int8 || type == ElementType::Int16 || type == ElementType::Int32 ||
           type == ElementType::Int64;
}

template <class T>
T typed(const GraphNode& node, const std::string& attribute, T fallback) {
    const auto found = node.attributes.find(attribute);
    if (found == node.attributes.end()) {
        return fallback;
    }
    if (const T* value = std::get_if<T>(&found->second)) {
        return *value;
    }
    throw ConfigError(fmt::format("attribute '{}' is of the wrong kind", attribute),
                      "write the model with an exporter that follows the operator's definition");
}

double wrapped(double number, ElementType type) {
    const unsigned bits = bits_of(type);
    if (bits == 64) {
        return std::trunc(number);
    }
    const double span = std::ldexp(1.0, static_cast<int>(bits));
    double rest = std::fmod(std::trunc(number), span);
    if (!std::isfinite(rest)) {
        return 0;
    }
    if (rest < 0) {
        rest += span;
    }
    return is_signed(type) && rest >= span / 2 ? rest - span : rest;
}

}  // namespace

bool is_float(ElementType type) {
    return type == ElementType::Float32 || type == ElementType::Float64;
}

NumberRange range_of(ElementType type) {
    if (is_float(type)) {
        constexpr double infinite = std::numeric_limits<double>::infinity();
        return {-infinite, infinite};
    }
    const int bits = static_cast<int>(bits_of(type));
    if (is_signed(type)) {
        return {-std::ldexp(1.0, bits - 1), std::ldexp(1.0, bits - 1) - 1};
    }
    return {0, std::ldexp(1.0, bits) - 1};
}

std::size_t count_elements(const Sizes& sizes, std::int64_t most) {
    std::int64_t elements = 1;
    for (const std::int64_t size : sizes) {
        if (size < 0 || size > most) {
            throw ConfigError(fmt::format("{} is no size of a tensor", size),
                              fmt::format("sizes are 0 to {}", most));
        }
        elements *= size;
        if (elements > most) {
            throw ConfigError(
                fmt::format("a tensor of {} has too many elements", sizes_text(sizes)),
                fmt::format("a tensor may have {} of them", most));
        }
    }
    return static_cast<std::size_t>(elements);
}

std::string sizes_text(const Sizes& sizes) {
    return sizes.empty() ? "scalar" : fmt::format("{}", fmt::join(sizes, "x"));
}

GraphValue zeros(const TensorType& type) {
    return {type, std::vector<double>(count_elements(type.sizes, most_made_elements), 0.0)};
}

void settle(GraphValue& value) {
    const ElementType type = value.type.element;
    if (type == ElementType::Float64) {
        return;
    }
    for (double& number : value.numbers) {
        if (type == ElementType::Float32) {
            number = static_cast<double>(static_cast<float>(number));
        } else if (type == ElementType::Bool) {
            number = number != 0 ? 1 : 0;
        } else {
            number = wrapped(number, type);
        }
    }
}

std::int64_t to_integer(double number) {
    constexpr double limit = 9223372036854775808.0;  // 2^63
    if (std::isnan(number)) {
        return 0;
    }
    if (number >= limit) {
        return std::numeric_limits<std::int64_t>::max();
    }
    if (number < -limit) {
        return std::numeric_limits<std::int64_t>::min();
    }
    return static_cast<std::int64_t>(number);
}

std::int64_t GraphNode::integer(const std::string& attribute, std::int64_t fallback) const {
    return typed(*this, attribute, fallback);
}
double GraphNode::number(const std::string& attribute, double fallback) const {
    return typed(*this, attribute, fallback);
}
std::string GraphNode::text(const std::string& attribute, const std::string& fallback) const {
    return typed(*this, attribute, fallback);
}
std::vector<std::int64_t> GraphNode::integers(const std::string& attribute) const {
    return typed(*this, attribute, std::vector<std::int64_t>{});
}

const std::string& GraphNode::input(std::size_t index) const {
    static const std::string none;
    return index < inputs.size() ? inputs[index] : none;
}

const GraphValue* Graph::constant(const std::string& tensor) const {
    const auto found = constants.find(tensor);
    return found == constants.end() ? nullptr : &found->second;
}

const std::string& node_name(const GraphNode& node) {
    static const std::string none = "?";
    if (!node.name.empty()) {
        return node.name;
    }
    return node.outputs.empty() ? none : node.outputs.front();
}

std::string node_text(const GraphNode& node) {
    return fmt::format("'{}' ({})", node_name(node), node.op);
}

}  // namespace npuscope
