// SPDX-License-Identifier: Apache-2.0
// Replayed rows as tables: by family, by memory setting, beats by client, and the worst rows. The
// same tables go to a terminal and, as Markdown, between two markers of a page.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bench/replay.h"

namespace npuscope::bench {

struct AccuracyReport {
    std::vector<ReplayedRow> rows;
    std::map<std::string, std::uint64_t> left_out;  ///< reason to rows that were not replayed
};

enum class TableStyle { Text, Markdown };

/// All tables; the last one has `worst` rows.
std::string tables_of(const AccuracyReport& report, TableStyle style, std::size_t worst);

/// Every row, in the order of the tables they come from.
std::string rows_of(const AccuracyReport& report);

inline constexpr std::string_view begin_marker = "<!-- accuracy: begin, generated -->";
inline constexpr std::string_view end_marker = "<!-- accuracy: end -->";

/// The page with the text between its markers replaced by `tables`; ConfigError naming `file` if it
/// has no markers.
std::string with_tables(std::string_view page, std::string_view tables, const std::string& file);

}  // namespace npuscope::bench
