// SPDX-License-Identifier: Apache-2.0
#include "models/base/error.h"

#include <fmt/format.h>

#include <utility>

#include "models/base/check.h"

namespace npuscope {
namespace {

/// A zero byte would truncate the text that `what()` returns.
std::string without_zero_bytes(const std::string& text) {
    std::string shown;
    for (const char letter : text) {
        shown += letter == '\0' ? std::string("\\x00") : std::string(1, letter);
    }
    return shown;
}

std::string compose(const Place& place, const std::string& sentence, const std::string& remedy) {
    std::string text = to_string(place);
    if (!text.empty()) {
        text += ": ";
    }
    text += sentence;
    if (!remedy.empty()) {
        text += fmt::format(" ({})", remedy);
    }
    return without_zero_bytes(text);
}

}  // namespace

ConfigError::ConfigError(Diagnostic diagnostic)
    : std::runtime_error(compose(diagnostic.place, diagnostic.sentence, diagnostic.remedy)),
      diagnostic_(std::move(diagnostic)) {}

ConfigError::ConfigError(const std::string& sentence, const std::string& remedy)
    : ConfigError(Place{}, sentence, remedy) {}

ConfigError::ConfigError(const Place& place, const std::string& sentence, const std::string& remedy)
    : ConfigError(Diagnostic{.sentence = sentence, .remedy = remedy, .place = place}) {}

void fail_check(const char* condition, const std::string& sentence, const char* file, int line) {
    throw InternalError(
        fmt::format("{}:{}: internal error: {} (failed: {})", file, line, sentence, condition));
}

}  // namespace npuscope
