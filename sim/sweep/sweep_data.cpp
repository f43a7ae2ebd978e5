// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "sim/sweep/sweep_report.h"

namespace npuscope {
namespace {

constexpr std::size_t most_layers = 200'000;  ///< rows of layers on a page

Json layers_of(const SweepDatabase& database, const std::string& key) {
    Json rows = Json::array();
    for (const SweepRow& row :
         database.query("SELECT * FROM layers WHERE key = ? ORDER BY number", {key})) {
        rows.push_back({row.at("name"), row.at("kind"), row.at("cycles"), row.at("share"),
                        row.at("mac_utilisation"), row.at("bound_by")});
    }
    return rows;
}

}  // namespace

Json sweep_data(const Space& space, const SweepDatabase& database, const std::string& name) {
    const auto [rated, unrated] = rated_points(space, database);
    std::map<std::string, std::string> reasons;
    for (const UnratedPoint& point : unrated) {
        reasons[point.key] = "not ranked: " + point.why;
    }
    std::vector<Costs> costs;
    std::map<std::string, const Costs*> cost_of;
    for (const RatedPoint& point : rated) {
        costs.push_back(point.costs);
        cost_of[point.key] = &point.costs;
    }
    Json data{{"name", name},           {"shows", space.shows()},      {"version", ""},
              {"axes", Json::array()},  {"objectives", Json::array()}, {"points", Json::array()},
              {"front", Json::array()}, {"layers", Json::object()}};
    for (const Objective& objective : space.objectives()) {
        data["objectives"].push_back({{"name", objective.name}, {"maximise", objective.maximise}});
    }
    data["axes"] = axis_names(database);
    const std::map<std::string, SweepRow> axes = axis_values(database);
    std::map<std::string, Json> causes;
    for (const SweepRow& row : database.query("SELECT * FROM causes WHERE cycles > 0")) {
        causes[row.at("key").get<std::string>()][row.at("cause").get<std::string>()] =
            row.at("cycles");
    }
    static constexpr std::array columns{
        "key",        "number",      "status",   "cycles", "microseconds", "mac_utilisation",
        "read_bytes", "write_bytes", "bound_by", "error",  "experiment"};
    for (const SweepRow& row : database.query("SELECT * FROM designs ORDER BY number, key")) {
        const std::string key = row.at("key").get<std::string>();
        Json point;
        for (const char* column : columns) {
            point[column] = row.at(column);
        }
        point["axes"] = axes.contains(key) ? Json(axes.at(key)) : Json::object();
        if (const auto found = causes.find(key); found != causes.end()) {
            point["causes"] = found->second;
        }
        if (const auto found = cost_of.find(key); found != cost_of.end()) {
            point["costs"] = *found->second;
        }
        if (const auto found = reasons.find(key); found != reasons.end()) {
            point["error"] = found->second;
        }
        data["version"] = row.at("version");
        data["points"].push_back(std::move(point));
    }
    std::size_t layers = 0;
    for (const std::size_t one : pareto_front(costs)) {
        data["front"].push_back(rated[one].key);
        Json rows = layers_of(database, rated[one].key);
        layers += rows.size();
        if (layers <= most_layers) {
            data["layers"][rated[one].key] = std::move(rows);
        }
    }
    return data;
}

}  // namespace npuscope
