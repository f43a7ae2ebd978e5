// SPDX-License-Identifier: Apache-2.0
#include "sim/config/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <sstream>

#include "sim/config/printable.h"

namespace npuscope {
namespace {

constexpr std::string_view gap = "  ";
constexpr std::size_t longest_piece = 24;  // a part of a name that is not broken
constexpr std::size_t hanging = 2;         // of the second line of a text without columns
constexpr std::size_t least_column = 20;   // an indentation of this width is a column

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80U; }

/// Bytes of the first `characters` characters.
std::size_t bytes_of(std::string_view text, std::size_t characters) {
    std::size_t at = 0;
    for (; at < text.size() && characters > 0; --characters) {
        for (++at; at < text.size() && continues_character(text[at]); ++at) {
        }
    }
    return at;
}

/// True if a name may continue on the next line after this character.
bool ends_piece(char letter) {
    return std::string_view(" _/+,").find(letter) != std::string_view::npos;
}

/// True if a line may end before this space: `45 %` stays together.
bool is_break(std::string_view text, std::size_t at) {
    return text[at] == ' ' && (at + 1 == text.size() || text[at + 1] != '%');
}

/// Bytes of the part of `text` that fits a line of `width` characters: whole words, else whole
/// pieces of a name, else as many characters as fit.
std::size_t bytes_in_line(std::string_view text, std::size_t width) {
    const std::size_t most = bytes_of(text, width);
    if (most == text.size()) {
        return most;
    }
    for (std::size_t at = most; at > 0; --at) {
        if (is_break(text, at)) {
            return at;
        }
    }
    for (std::size_t at = most; at > 0; --at) {
        if (ends_piece(text[at - 1])) {
            return at;
        }
    }
    return most;
}

std::size_t longest_piece_of(std::string_view text) {
    std::size_t longest = 0;
    std::size_t length = 0;
    for (const char letter : text) {
        length += continues_character(letter) || letter == ' ' ? 0U : 1U;
        longest = std::max(longest, length);
        length = ends_piece(letter) ? 0 : length;
    }
    return std::min(longest, longest_piece);
}

std::string padded(std::string_view cell, std::size_t width, Align align) {
    const std::string space(width - std::min(width, text_width(cell)), ' ');
    return align == Align::Left ? std::string(cell) + space : space + std::string(cell);
}

/// Where the text of a line begins: after the last gap of its first half, or its indentation if
/// that already is a column; else past its end.
std::size_t column_of_text(const std::string& line, std::size_t indent) {
    const std::size_t found = line.find("  ", indent);
    if (found != std::string::npos) {
        return line.find_first_not_of(' ', found);
    }
    return indent >= least_column ? indent : line.size();
}

}  // namespace

std::string with_separators(std::uint64_t value) {
    std::string text = fmt::format("{}", value);
    for (std::size_t at = text.size(); at > 3; at -= 3) {
        text.insert(at - 3, 1, ',');
    }
    return text;
}

std::string counted(std::uint64_t number, std::string_view what) {
    return fmt::format("{} {}{}", with_separators(number), what, number == 1 ? "" : "s");
}

std::size_t text_width(std::string_view text) {
    return text.size() - static_cast<std::size_t>(std::ranges::count_if(text, continues_character));
}

std::string wrapped(const std::string& raw, std::size_t first_indent, std::size_t indent,
                    std::size_t width) {
    const std::string text = printable_line(raw);
    std::string lines;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t margin = at == 0 ? first_indent : indent;
        const std::size_t room = width > margin ? width - margin : 1;
        std::size_t length = bytes_of(std::string_view(text).substr(at), room);
        if (at + length < text.size()) {
            std::size_t space = at + length;
            while (space > at && !is_break(text, space)) {
                --space;
            }
            length = space == at ? length : space - at;
        }
        lines += std::string(margin, ' ') + text.substr(at, length) + '\n';
        at = std::min(text.size(), text.find_first_not_of(' ', at + length));
    }
    return lines;
}

std::string fitted(const std::string& text, std::size_t width) {
    std::string result;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (text_width(line) <= width) {
            result += line + '\n';
            continue;
        }
        const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
        const std::size_t column = column_of_text(line, indent);
        if (column < width / 2) {
            const std::string rest = wrapped(line.substr(column), column, column, width);
            result += line.substr(0, column) + rest.substr(column);
        } else {
            result += wrapped(line.substr(indent), indent, indent + hanging, width);
        }
    }
    return result;
}

void TextTable::add_row(std::vector<std::string> cells) {
    cells.resize(columns_.size());
    std::ranges::transform(cells, cells.begin(), printable_line);
    rows_.push_back(std::move(cells));
}

std::size_t TextTable::whole_width(std::size_t column) const {
    std::size_t width = text_width(columns_[column].title);
    for (const auto& row : rows_) {
        width = std::max(width, text_width(row[column]));
    }
    return width;
}

/// Numbers are never broken; names and titles are broken between their pieces.
std::size_t TextTable::least_width(std::size_t column) const {
    std::size_t width = longest_piece_of(columns_[column].title);
    for (const auto& row : rows_) {
        width =
            std::max(width, columns_[column].align == Align::Left ? longest_piece_of(row[column])
                                                                  : text_width(row[column]));
    }
    return width;
}

/// The columns that identify a row: up to the first name, or only a number.
std::size_t TextTable::key_columns() const {
    const auto name = std::ranges::find(columns_, Align::Left, &Column::align);
    const auto before = static_cast<std::size_t>(name - columns_.begin());
    return before < 2 && before + 1 < columns_.size() ? before + 1 : 1;
}

/// Narrows the widest columns until all fit, as far as their pieces allow.
void TextTable::fit(Block& block, std::size_t width) const {
    std::vector<std::size_t> least;
    for (const std::size_t column : block.columns) {
        block.widths.push_back(whole_width(column));
        least.push_back(least_width(column));
    }
    std::size_t total = std::accumulate(block.widths.begin(), block.widths.end(),
                                        gap.size() * block.columns.size());
    for (; total > width; --total) {
        std::size_t widest = block.columns.size();
        for (std::size_t i = 0; i < block.columns.size(); ++i) {
            if (block.widths[i] > least[i] &&
                (widest == block.columns.size() || block.widths[i] > block.widths[widest])) {
                widest = i;
            }
        }
        if (widest == block.columns.size()) {
            break;
        }
        --block.widths[widest];
    }
}

std::vector<TextTable::Block> TextTable::blocks(std::size_t width) const {
    std::vector<Block> blocks(1);
    std::size_t keys = 0;  // columns that open each block
    std::size_t used = 0;
    for (std::size_t column = 0; column < columns_.size(); ++column) {
        const std::size_t wide = least_width(column) + gap.size();
        if (keys == 0 && column > 0 && column >= key_columns()) {
            keys = column;
        }
        if (used + wide > width && blocks.back().columns.size() > std::max<std::size_t>(keys, 1)) {
            blocks.emplace_back();
            used = 0;
            for (std::size_t key = 0; key < keys; ++key) {
                blocks.back().columns.push_back(key);
                used += least_width(key) + gap.size();
            }
        }
        blocks.back().columns.push_back(column);
        used += wide;
    }
    for (Block& block : blocks) {
        fit(block, width);
    }
    return blocks;
}

std::string TextTable::lines(const std::vector<std::string>& cells, const Block& block) const {
    std::vector<std::string_view> rest;
    for (const std::size_t column : block.columns) {
        rest.emplace_back(cells[column]);
    }
    std::string text;
    do {
        std::string line;
        for (std::size_t i = 0; i < rest.size(); ++i) {
            std::string_view cell = rest[i].substr(0, bytes_in_line(rest[i], block.widths[i]));
            rest[i].remove_prefix(cell.size());
            rest[i].remove_prefix(std::min(rest[i].size(), rest[i].find_first_not_of(' ')));
            cell = cell.substr(0, cell.find_last_not_of(' ') + 1);
            line += gap;
            line += padded(cell, block.widths[i], columns_[block.columns[i]].align);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + '\n';
    } while (std::ranges::any_of(rest, [](std::string_view cell) { return !cell.empty(); }));
    return text;
}

std::vector<std::string> TextTable::titles() const {
    std::vector<std::string> titles;
    std::ranges::transform(columns_, std::back_inserter(titles), &Column::title);
    return titles;
}

std::string TextTable::text(std::size_t width) const {
    std::string text;
    for (const Block& block : blocks(width)) {
        text += text.empty() ? "" : "\n";
        text += lines(titles(), block);
        for (const auto& row : rows_) {
            text += lines(row, block);
        }
    }
    return text;
}

}  // namespace npuscope
