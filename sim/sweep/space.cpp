// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <set>
#include <span>

#include "models/base/error.h"
#include "sim/config/file_io.h"
#include "sim/config/limits.h"
#include "sim/config/text_table.h"
#include "sim/sweep/axis_reader.h"
#include "sim/sweep/sweep_database.h"

namespace npuscope {
namespace {

constexpr std::uint64_t most_designs = 1'000'000;  ///< of a grid that is fully listed
// before a sample stays smaller
constexpr std::uint64_t draws_per_design = 1'000;
constexpr std::uint64_t most_draws = 20'000'000;
constexpr std::uint64_t most_vain = 200'000;  ///< designs in a row that are left out
constexpr std::uint64_t latin_rounds = 64;
constexpr std::uint64_t usual_points = 100;

/// A generator with the same sequence on every machine.
using Generator = boost::random::mt19937_64;

std::uint64_t below(Generator& generator, std::uint64_t bound) {
    return boost::random::uniform_int_distribution<std::uint64_t>(0, bound - 1)(generator);
}

Objective read_objective(const ObjectiveSpec& spec, const ConfigNode& node) {
    if (spec.minimise.empty() == spec.maximise.empty()) {
        throw ConfigError(node.place, "an objective must be either minimised or maximised",
                          "{minimise: cycles}");
    }
    const bool maximise = spec.minimise.empty();
    const std::string& formula = maximise ? spec.maximise : spec.minimise;
    const Place& place = node.find(maximise ? "maximise" : "minimise")->place;
    return {spec.name.empty() ? formula : spec.name, Expression(formula, place), maximise};
}

/// ConfigError for a number that this kind of search does not use.
void require_use_of_search(const ConfigNode& search, SearchKind kind) {
    const bool grid = kind == SearchKind::Grid;
    const ConfigNode* points = grid ? search.find("points") : nullptr;
    const ConfigNode* seed = grid || kind == SearchKind::Adaptive ? search.find("seed") : nullptr;
    if (points != nullptr || seed != nullptr) {
        throw ConfigError((points != nullptr ? points : seed)->place,
                          fmt::format("`{}`: no effect with kind: {}",
                                      points != nullptr ? "points" : "seed", enum_name(kind)),
                          "leave it out, or choose a kind that uses it, such as random");
    }
}

/// Tables have a column of this name for every design.
bool is_column_of_points(const std::string& name) {
    const std::vector<std::string> columns = column_names(sweep_tables().front());
    return std::ranges::find(columns, name) != columns.end();
}

}  // namespace

bool is_space_file(const std::filesystem::path& path) { return file_has_key(path, "axes"); }

Space read_space(const std::filesystem::path& path, const std::string& shown) {
    return {parse_yaml(read_whole_file(path, {}, largest_config),
                       shown.empty() ? path.string() : shown),
            path.parent_path()};
}

Space::Space(const ConfigNode& root, std::filesystem::path folder) : folder_(std::move(folder)) {
    const auto spec = read_limited<SpaceSpec>(root, "sweep");
    shows_ = spec.shows;
    folder_ = folder_.empty() ? "." : folder_;
    folder_ = spec.folder.empty() ? folder_ : folder_ / spec.folder;
    base_ = spec.base;
    search_ = spec.search;
    expect_kind(base_, ConfigNode::Kind::Map, "base");
    const ConfigNode& axes = *root.find("axes");
    for (std::size_t i = 0; i < spec.axes.size(); ++i) {
        add_axis(read_axis(spec.axes[i], axes.items[i]), axes.items[i].place);
    }
    if (axes_.empty()) {
        throw ConfigError(axes.place, "a sweep without axes has one design only",
                          "give it an axis, or use `npuscope run`");
    }
    const std::vector<std::string> known = names();
    for (std::size_t i = 0; i < axes_.size(); ++i) {
        if (!spec.axes[i].when.empty()) {
            axes_[i].when.emplace(spec.axes[i].when, axes.items[i].find("when")->place, known);
        }
    }
    for (std::size_t i = 0; i < axes_.size(); ++i) {
        expect_own_fields(i, axes.items[i].place);
        expect_other_axes(i);
    }
    if (search_.points == std::uint64_t{0}) {
        throw ConfigError(root.find("search")->find("points")->place,
                          "`points` is 0: no design would run", "nearest legal value: points: 1");
    }
    if (const ConfigNode* search = root.find("search")) {
        require_use_of_search(*search, search_.kind);
    }
    for (std::size_t i = 0; i < spec.where.size(); ++i) {
        where_.emplace_back(spec.where[i], root.find("where")->items[i].place, known);
    }
    for (std::size_t i = 0; i < spec.objectives.size(); ++i) {
        const ConfigNode& node = root.find("objectives")->items[i];
        Objective objective = read_objective(spec.objectives[i], node);
        if (std::ranges::find(objectives_, objective.name, &Objective::name) != objectives_.end()) {
            throw ConfigError(node.place,
                              fmt::format("two objectives are called '{}'", objective.name),
                              "rename one of them, or leave it out");
        }
        objectives_.push_back(std::move(objective));
    }
    if (objectives_.empty()) {
        objectives_.push_back({"cycles", Expression("cycles", root.place), false});
    }
}

void Space::add_axis(Axis axis, const Place& place) {
    if (grid_ > (std::uint64_t{1} << 62U) / axis.choices.size()) {
        throw ConfigError(place, "the space has more than 2^62 designs",
                          "leave out an axis, or values");
    }
    grid_ *= axis.choices.size();
    if (std::ranges::find(axes_, axis.name, &Axis::name) != axes_.end()) {
        throw ConfigError(place, fmt::format("two axes are called '{}'", axis.name),
                          "rename one of them");
    }
    if (axis.fields.size() == 1 && axis.name != axis.fields.front() &&
        is_column_of_points(axis.name)) {
        throw ConfigError(place,
                          fmt::format("this axis is called '{}', as a result's column", axis.name),
                          "rename it");
    }
    axes_.push_back(std::move(axis));
}

void Space::expect_own_fields(std::size_t index, const Place& place) const {
    const Axis& axis = axes_[index];
    for (const Axis& earlier : std::span(axes_).first(index)) {
        const auto shared = std::ranges::find_first_of(axis.fields, earlier.fields);
        if (shared != axis.fields.end() && (!axis.when || !earlier.when)) {
            throw ConfigError(place, fmt::format("two axes set the field '{}'", *shared),
                              "leave one of them out, or give both a formula `when`");
        }
    }
}

std::vector<std::size_t> Space::axes_of_when(std::size_t index) const {
    std::vector<std::size_t> found;
    const auto is_of = [](const Axis& axis, const std::string& name) {
        return axis.name == name || std::ranges::count(axis.fields, name) > 0;
    };
    for (const std::string& name :
         axes_[index].when ? axes_[index].when->names() : std::vector<std::string>()) {
        if (is_of(axes_[index], name)) {
            found.push_back(index);
            continue;
        }
        const auto other =
            std::ranges::find_if(axes_, [&](const Axis& axis) { return is_of(axis, name); });
        found.push_back(static_cast<std::size_t>(other - axes_.begin()));
    }
    return found;
}

void Space::expect_other_axes(std::size_t index) const {
    std::vector<std::size_t> reached = axes_of_when(index);
    for (std::size_t i = 0; i < reached.size(); ++i) {
        if (reached[i] == index) {
            const std::string& name = axes_[index].name;
            const bool direct = std::ranges::count(axes_of_when(index), index) > 0;
            throw ConfigError(
                axes_[index].when->place(),
                fmt::format("`when` of the axis '{}' {}", name,
                            direct ? "refers to the axis itself"
                                   : fmt::format("depends on the axis '{}', and its `when` on '{}'",
                                                 axes_[reached.front()].name, name)),
                "a formula `when` uses other axes only: use `where`, or leave it out");
        }
        for (const std::size_t next : axes_of_when(reached[i])) {
            if (std::ranges::count(reached, next) == 0) {
                reached.push_back(next);
            }
        }
    }
}

const std::string& Space::column_of(const std::string& field) const {
    for (const Axis& axis : axes_) {
        if (axis.fields.size() == 1 && axis.fields.front() == field) {
            return axis.name;
        }
    }
    return field;
}

std::vector<std::string> Space::names() const {
    std::vector<std::string> known;
    for (const Axis& axis : axes_) {
        known.push_back(axis.name);
        known.insert(known.end(), axis.fields.begin(), axis.fields.end());
    }
    return known;
}

Design Space::design(std::uint64_t number) const {
    Design design{number, std::vector<std::size_t>(axes_.size())};
    for (std::size_t i = axes_.size(); i-- > 0;) {
        design.choices[i] = number % axes_[i].choices.size();
        number /= axes_[i].choices.size();
    }
    return design;
}

std::optional<FormulaValue> Space::value(const Design& design, const std::string& name) const {
    for (std::size_t i = 0; i < axes_.size(); ++i) {
        const Axis& axis = axes_[i];
        const auto& choice = axis.choices[design.choices[i]];
        if (axis.name == name && choice.size() == 1) {
            return formula_value(choice.front().text);
        }
        const auto field = std::ranges::find(axis.fields, name);
        if (field != axis.fields.end()) {
            return formula_value(
                choice[static_cast<std::size_t>(field - axis.fields.begin())].text);
        }
    }
    return {};
}

bool Space::applies(const Axis& axis, const Design& design) const {
    return !axis.when ||
           axis.when->holds([&](const std::string& name) { return value(design, name); });
}

bool Space::repeats(const Design& design) const {
    for (std::size_t i = 0; i < axes_.size(); ++i) {
        if (design.choices[i] != 0 && !applies(axes_[i], design)) {
            return true;
        }
    }
    return false;
}

bool Space::fulfils_where(const Design& design) const {
    std::set<std::string> absent;
    for (const Axis& axis : axes_) {
        if (!applies(axis, design)) {
            absent.insert(axis.name);
            absent.insert(axis.fields.begin(), axis.fields.end());
        }
    }
    return std::ranges::all_of(where_, [&](const Expression& formula) {
        const bool about_absent = std::ranges::any_of(
            formula.names(), [&](const std::string& name) { return absent.contains(name); });
        return about_absent ||
               formula.holds([&](const std::string& name) { return value(design, name); });
    });
}

void Space::take(Design design, std::vector<Design>& found, std::uint64_t& left_out) const {
    if (!repeats(design)) {
        fulfils_where(design) ? found.push_back(std::move(design)) : void(++left_out);
    }
}

std::vector<FieldValue> Space::changes(const Design& design) const {
    std::vector<FieldValue> changes;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
        const Axis& axis = axes_[i];
        for (std::size_t k = 0; applies(axis, design) && k < axis.fields.size(); ++k) {
            changes.push_back({axis.fields[k], axis.choices[design.choices[i]][k]});
        }
    }
    return changes;
}

std::vector<Design> Space::designs(std::uint64_t& left_out) const {
    std::vector<Design> found = candidates(left_out);
    if (found.empty() && left_out > 0) {
        throw ConfigError(where_.front().place(),
                          fmt::format("`where` leaves out all of {}", counted(left_out, "design")),
                          "relax it");
    }
    return found;
}

std::vector<Design> Space::candidates(std::uint64_t& left_out) const {
    const std::uint64_t count = std::min(search_.points.value_or(usual_points), most_designs);
    switch (search_.kind) {
        case SearchKind::Random:
            return random_sample(count, left_out);
        case SearchKind::Latin:
            return latin_sample(count, left_out);
        case SearchKind::Grid:
        case SearchKind::Adaptive:
            break;
    }
    return whole_grid(left_out);
}

std::vector<Design> Space::whole_grid(std::uint64_t& left_out) const {
    if (grid_ > most_designs) {
        throw ConfigError(base_.place,
                          fmt::format("the space has {} designs, more than the {} that can be "
                                      "listed",
                                      grid_, most_designs),
                          "search: {kind: random, points: 1000}");
    }
    std::vector<Design> found;
    for (std::uint64_t number = 0; number < grid_; ++number) {
        take(design(number), found, left_out);
    }
    return found;
}

std::vector<Design> Space::random_sample(std::uint64_t count, std::uint64_t& left_out) const {
    if (count >= grid_) {
        return whole_grid(left_out);
    }
    Generator generator(search_.seed);
    std::set<std::uint64_t> drawn;
    std::vector<Design> found;
    const std::uint64_t draws = std::min(draws_per_design * count, most_draws);
    std::uint64_t vain = 0;
    for (std::uint64_t draw = 0; found.size() < count && draw < draws && vain < most_vain; ++draw) {
        Design one = design(below(generator, grid_));
        if (drawn.insert(one.number).second) {
            const std::size_t before = found.size();
            take(std::move(one), found, left_out);
            vain = found.size() > before ? 0 : vain + 1;
        }
    }
    std::ranges::sort(found, {}, &Design::number);
    return found;
}

std::vector<Design> Space::latin_sample(std::uint64_t count, std::uint64_t& left_out) const {
    if (count >= grid_) {
        return whole_grid(left_out);
    }
    Generator generator(search_.seed);
    std::set<std::uint64_t> drawn;
    std::vector<Design> found;
    std::vector<std::vector<std::uint64_t>> order(axes_.size());
    const std::uint64_t rounds = std::min(latin_rounds, most_draws / count);
    std::uint64_t vain = 0;
    for (std::uint64_t round = 0; found.size() < count && round < rounds && vain < most_vain;
         ++round) {
        for (auto& strata : order) {
            strata.resize(count);
            for (std::uint64_t i = 0; i < count; ++i) {
                strata[i] = i;
                std::swap(strata[i], strata[below(generator, i + 1)]);
            }
        }
        for (std::uint64_t i = 0; found.size() < count && i < count && vain < most_vain; ++i) {
            std::uint64_t number = 0;
            for (std::size_t a = 0; a < axes_.size(); ++a) {
                const std::uint64_t choices = axes_[a].choices.size();
                number = number * choices + order[a][i] * choices / count;
            }
            Design one = design(number);
            if (drawn.insert(number).second) {
                const std::size_t before = found.size();
                take(std::move(one), found, left_out);
                vain = found.size() > before ? 0 : vain + 1;
            }
        }
    }
    std::ranges::sort(found, {}, &Design::number);
    return found;
}

}  // namespace npuscope
