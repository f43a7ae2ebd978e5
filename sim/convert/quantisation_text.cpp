// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "models/base/error.h"
#include "sim/convert/conversion.h"

namespace npuscope {

namespace {

[[noreturn]] void refuse(const std::string& text, std::string_view item) {
    throw ConfigError(fmt::format("quantisation '{}': '{}' is not understood", text, item),
                      "e.g. scale=1.5/1.25,radix=6/5,axis=C,math=float32");
}

/// Calls visit(part) for each part of a text that `separator` joins.
template <class Visit>
void for_each_part(std::string_view text, char separator, Visit visit) {
    while (true) {
        const std::size_t end = text.find(separator);
        visit(text.substr(0, end));
        if (end == std::string_view::npos) {
            return;
        }
        text = text.substr(end + 1);
    }
}

template <class T>
std::vector<T> numbers(const std::string& text, std::string_view list) {
    std::vector<T> found;
    for_each_part(list, '/', [&](std::string_view item) {
        T value{};
        const char* const end = item.data() + item.size();
        const auto result = std::from_chars(item.data(), end, value);
        if (result.ec != std::errc() || result.ptr != end) {
            refuse(text, item);
        }
        found.push_back(value);
    });
    return found;
}

}  // namespace

Quantisation parse_quantisation(const std::string& text) {
    Quantisation quantisation;
    std::vector<float> scale{1};
    std::vector<int> radix{0};
    for_each_part(text, ',', [&](std::string_view item) {
        const std::size_t equals = item.find('=');
        const std::string_view key = item.substr(0, equals);
        const std::string_view value =
            equals == std::string_view::npos ? std::string_view() : item.substr(equals + 1);
        if (key == "scale") {
            scale = numbers<float>(text, value);
        } else if (key == "radix") {
            radix = numbers<int>(text, value);
        } else if (key == "axis" && value.size() == 1 && value[0] >= 'A' && value[0] <= 'Z') {
            quantisation.axis = value[0];
        } else if (key == "math" && (value == "float32" || value == "float64")) {
            quantisation.math = value == "float32" ? QuantiseMath::Float32 : QuantiseMath::Float64;
        } else {
            refuse(text, item);
        }
    });
    quantisation.factors = quantise_factors(scale, radix);
    if (quantisation.factors.empty()) {
        throw ConfigError(fmt::format("quantisation '{}' has {} scales and {} radices", text,
                                      scale.size(), radix.size()),
                          "as many of one as of the other, or a single one");
    }
    for (const float factor : quantisation.factors) {
        if (!std::isfinite(factor) || factor == 0) {
            throw ConfigError(fmt::format("quantisation '{}' has a factor of {}", text, factor),
                              "scale * 2^radix must be a number other than 0");
        }
    }
    return quantisation;
}

}  // namespace npuscope
