// SPDX-License-Identifier: Apache-2.0
#include "models/base/error.h"

#include <fmt/format.h>

namespace npuscope {
namespace {

std::string compose(const Place& place, const std::string& sentence, const std::string& remedy) {
    std::string text = to_string(place);
    if (!text.empty()) {
        text += ": ";
    }
    text += sentence;
    if (!remedy.empty()) {
        text += fmt::format(" ({})", remedy);
    }
    return text;
}

}  // namespace

std::string to_string(const Place& place) {
    if (place.line == 0) {
        return place.file;
    }
    if (place.column == 0) {
        return fmt::format("{}:{}", place.file, place.line);
    }
    return fmt::format("{}:{}:{}", place.file, place.line, place.column);
}

ConfigError::ConfigError(const std::string& sentence, const std::string& remedy)
    : ConfigError(Place{}, sentence, remedy) {}

ConfigError::ConfigError(const Place& place, const std::string& sentence, const std::string& remedy)
    : std::runtime_error(compose(place, sentence, remedy)),
      place_(place),
      sentence_(sentence),
      remedy_(remedy) {}

}  // namespace npuscope
