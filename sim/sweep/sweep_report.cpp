// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/sweep_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace npuscope {
namespace {

constexpr std::size_t most_best = 20;  ///< rows of the front
constexpr std::size_t most_reasons = 10;

std::string number_text(double value) {
    const bool whole = value == std::floor(value) && std::abs(value) < 1e15;
    return whole ? fmt::format("{}{}", value < 0 ? "-" : "",
                               with_separators(static_cast<std::uint64_t>(std::abs(value))))
                 : fmt::format("{:.6g}", value);
}

std::string first_line(const SweepDatabase& database, const SweepCount& count,
                       const std::string& name) {
    std::string text = fmt::format("{}: {}, {} run now", name, counted(count.designs, "design"),
                                   with_separators(count.ran));
    if (count.found > 0) {
        text += fmt::format(", {} already in the database", with_separators(count.found));
    }
    if (count.equal > 0) {
        text += fmt::format(", {} equal to others", with_separators(count.equal));
    }
    if (count.left_out > 0) {
        text += fmt::format("; `where` leaves out {}", with_separators(count.left_out));
    }
    std::string states;
    for (const SweepRow& row : database.query(
             "SELECT status, count(*) AS n FROM designs GROUP BY status ORDER BY n DESC, status")) {
        states += fmt::format("{}{} {}", states.empty() ? "  in the database: " : ", ",
                              with_separators(row.at("n").get<std::uint64_t>()),
                              row.at("status").get<std::string>());
    }
    const auto others = database.query("SELECT count(*) AS n FROM points WHERE NOT in_space")
                            .front()
                            .at("n")
                            .get<std::uint64_t>();
    if (others > 0) {
        states += fmt::format("{}{} that {} not in this space",
                              states.empty() ? "  in the database: " : "; also ",
                              counted(others, "design"), others == 1 ? "is" : "are");
    }
    return text + '\n' + (states.empty() ? "" : states + '\n');
}

/// Designs that ran, but whose results must not be chosen from.
std::string wrong_text(const SweepDatabase& database) {
    std::string states;
    for (const SweepRow& row :
         database.query("SELECT status, count(*) AS n FROM designs WHERE status IN ('fail', "
                        "'host_only') GROUP BY status ORDER BY status")) {
        states += fmt::format("{}{} {}", states.empty() ? "\nnot ranked: " : ", ",
                              with_separators(row.at("n").get<std::uint64_t>()),
                              row.at("status").get<std::string>());
    }
    return states.empty() ? states : states + '\n';
}

/// `k=8, lat=0`.
std::string axes_text(const SweepDatabase& database, const std::string& key) {
    std::string text;
    for (const SweepRow& row :
         database.query("SELECT axis, value FROM axes WHERE key = ? ORDER BY axis", {key})) {
        text += fmt::format("{}{}={}", text.empty() ? "" : ", ", row.at("axis").get<std::string>(),
                            row.at("value").get<std::string>());
    }
    return text;
}

/// Designs that ran, but have an objective that cannot be computed: the first of each reason.
std::string unrated_text(const std::vector<UnratedPoint>& unrated, const SweepDatabase& database,
                         std::size_t width) {
    std::vector<std::pair<const UnratedPoint*, std::size_t>> reasons;
    for (const UnratedPoint& point : unrated) {
        const auto same = std::ranges::find_if(
            reasons, [&](const auto& reason) { return reason.first->why == point.why; });
        same == reasons.end() ? void(reasons.emplace_back(&point, 1)) : void(++same->second);
    }
    std::string text;
    for (const auto& [first, count] : reasons) {
        text +=
            wrapped(fmt::format("{}, {}{}: {}", counted(count, "design"), count > 1 ? "first " : "",
                                axes_text(database, first->key), first->why),
                    2, 4, width);
    }
    return text.empty() ? text : "\nnot ranked, because an objective has no value\n" + text;
}

std::string best_text(const Space& space, const SweepDatabase& database, std::size_t width) {
    const auto [rated, unrated] = rated_points(space, database);
    const std::string without_rank = unrated_text(unrated, database, width);
    const bool ran =
        !database.query(fmt::format("SELECT 1 FROM {} LIMIT 1", rated_designs)).empty();
    if (rated.empty() && !ran) {
        return wrong_text(database);  // the reasons of the others follow
    }
    if (rated.empty() && !without_rank.empty()) {
        return without_rank + wrong_text(database);
    }
    if (rated.empty()) {
        return "\nno design has a value for every objective (its formula may use only axes, "
               "configuration fields and numbers of the result: `npuscope list fields sweep.`)\n";
    }
    std::vector<Costs> costs;
    costs.reserve(rated.size());
    for (const RatedPoint& point : rated) {
        costs.push_back(point.costs);
    }
    const std::vector<std::size_t> front = pareto_front(costs);
    std::vector<TextTable::Column> columns{{"#", Align::Right}};
    std::string names;
    for (const Objective& objective : space.objectives()) {
        columns.push_back({objective.name, Align::Right});
        names += (names.empty() ? "" : ", ") +
                 std::string(objective.maximise ? "maximised " : "minimised ") + objective.name;
    }
    const std::vector<std::string> axes = axis_names(database);
    for (const std::string& axis : axes) {
        columns.push_back({axis, Align::Right});
    }
    TextTable table(columns);
    for (std::size_t i = 0; i < std::min(front.size(), most_best); ++i) {
        const RatedPoint& point = rated[front[i]];
        std::vector<std::string> cells{std::to_string(i + 1)};
        for (std::size_t k = 0; k < point.costs.size(); ++k) {
            cells.push_back(
                number_text(space.objectives()[k].maximise ? -point.costs[k] : point.costs[k]));
        }
        std::map<std::string, std::string> values;
        for (const SweepRow& row :
             database.query("SELECT axis, value FROM axes WHERE key = ?", {point.key})) {
            values[row.at("axis").get<std::string>()] = row.at("value").get<std::string>();
        }
        for (const std::string& axis : axes) {
            cells.push_back(values[axis]);
        }
        table.add_row(std::move(cells));
    }
    const bool several = space.objectives().size() > 1;
    const std::string title =
        several ? fmt::format("Pareto front, {}: {} of {}", names, front.size(),
                              counted(rated.size(), "design"))
                : fmt::format("best, {}, of {}", names, counted(rated.size(), "design"));
    const std::string more =
        front.size() > most_best ? fmt::format("  and {} more\n", front.size() - most_best) : "";
    return '\n' + title + '\n' + table.text(width) + more + without_rank + wrong_text(database);
}

std::string reasons_text(const SweepDatabase& database, std::size_t width) {
    std::string text;
    for (const SweepRow& row :
         database.query("SELECT status, error, count(*) AS n FROM designs WHERE error IS NOT NULL "
                        "GROUP BY status, error ORDER BY n DESC, error LIMIT " +
                        std::to_string(most_reasons))) {
        text += wrapped(
            fmt::format("{} {}: {}", with_separators(row.at("n").get<std::uint64_t>()),
                        row.at("status").get<std::string>(), row.at("error").get<std::string>()),
            2, 4, width);
    }
    return text.empty() ? text : "\ndesigns without a result, and why\n" + text;
}

}  // namespace

std::string sweep_report(const Space& space, const SweepDatabase& database, const SweepCount& count,
                         const std::string& name, std::size_t width) {
    return first_line(database, count, name) + best_text(space, database, width) +
           reasons_text(database, width);
}

}  // namespace npuscope
