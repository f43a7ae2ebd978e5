// SPDX-License-Identifier: Apache-2.0
#include "sim/config/file_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "sim/config/printable.h"

namespace npuscope {
namespace {

constexpr std::string_view kept = "_-.+=@,:";

bool stays(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || kept.find(letter) != std::string_view::npos;
}

}  // namespace

std::string file_name(std::string_view name, std::string_view ending) {
    std::string file = name.empty() ? "%" : "";  // nothing else becomes a lone %
    for (std::size_t at = 0; at < name.size();) {
        const std::size_t bytes = shown_bytes(name.substr(at));
        if (bytes > 1 || (stays(name[at]) && !(at == 0 && name[at] == '.'))) {
            file += name.substr(at, bytes);
            at += bytes;
            continue;
        }
        fmt::format_to(std::back_inserter(file), "%{:02X}", static_cast<unsigned char>(name[at]));
        ++at;
    }
    return file += ending;
}

std::string name_of_file(std::string_view stem) {
    std::string name;
    for (std::size_t at = 0; at < stem.size(); ++at) {
        unsigned byte = 0;
        const char* digits = stem.data() + at + 1;
        const bool coded = stem[at] == '%' && at + 2 < stem.size() &&
                           std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2;
        if (coded) {
            name += static_cast<char>(byte);
            at += 2;
        } else if (stem != "%") {
            name += stem[at];
        }
    }
    return name;
}

std::string lower_ending(const std::filesystem::path& path) {
    std::string ending = path.extension().string();
    std::ranges::transform(ending, ending.begin(), [](char letter) {
        return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    });
    return ending;
}

}  // namespace npuscope
