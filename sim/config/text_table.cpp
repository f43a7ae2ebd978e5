// SPDX-License-Identifier: Apache-2.0
#include "sim/config/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace npuscope {
namespace {

constexpr std::string_view gap = "  ";
constexpr std::size_t narrowest = 8;

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

std::string wrapped(const std::string& text, std::size_t first_indent, std::size_t indent) {
    std::string lines;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t margin = at == 0 ? first_indent : indent;
        const std::size_t width = report_width - margin;
        std::size_t length = std::min(width, text.size() - at);
        if (at + length < text.size()) {
            const std::size_t space = text.rfind(' ', at + length);
            length = space == std::string::npos || space <= at ? length : space - at;
        }
        lines += std::string(margin, ' ') + text.substr(at, length) + '\n';
        at = std::min(text.size(), text.find_first_not_of(' ', at + length));
    }
    return lines;
}

void TextTable::add_row(std::vector<std::string> cells) {
    cells.resize(columns_.size());
    rows_.push_back(std::move(cells));
}

std::vector<std::size_t> TextTable::widths() const {
    std::vector<std::size_t> widths;
    std::size_t widest = columns_.size();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        std::size_t width = columns_[i].title.size();
        for (const auto& row : rows_) {
            width = std::max(width, row[i].size());
        }
        widths.push_back(width);
        if (columns_[i].align == Align::Left &&
            (widest == columns_.size() || width > widths[widest])) {
            widest = i;
        }
    }
    const std::size_t total = std::accumulate(widths.begin(), widths.end(), std::size_t{0}) +
                              gap.size() * columns_.size();
    if (total > most_width_ && widest < columns_.size()) {
        const std::size_t excess = total - most_width_;
        widths[widest] = std::max(narrowest, widths[widest] - std::min(widths[widest], excess));
    }
    return widths;
}

std::string TextTable::line(const std::vector<std::string>& cells,
                            const std::vector<std::size_t>& widths) const {
    std::string text;
    std::vector<std::string> rest(cells.size());
    bool more = false;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::string cell = cells[i].substr(0, widths[i]);
        rest[i] = cells[i].substr(cell.size());
        more |= !rest[i].empty();
        text += gap;
        text += columns_[i].align == Align::Left ? fmt::format("{:<{}}", cell, widths[i])
                                                 : fmt::format("{:>{}}", cell, widths[i]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + '\n' + (more ? line(rest, widths) : "");
}

std::string TextTable::text() const {
    const std::vector<std::size_t> columns = widths();
    std::vector<std::string> titles;
    for (const Column& column : columns_) {
        titles.push_back(column.title);
    }
    std::string text = line(titles, columns);
    for (const auto& row : rows_) {
        text += line(row, columns);
    }
    return text;
}

}  // namespace npuscope
