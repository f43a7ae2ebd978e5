// SPDX-License-Identifier: Apache-2.0
#include "sim/config/nearest_name.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/edit_distance.h"

namespace npuscope {
namespace {

constexpr std::size_t longest_word = 128;

}  // namespace

std::optional<std::string> nearest_name(std::string_view word,
                                        std::span<const std::string> candidates) {
    std::optional<std::string> nearest;
    if (word.size() > longest_word) {
        return nearest;
    }
    std::size_t fewest = word.size() / 3 + 2;  // more edits than this are another word
    for (const std::string& candidate : candidates) {
        const std::size_t edits = edit_distance(word, candidate);
        if (edits < fewest && edits < candidate.size()) {
            fewest = edits;
            nearest = candidate;
        }
    }
    return nearest;
}

std::string name_remedy(std::string_view word, std::span<const std::string> candidates) {
    if (const auto nearest = nearest_name(word, candidates)) {
        return fmt::format("did you mean '{}'?", *nearest);
    }
    if (candidates.empty()) {
        return {};
    }
    return fmt::format("known: {}", fmt::join(candidates, ", "));
}

}  // namespace npuscope
