// SPDX-License-Identifier: Apache-2.0
#include "sim/config/nearest_name.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <vector>

namespace npuscope {

namespace {

constexpr std::size_t longest_word = 128;

/// Levenshtein distance, blind to case: letters to insert, remove or replace.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    const auto same = [](char x, char y) {
        return std::tolower(static_cast<unsigned char>(x)) ==
               std::tolower(static_cast<unsigned char>(y));
    };
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (same(a[i], b[j]) ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
        }
    }
    return row.back();
}

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
