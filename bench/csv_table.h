// SPDX-License-Identifier: Apache-2.0
// A table of comma-separated values whose first line names the columns. A cell that contains commas
// is enclosed in double quotes; a double quote inside is doubled.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace npuscope::bench {

class CsvTable {
 public:
    /// `file` is the name of the text in messages. ConfigError if a line has a different number of
    /// cells than the first.
    static CsvTable parse(std::string_view text, const std::string& file);
    static CsvTable read(const std::filesystem::path& path);

    std::size_t rows() const { return rows_.size(); }
    bool has(const std::string& column) const { return columns_.contains(column); }
    /// The cell, or an empty string if the table has no such column.
    const std::string& text(std::size_t row, const std::string& column) const;
    /// Nothing if the cell is empty, the column missing, or the number negative.
    std::optional<std::uint64_t> number(std::size_t row, const std::string& column) const;

 private:
    std::string file_;
    std::map<std::string, std::size_t> columns_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace npuscope::bench
