// SPDX-License-Identifier: Apache-2.0
// Finds what the user probably meant by a misspelled name.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/error.h"

namespace npuscope {

/// Levenshtein distance, case-insensitive: letters to insert, remove or replace.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
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

/// The candidate with the fewest edits from `word`; none if all of them differ too much.
inline std::optional<std::string> nearest_name(std::string_view word,
                                               std::span<const std::string> candidates) {
    constexpr std::size_t longest_word = 128;
    std::optional<std::string> nearest;
    if (word.size() > longest_word) {
        return nearest;
    }
    const std::size_t dashes = std::min(word.find_first_not_of('-'), word.size());  // of an option
    std::size_t fewest = (word.size() - dashes) / 3 + 2;  // this many edits make a different word
    for (const std::string& candidate : candidates) {
        const std::size_t edits = edit_distance(word, candidate);
        if (edits < fewest && edits < candidate.size()) {
            fewest = edits;
            nearest = candidate;
        }
    }
    return nearest;
}

/// `did you mean 'x'?`, or the list of all candidates, or nothing if there are none.
inline std::string name_remedy(std::string_view word, std::span<const std::string> candidates) {
    if (const auto nearest = nearest_name(word, candidates)) {
        return "did you mean '" + *nearest + "'?";
    }
    std::string known;
    for (const std::string& candidate : candidates) {
        known += (known.empty() ? "known: " : ", ") + candidate;
    }
    return known;
}

/// The row of a table that has the name. ConfigError `unknown call 'x'`, where `what` is `call`.
template <class Rows>
const auto& find_named(const Rows& rows, std::string_view name, const std::string& what,
                       const Place& place = {}) {
    std::vector<std::string> known;
    for (const auto& row : rows) {
        if (row.name == name) {
            return row;
        }
        known.emplace_back(row.name);
    }
    throw ConfigError(place, "unknown " + what + " '" + std::string(name) + "'",
                      name_remedy(name, known));
}

}  // namespace npuscope
