// SPDX-License-Identifier: Apache-2.0
#include "bench/accuracy_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "bench/error_statistics.h"
#include "models/base/error.h"

namespace npuscope::bench {
namespace {

using Cells = std::vector<std::string>;

/// Columns as wide as their content; all but the first are right-aligned.
class Table {
 public:
    Table(std::string title, Cells head) : title_(std::move(title)), lines_{std::move(head)} {}

    void add(Cells cells) { lines_.push_back(std::move(cells)); }
    bool empty() const { return lines_.size() == 1; }

    std::string text(TableStyle style) const {
        if (empty()) {
            return {};
        }
        const bool markdown = style == TableStyle::Markdown;
        std::string text =
            fmt::format("{}{}\n{}", markdown ? "### " : "", title_, markdown ? "\n" : "");
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            text += line(lines_[i], markdown ? "| " : "  ", markdown ? " |" : "");
            if (i == 0 && markdown) {
                text += "| --- |";
                for (std::size_t column = 1; column < lines_[0].size(); ++column) {
                    text += " ---: |";
                }
                text += '\n';
            }
        }
        return text + '\n';
    }

 private:
    std::string line(const Cells& cells, std::string_view before, std::string_view after) const {
        std::string text(before);
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const std::size_t width = width_of(i);
            text += i == 0 ? fmt::format("{:<{}}", cells[i], width)
                           : fmt::format("{:>{}}", cells[i], width);
            text += i + 1 == cells.size() ? std::string() : (after.empty() ? "  " : " | ");
        }
        return text + std::string(after) + '\n';
    }
    std::size_t width_of(std::size_t column) const {
        std::size_t width = 0;
        for (const Cells& cells : lines_) {
            width = std::max(width, cells[column].size());
        }
        return width;
    }

    std::string title_;
    std::vector<Cells> lines_;
};

using Members = std::vector<const ReplayedRow*>;

const Cells statistics_head{
    "",      "rows",  "failed",      "exact %",      "mean %",          "median %",
    "p95 %", "max %", "wrong beats", "wrong values", "MAC start exact", "worst"};

Cells cells_of(const std::string& name, const Members& members) {
    const ErrorStatistics sum = statistics_of(members);
    const bool mac = sum.mac_rows != 0;
    return {name,
            std::to_string(sum.rows),
            std::to_string(sum.failed),
            fmt::format("{:.1f}", 100 * sum.exact_share()),
            fmt::format("{:.4f}", sum.mean),
            fmt::format("{:.4f}", sum.median),
            fmt::format("{:.3f}", sum.p95),
            fmt::format("{:.3f}", sum.maximum),
            std::to_string(sum.wrong_beats),
            std::to_string(sum.wrong_values),
            mac ? fmt::format("{}/{}", sum.mac_exact, sum.mac_rows) : "",
            mac ? fmt::format("{:+d}", sum.mac_worst) : ""};
}

Members members_of(const AccuracyReport& report) {
    Members members;
    for (const ReplayedRow& row : report.rows) {
        members.push_back(&row);
    }
    return members;
}

/// Groups are in the order of their first member.
Table grouped(const Members& members, const std::string& title,
              const std::function<std::string(const ReplayedRow&)>& key) {
    std::vector<std::pair<std::string, Members>> groups;
    for (const ReplayedRow* row : members) {
        const std::string name = key(*row);
        auto group = std::ranges::find(groups, name, &std::pair<std::string, Members>::first);
        if (group == groups.end()) {
            group = groups.insert(groups.end(), {name, {}});
        }
        group->second.push_back(row);
    }
    Table table(title, statistics_head);
    for (const auto& [name, group] : groups) {
        table.add(cells_of(name, group));
    }
    if (groups.size() > 1) {
        table.add(cells_of("all", members));
    }
    return table;
}

Table clients_table(const AccuracyReport& report) {
    Table table("Beats by client", {"client", "rows", "exact", "worst error, beats"});
    for (const ClientErrors& client : client_errors(report.rows)) {
        table.add({client.client, std::to_string(client.rows), std::to_string(client.exact),
                   fmt::format("{:+d}", client.worst)});
    }
    return table;
}

const Cells row_head{"row", "setting", "RTL", "npuscope", "error", "error %", "MAC start", "beats"};

std::string wrong_beats(const ReplayedRow& row) {
    std::string text;
    for (const auto& [client, error] : row.beat_errors) {
        if (error != 0) {
            text += fmt::format("{}{} {:+d}", text.empty() ? "" : ", ", client, error);
        }
    }
    return text.empty() ? "right" : text;
}

Cells cells_of_row(const ReplayedRow& row) {
    const ReferenceRow& reference = row.reference;
    Cells cells{reference.set + '/' + reference.name, to_string(reference.setting),
                std::to_string(reference.cycles)};
    if (!row.ran()) {
        cells.insert(cells.end(), {"failed", "", "", "", ""});
        return cells;
    }
    cells.push_back(std::to_string(row.cycles));
    cells.push_back(fmt::format("{:+d}", row.cycle_error()));
    cells.push_back(fmt::format("{:+.3f}", row.percent()));
    cells.push_back(row.first_mac_error ? fmt::format("{:+d}", *row.first_mac_error) : "");
    cells.push_back(wrong_beats(row));
    return cells;
}

Table worst_table(const AccuracyReport& report, std::size_t worst) {
    Members rows;
    for (const ReplayedRow& row : report.rows) {
        if (row.ran() && row.cycle_error() != 0) {
            rows.push_back(&row);
        }
    }
    std::ranges::stable_sort(rows, std::greater(),
                             [](const ReplayedRow* row) { return std::abs(row->percent()); });
    Table table("Worst rows", row_head);
    for (std::size_t i = 0; i < rows.size() && i < worst; ++i) {
        table.add(cells_of_row(*rows[i]));
    }
    return table;
}

/// Failures by message: one that many rows share is one line.
std::string failures_of(const AccuracyReport& report) {
    std::map<std::string, Members> failures;
    for (const ReplayedRow& row : report.rows) {
        if (!row.ran()) {
            const std::string& message = row.failure;
            const std::size_t place = message.find(".cfg:");
            const std::size_t from = place == std::string::npos ? 0 : message.find(' ', place);
            failures[message.substr(std::min(from, message.size()))].push_back(&row);
        }
    }
    std::string text;
    for (const auto& [message, members] : failures) {
        text +=
            fmt::format("failed: {} row{}, first {}:{}\n", members.size(),
                        members.size() == 1 ? "" : "s", members.front()->reference.name, message);
    }
    return text.empty() ? text : text + '\n';
}

std::string left_out_of(const AccuracyReport& report) {
    std::string text;
    for (const auto& [reason, rows] : report.left_out) {
        text += fmt::format("not replayed: {} rows, {}\n", rows, reason);
    }
    return text.empty() ? text : text + '\n';
}

std::string causes_of(const AccuracyReport& report) {
    const ErrorStatistics sum = statistics_of(members_of(report));
    return fmt::format("The causes of every operation sum to its cycles on {} of {} rows.\n\n",
                       sum.rows - sum.wrong_causes, sum.rows);
}

}  // namespace

std::string tables_of(const AccuracyReport& report, TableStyle style, std::size_t worst) {
    Members members = members_of(report);
    std::string text = grouped(members, "By family", [](const ReplayedRow& row) {
                           return row.reference.set + ' ' + row.reference.family;
                       }).text(style);
    text += grouped(members, "By table", [](const ReplayedRow& row) {
                return row.reference.set;
            }).text(style);
    std::ranges::stable_sort(members, {},
                             [](const ReplayedRow* row) { return row->reference.setting; });
    text +=
        grouped(members, "By memory setting, latency/beat interval", [](const ReplayedRow& row) {
            return to_string(row.reference.setting);
        }).text(style);
    text += clients_table(report).text(style);
    text += worst_table(report, worst).text(style);
    return text + causes_of(report) + failures_of(report) + left_out_of(report);
}

std::string rows_of(const AccuracyReport& report) {
    Table table("Rows", row_head);
    for (const ReplayedRow& row : report.rows) {
        table.add(cells_of_row(row));
    }
    return table.text(TableStyle::Text);
}

std::string with_tables(std::string_view page, std::string_view tables, const std::string& file) {
    const std::size_t begin = page.find(begin_marker);
    const std::size_t end = page.find(end_marker);
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) {
        throw ConfigError(Place{file, 0, 0}, "has no place for the tables",
                          fmt::format("it stands between '{}' and '{}'", begin_marker, end_marker));
    }
    std::string text(page.substr(0, begin + begin_marker.size()));
    text += "\n\n";
    text += tables;
    return text += page.substr(end);
}

}  // namespace npuscope::bench
