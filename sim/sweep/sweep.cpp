// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <sstream>

#include "models/base/error.h"
#include "sim/sweep/worker_pool.h"

namespace npuscope {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int progress_ms = 250;
constexpr auto commit_every = std::chrono::milliseconds(500);
constexpr std::size_t adaptive_batch = 8;  ///< the same for any number of workers: reproducible
constexpr std::uint64_t adaptive_share = 10;

/// Nothing if a name of an objective has no value, or an objective cannot be computed; then `why`
/// has the reason.
std::optional<Costs> costs_of(const std::vector<Objective>& objectives,
                              const Expression::Lookup& lookup, std::string* why = nullptr) {
    Costs costs;
    for (const Objective& objective : objectives) {
        const auto& names = objective.formula.names();
        if (std::ranges::any_of(names, [&](const std::string& name) { return !lookup(name); })) {
            return {};
        }
        try {
            costs.push_back(objective.cost(lookup));
        } catch (const ConfigError& error) {
            if (why != nullptr) {
                *why = error.sentence();
            }
            return {};
        }
    }
    return costs;
}

const std::string& key_of(const Json& point) {
    return point.at("points").front().at("key").get_ref<const std::string&>();
}

/// Which task a key belongs to: the same on every machine.
std::size_t task_of(const std::string& key, std::size_t tasks) {
    std::uint64_t sum = 0;
    for (const char letter : key) {
        sum = sum * 31 + static_cast<unsigned char>(letter);
    }
    return sum % tasks;
}

/// `  123 of 2,000 designs, 18.3 a second, 102 s left`.
class ProgressLine {
 public:
    ProgressLine(const SweepOptions& options, std::uint64_t all)
        : show_(options.progress), all_(all), begin_(Clock::now()) {}

    void update(std::uint64_t done, std::uint64_t ran) {
        const auto now = Clock::now();
        if (!show_ || (now - shown_ < std::chrono::milliseconds(progress_ms) && done < all_)) {
            return;
        }
        shown_ = now;
        const double seconds = std::chrono::duration<double>(now - begin_).count();
        const double rate = seconds > 0 ? static_cast<double>(ran) / seconds : 0;
        show_(fmt::format(
            "  {} of {} design{}, {:.1f} a second{}", done, all_, all_ == 1 ? "" : "s", rate,
            rate > 0 ? fmt::format(", {:.0f} s left", static_cast<double>(all_ - done) / rate)
                     : ""));
    }

 private:
    const std::function<void(const std::string&)>& show_;
    std::uint64_t all_;
    Clock::time_point begin_;
    Clock::time_point shown_{};
};

class SweepRun {
 public:
    SweepRun(const Space& space, SweepDatabase& database, const SweepWork& work,
             const SweepOptions& options)
        : space_(space), database_(database), work_(work), options_(options) {
        designs_ = space_.designs(count_.left_out);
        count_.designs = designs_.size();
    }

    SweepCount all() {
        database_.begin_space();
        WorkerPool pool(options_.jobs, [this](std::uint64_t piece) { return answer(piece); });
        if (space_.search().kind == SearchKind::Adaptive) {
            search(pool);
        } else {
            std::vector<std::size_t> order(designs_.size());
            for (std::size_t i = 0; i < order.size(); ++i) {
                order[i] = i;
            }
            ProgressLine line(options_, order.size());
            run(pool, order, line);
        }
        database_.commit();
        return count_;
    }

 private:
    /// A worker's task: runs the design, or estimates it. Even pieces of work are runs.
    std::string answer(std::uint64_t piece) const {
        const Design& design = designs_[piece / 2];
        const Json found = piece % 2 == 0 ? work_.run(design) : work_.estimate(design);
        return found.dump(-1, ' ', false, Json::error_handler_t::replace);
    }

    /// Runs these designs; each is prepared when a worker is free for it.
    void run(WorkerPool& pool, const std::vector<std::size_t>& order, ProgressLine& line) {
        std::map<std::uint64_t, Json> running;
        auto next = order.begin();
        while (next != order.end() || pool.has_busy()) {
            if (next != order.end() && pool.has_idle()) {
                const std::size_t design = *next++;
                Json point = work_.prepare(designs_[design]);
                const std::string& key = key_of(point);
                const bool illegal = point.at("points").front().value("status", "") == "illegal";
                keys_[design] = key;
                if (illegal) {
                    illegal_.insert(design);
                }
                if (task_of(key, options_.tasks) != options_.task) {
                    ++done_;
                } else if (!seen_.insert(key).second) {
                    ++count_.equal;
                    ++done_;
                } else if (is_known(key)) {
                    database_.adopt(point);
                    ++count_.found;
                    ++done_;
                } else if (illegal) {
                    store(point);
                } else {
                    pool.give(2 * design);
                    running[design] = std::move(point);
                }
            } else if (auto answer = pool.take(progress_ms)) {
                const std::uint64_t design = answer->work / 2;
                Json point = answer->crash ? crashed(running.at(design), *answer->crash)
                                           : Json::parse(answer->text);
                running.erase(design);
                store(point);
            }
            line.update(done_, count_.ran);
        }
    }

    bool is_known(const std::string& key) const {
        return database_.is_finished(key) || (options_.is_elsewhere && options_.is_elsewhere(key));
    }

    void store(const Json& point) {
        database_.add(point);
        ++count_.ran;
        ++done_;
        if (Clock::now() - committed_ > commit_every) {
            database_.commit();
            committed_ = Clock::now();
        }
    }

    static Json crashed(Json point, const std::string& how) {
        point["points"].front()["status"] = "crashed";
        point["points"].front()["error"] = how;
        return point;
    }

    /// Estimates of all designs, as far as available.
    std::vector<std::optional<Costs>> estimates(WorkerPool& pool) {
        std::vector<std::optional<Costs>> found(designs_.size());
        std::size_t next = 0;
        while (next < designs_.size() || pool.has_busy()) {
            if (next < designs_.size() && pool.has_idle()) {
                pool.give(2 * next++ + 1);
            } else if (const auto answer = pool.take(progress_ms); answer && !answer->crash) {
                const std::size_t design = answer->work / 2;
                found[design] = estimated_costs(designs_[design], Json::parse(answer->text));
            }
        }
        return found;
    }

    std::optional<Costs> estimated_costs(const Design& design, const Json& numbers) const {
        SweepRow point;
        for (const auto& [name, value] : numbers.items()) {
            point[name] = value;
        }
        const auto config = numbers.find("config");
        const Json fields = config == numbers.end() ? Json() : *config;
        return costs_of(space_.objectives(), [&](const std::string& name) {
            const auto own = space_.value(design, name);
            return own ? own : point_value(point, fields, {}, name);
        });
    }

    std::vector<std::vector<double>> places() const {
        std::vector<std::vector<double>> found;
        for (const Design& design : designs_) {
            std::vector<double> place;
            for (std::size_t i = 0; i < design.choices.size(); ++i) {
                const auto last = static_cast<double>(space_.axes()[i].choices.size() - 1);
                place.push_back(last == 0 ? 0 : static_cast<double>(design.choices[i]) / last);
            }
            found.push_back(std::move(place));
        }
        return found;
    }

    void search(WorkerPool& pool) {
        const std::uint64_t budget = space_.search().points.value_or(
            std::max<std::uint64_t>(designs_.size() / adaptive_share, 1));
        FrontSearch search(places(), estimates(pool), budget);
        ProgressLine line(options_, budget);
        for (auto batch = search.next(adaptive_batch); !batch.empty();
             batch = search.next(adaptive_batch)) {
            run(pool, batch, line);
            database_.commit();
            std::map<std::string, Costs> rated;
            RatedPoints found = rated_points(space_, database_);
            for (RatedPoint& point : found.rated) {
                rated[point.key] = std::move(point.costs);
            }
            for (const std::size_t design : batch) {
                if (illegal_.contains(design)) {
                    search.refuse();
                    continue;
                }
                const auto one = rated.find(keys_.at(design));
                search.tell(design, one == rated.end() ? std::optional<Costs>()
                                                       : std::optional(one->second));
            }
        }
    }

    const Space& space_;
    SweepDatabase& database_;
    const SweepWork& work_;
    const SweepOptions& options_;
    std::vector<Design> designs_;
    SweepCount count_;
    std::set<std::string> seen_;
    std::set<std::size_t> illegal_;  // designs that a limit refuses
    std::map<std::size_t, std::string> keys_;
    std::uint64_t done_ = 0;
    Clock::time_point committed_ = Clock::now();
};

/// A field of a configuration by its dotted name, `memory.regions[0].bandwidth`.
const Json* field_of(const Json& config, std::string name) {
    std::ranges::replace(name, '[', '.');
    std::erase(name, ']');
    Json::json_pointer pointer;
    std::istringstream rest(name);
    for (std::string step; std::getline(rest, step, '.');) {
        pointer.push_back(step);
    }
    try {
        return config.contains(pointer) ? &config.at(pointer) : nullptr;
    } catch (const Json::out_of_range&) {
        return nullptr;  // an index of more than 64 bits
    }
}

std::optional<FormulaValue> value_of(const Json& value) {
    if (value.is_boolean()) {
        return value.get<bool>();
    }
    constexpr std::uint64_t exact = std::uint64_t{1} << 53U;
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > exact) {
        return value.get<double>();
    }
    if (value.is_number_integer()) {
        return value.get<std::int64_t>();
    }
    if (value.is_number()) {
        return value.get<double>();
    }
    if (value.is_string()) {
        return formula_value(value.get<std::string>());
    }
    return {};
}

}  // namespace

SweepCount run_sweep(const Space& space, SweepDatabase& database, const SweepWork& work,
                     const SweepOptions& options) {
    return SweepRun(space, database, work, options).all();
}

std::optional<FormulaValue> point_value(const SweepRow& point, const Json& config,
                                        const SweepRow& axes, const std::string& name) {
    for (const SweepRow* row : {&axes, &point}) {
        if (const auto found = row->find(name); found != row->end()) {
            return value_of(found->second);
        }
    }
    const Json* field = field_of(config, name);
    return field == nullptr ? std::optional<FormulaValue>() : value_of(*field);
}

RatedPoints rated_points(const Space& space, const SweepDatabase& database) {
    std::map<std::string, SweepRow> axes = axis_values(database);
    RatedPoints found;
    for (const SweepRow& row :
         database.query("SELECT * FROM " + std::string(rated_designs) + " ORDER BY number, key")) {
        const std::string key = row.at("key").get<std::string>();
        const Json config = Json::parse(row.at("config").get<std::string>(), nullptr, false);
        const auto lookup = [&](const std::string& name) {
            const auto own = point_value(row, config, axes[key], name);
            return own ? own : point_value(row, config, axes[key], space.column_of(name));
        };
        std::string why;
        if (auto costs = costs_of(space.objectives(), lookup, &why)) {
            found.rated.push_back({key, std::move(*costs)});
        } else if (!why.empty()) {
            found.unrated.push_back({key, std::move(why)});
        }
    }
    return found;
}

}  // namespace npuscope
