// SPDX-License-Identifier: Apache-2.0
#include "bench/csv_table.h"

#include <fmt/format.h>

#include <charconv>

#include "models/base/error.h"
#include "sim/config/file_io.h"

namespace npuscope::bench {
namespace {

/// Cells of one line; `at` moves past its end.
std::vector<std::string> cells_of_line(std::string_view text, std::size_t& at) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (; at < text.size() && (quoted || text[at] != '\n'); ++at) {
        const char c = text[at];
        if (c == '"') {
            const bool doubled = quoted && at + 1 < text.size() && text[at + 1] == '"';
            if (doubled) {
                cells.back() += '"';
                ++at;
            } else {
                quoted = !quoted;
            }
        } else if (c == ',' && !quoted) {
            cells.emplace_back();
        } else if (c != '\r') {
            cells.back() += c;
        }
    }
    ++at;
    return cells;
}

}  // namespace

CsvTable CsvTable::parse(std::string_view text, const std::string& file) {
    CsvTable table;
    table.file_ = file;
    std::size_t at = 0;
    const std::vector<std::string> names = cells_of_line(text, at);
    for (std::size_t i = 0; i < names.size(); ++i) {
        table.columns_.emplace(names[i], i);
    }
    for (unsigned line = 2; at < text.size(); ++line) {
        std::vector<std::string> cells = cells_of_line(text, at);
        if (cells.size() == 1 && cells.front().empty()) {
            continue;
        }
        if (cells.size() != names.size()) {
            throw ConfigError(Place{file, line, 0},
                              fmt::format("{} cells where the first line names {} columns",
                                          cells.size(), names.size()));
        }
        table.rows_.push_back(std::move(cells));
    }
    return table;
}

CsvTable CsvTable::read(const std::filesystem::path& path) {
    return parse(read_whole_file(path), path.string());
}

const std::string& CsvTable::text(std::size_t row, const std::string& column) const {
    static const std::string nothing;
    const auto found = columns_.find(column);
    return found == columns_.end() ? nothing : rows_[row][found->second];
}

std::optional<std::uint64_t> CsvTable::number(std::size_t row, const std::string& column) const {
    const std::string& cell = text(row, column);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc() || end != cell.data() + cell.size()) {
        return std::nullopt;
    }
    return value;
}

}  // namespace npuscope::bench
