// SPDX-License-Identifier: Apache-2.0
#include "sim/config/override_field.h"

#include <fmt/format.h>

#include <charconv>

#include "sim/config/nearest_name.h"

namespace npuscope {
namespace {

constexpr std::string_view example = "write KEY=VALUE, e.g. memory.read_latency=50";

PathStep parse_step(std::string_view part, const Place& place) {
    PathStep step{std::string(part.substr(0, part.find('['))), {}};
    std::string_view rest = part.substr(step.name.size());
    if (!rest.empty()) {
        std::size_t index = 0;
        const char* last = rest.data() + rest.size() - 1;
        const auto [end, error] = std::from_chars(rest.data() + 1, last, index);
        if (error != std::errc{} || end != last || *last != ']') {
            throw ConfigError(place, fmt::format("'{}' is not an element of a list", part),
                              "write name[0]");
        }
        step.index = index;
    }
    if (step.name.empty()) {
        throw ConfigError(place, "a name is empty", std::string(example));
    }
    return step;
}

}  // namespace

FieldOverride parse_override(const std::string& text) {
    const Place place{"--set " + text, 0, 0};
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
        throw ConfigError(place, "has no '='", std::string(example));
    }
    FieldOverride change;
    std::string_view key = std::string_view(text).substr(0, equals);
    while (true) {
        const std::size_t dot = key.find('.');
        change.steps.push_back(parse_step(key.substr(0, dot), place));
        if (dot == std::string_view::npos) {
            break;
        }
        key.remove_prefix(dot + 1);
    }
    try {
        change.value = parse_yaml(text.substr(equals + 1), "--set");
    } catch (const ConfigError& error) {
        throw ConfigError(place, error.sentence(), error.remedy());
    }
    move_to(change.value, place);
    return change;
}

namespace detail {

void refuse_step(const Place& place, const std::string& path, std::string_view what) {
    throw ConfigError(place, fmt::format("field '{}' {}", path, what));
}

void refuse_unknown_step(const Place& place, const std::string& path, std::string_view name,
                         const std::vector<std::string>& known) {
    throw ConfigError(place, fmt::format("unknown field '{}'", join_path(path, name)),
                      name_remedy(name, known));
}

}  // namespace detail
}  // namespace npuscope
