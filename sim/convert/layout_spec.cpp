// SPDX-License-Identifier: Apache-2.0
#include "sim/convert/layout_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "models/base/error.h"
#include "sim/config/nearest_name.h"

namespace npuscope {

namespace {

[[noreturn]] void refuse_name(const std::string& name) {
    std::vector<std::string> known;
    for (const LayoutRow* row : layout_catalog()) {
        known.emplace_back(row->name);
    }
    const std::optional<std::string> near = nearest_name(name, known);
    throw ConfigError(fmt::format("unknown layout '{}'", name),
                      near
                          ? fmt::format("did you mean '{}'?", *near)
                          : "see `npuscope list layouts`, or give a sentence like 'N C/8 H W C%8'");
}

bool looks_like_sentence(const std::string& text) {
    return text.find(' ') != std::string::npos ||
           (text.size() == 1 && text[0] >= 'A' && text[0] <= 'Z');
}

void add_parameter(LayoutSpec& spec, std::string_view item) {
    const std::size_t equals = item.find('=');
    std::uint64_t value = 0;
    const char* const end = item.data() + item.size();
    const char* const begin = equals == std::string_view::npos ? end : item.data() + equals + 1;
    const auto result = std::from_chars(begin, end, value);
    if (equals == 0 || result.ec != std::errc() || result.ptr != end) {
        throw ConfigError(fmt::format("layout '{}': '{}' is not a parameter", spec.text, item),
                          "parameters look like atom=8");
    }
    if (!spec.parameters.emplace(std::string(item.substr(0, equals)), value).second) {
        throw ConfigError(
            fmt::format("layout '{}': {} is given twice", spec.text, item.substr(0, equals)));
    }
}

}  // namespace

Layout LayoutSpec::bind_to(const LogicalShape& shape, std::uint32_t element) const {
    if (row != nullptr) {
        return make_layout(*row, {shape, element, parameters});
    }
    return bind(sentence, shape, {.name = text, .element = element});
}

std::variant<Layout, Diagnostic> LayoutSpec::try_bind(const LogicalShape& shape,
                                                      std::uint32_t element) const {
    try {
        return bind_to(shape, element);
    } catch (const ConfigError& error) {
        return Diagnostic{.sentence = error.sentence(), .remedy = error.remedy()};
    }
}

std::string LayoutSpec::axes_for(std::size_t extents) const {
    if (row != nullptr && row->axes == "KCRS" && extents == 4) {
        return "KCRS";
    }
    static constexpr std::string_view usual[] = {"", "W", "HW", "CHW", "NCHW", "NCDHW"};
    if (extents == 0 || extents >= std::size(usual)) {
        throw ConfigError(fmt::format("a shape of {} extents needs --axes", extents),
                          "one capital letter for each extent");
    }
    return std::string(usual[extents]);
}

LayoutSpec parse_layout_spec(const std::string& text) {
    LayoutSpec spec;
    spec.text = text;
    const std::size_t colon = text.find(':');
    spec.row = find_layout(std::string_view(text).substr(0, colon));
    if (spec.row == nullptr) {
        if (!looks_like_sentence(text)) {
            refuse_name(text.substr(0, colon));
        }
        spec.sentence = parse_sentence(text);
        return spec;
    }
    std::string_view rest =
        colon == std::string::npos ? std::string_view() : std::string_view(text).substr(colon + 1);
    if (colon != std::string::npos && rest.empty()) {
        add_parameter(spec, rest);
    }
    while (!rest.empty()) {
        const std::size_t comma = rest.find(',');
        add_parameter(spec, rest.substr(0, comma));
        if (comma != std::string_view::npos && comma + 1 == rest.size()) {
            add_parameter(spec, "");
        }
        rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    }
    return spec;
}

}  // namespace npuscope
