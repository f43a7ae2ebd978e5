// SPDX-License-Identifier: Apache-2.0
// Finds what the user probably meant by a misspelled name.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace npuscope {

/// The candidate with the fewest edits from `word`; none where all of them differ too much.
std::optional<std::string> nearest_name(std::string_view word,
                                        std::span<const std::string> candidates);

/// `did you mean 'x'?`, or the list of all candidates, or nothing where there are none.
std::string name_remedy(std::string_view word, std::span<const std::string> candidates);

}  // namespace npuscope
