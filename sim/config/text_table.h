// SPDX-License-Identifier: Apache-2.0
// Text for people that fits a width: tables, and sentences that continue on the next line. Nothing
// is ever cut: a cell continues on the next line, and a table that is still too wide is folded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace npuscope {

/// Columns of output to a file or a pipe; a terminal has its own width.
inline constexpr std::size_t report_width = 100;
/// For tables with one line per row.
inline constexpr std::size_t no_width_limit = 10'000;

/// `1,234,567`.
std::string with_separators(std::uint64_t value);
/// `1 layer`, `1,234 layers`.
std::string counted(std::uint64_t number, std::string_view what);
/// Characters of UTF-8 text.
std::size_t text_width(std::string_view text);
/// Breaks a text into lines of `width` columns; the first may be indented differently.
std::string wrapped(const std::string& text, std::size_t first_indent, std::size_t indent,
                    std::size_t width = report_width);

/// Breaks lines that are too long: if a line has a column of text, it continues below that column,
/// else two columns further in than the line begins.
std::string fitted(const std::string& text, std::size_t width);

enum class Align { Left, Right };

class TextTable {
 public:
    struct Column {
        std::string title;
        Align align;
    };
    explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

    void add_row(std::vector<std::string> cells);
    bool empty() const { return rows_.empty(); }
    /// Two spaces before each line and between columns. If the table would be wider than `width`,
    /// long names and titles continue on the next line; if that is not enough, the columns that do
    /// not fit follow in a table of their own, with the row's number and name repeated.
    std::string text(std::size_t width = report_width) const;

 private:
    /// Columns that are next to each other, and the width of each.
    struct Block {
        std::vector<std::size_t> columns;
        std::vector<std::size_t> widths;
    };
    std::size_t whole_width(std::size_t column) const;
    std::size_t least_width(std::size_t column) const;
    std::size_t key_columns() const;
    std::vector<Block> blocks(std::size_t width) const;
    void fit(Block& block, std::size_t width) const;
    std::string lines(const std::vector<std::string>& cells, const Block& block) const;
    std::vector<std::string> titles() const;

    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace npuscope
