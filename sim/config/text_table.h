// SPDX-License-Identifier: Apache-2.0
// Tables for people: columns as wide as their content, numbers to the right, at most 100 columns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace npuscope {

inline constexpr std::size_t report_width = 100;

/// `1,234,567`.
std::string with_separators(std::uint64_t value);
/// `1 layer`, `1,234 layers`.
std::string counted(std::uint64_t number, std::string_view what);
/// Breaks a text into lines of the report's width; the first may be indented differently.
std::string wrapped(const std::string& text, std::size_t first_indent, std::size_t indent);

enum class Align { Left, Right };

class TextTable {
 public:
    struct Column {
        std::string title;
        Align align;
    };
    explicit TextTable(std::vector<Column> columns, std::size_t most_width = report_width)
        : columns_(std::move(columns)), most_width_(most_width) {}

    void add_row(std::vector<std::string> cells);
    bool empty() const { return rows_.empty(); }
    /// Two spaces before each line and between columns; the widest left column goes on in the next
    /// line where the table would be wider than `most_width`.
    std::string text() const;

 private:
    std::vector<std::size_t> widths() const;
    std::string line(const std::vector<std::string>& cells,
                     const std::vector<std::size_t>& widths) const;

    std::vector<Column> columns_;
    std::size_t most_width_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace npuscope
