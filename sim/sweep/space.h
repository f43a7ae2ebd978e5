// SPDX-License-Identifier: Apache-2.0
// The designs that a sweep tries: an experiment, and axes along which its keys change.
//
//     base: {program: resnet50, npu: nv_small, run: {values: off}}
//     axes:
//       - {fields: [npu.datapath.atomic_c, npu.datapath.atomic_k], values: [[8, 8], [16, 16]]}
//       - {name: banks, field: npu.cbuf.banks, log_range: {from: 4, to: 64}}
//       - {field: memory.read_latency, range: {from: 20, to: 200, step: 60}}
//     where: [npu.datapath.atomic_c * banks <= 512]
//     search: {kind: random, points: 10, seed: 7}
//     objectives:
//       - {name: time, minimise: cycles}
//
// A field is a key of an experiment (`program`, `npu`, `plan.winograd`) or one of `list fields`
// that begins with `npu.`, `memory.` or `host.`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/config_node.h"
#include "sim/config/field_types.h"
#include "sim/sweep/expression.h"

namespace npuscope {

/// Integers from one to another, at a constant distance.
struct RangeSpec {
    std::string from;
    std::string to;
    std::string step = "1";

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.required("from", self.from, "first value, in the field's unit: 64, 32 KiB, 1 GHz");
        visit.required("to", self.to, "upper limit, in the same way");
        visit.field("step", self.step, "distance between values, in the same way");
    }
};

/// Integers, each a multiple of the previous one.
struct LogRangeSpec {
    std::string from;
    std::string to;
    std::uint32_t factor = 2;

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.required("from", self.from, "first value, 1 or more, in the field's unit");
        visit.required("to", self.to, "no value is larger");
        visit.field("factor", self.factor, "ratio of one value to the previous one");
    }
};

struct AxisSpec {
    std::string name;
    std::string field;
    std::vector<std::string> fields{};
    std::vector<ConfigNode> values{};
    std::optional<RangeSpec> range{};
    std::optional<LogRangeSpec> log_range{};
    std::string when;

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("name", self.name,
                    "name used in formulas and tables; default: the field's name");
        visit.field("field", self.field, "key of an experiment, or field of NPU, memory or host");
        visit.field("fields", self.fields,
                    "several fields that change together; each value is then a list");
        visit.field("values", self.values, "list of the values that the field takes");
        visit.field("range", self.range, "whole numbers at equal distances, in place of values");
        visit.field("log_range", self.log_range,
                    "whole numbers, each the same multiple of the one before, in place of values");
        visit.field("when", self.when,
                    "formula over other axes: where false, the field keeps the base's value");
    }
};

enum class SearchKind { Grid, Random, Latin, Adaptive };

template <>
struct EnumNames<SearchKind> {
    static constexpr std::array names{
        std::pair{SearchKind::Grid, std::string_view("grid")},
        std::pair{SearchKind::Random, std::string_view("random")},
        std::pair{SearchKind::Latin, std::string_view("latin")},
        std::pair{SearchKind::Adaptive, std::string_view("adaptive")}};
};

struct SearchSpec {
    SearchKind kind = SearchKind::Grid;
    std::optional<std::uint64_t> points{};
    std::uint64_t seed = 1;

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("kind", self.kind,
                    "grid: every design of the space; random: `points` random designs; latin: "
                    "`points` designs of a Latin hypercube, with all values of an axis equally "
                    "often; adaptive: search for the best designs with at most `points` full runs");
        visit.field("points", self.points,
                    "designs to run, unless kind is grid; default: 100, for an adaptive search a "
                    "tenth of the space");
        visit.field("seed", self.seed, "seed of random choices");
    }
};

struct ObjectiveSpec {
    std::string name;
    std::string minimise;
    std::string maximise;

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("name", self.name, "name used in tables; default: the formula");
        visit.field("minimise", self.minimise,
                    "formula of axes, fields of the configuration and numbers of the result: "
                    "cycles, microseconds, read_bytes, write_bytes, mac_utilisation, inputs_per_"
                    "second; with `write: {energy: TABLE}` in the base also picojoules and "
                    "mac_square_micrometres");
        visit.field("maximise", self.maximise,
                    "like `minimise`, but to be maximised; give exactly one of the two");
    }
};

struct SpaceSpec {
    std::string shows;
    std::string folder;
    ConfigNode base;
    std::vector<AxisSpec> axes{};
    std::vector<std::string> where{};
    SearchSpec search;
    std::vector<ObjectiveSpec> objectives{};

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("shows", self.shows, "description shown by `npuscope list sweeps`");
        visit.field("folder", self.folder,
                    "folder that paths of the base are relative to; default: that of the file");
        visit.required("base", self.base,
                       "an experiment, written as in its own file; a design is the base with one "
                       "value of every axis");
        visit.required("axes", self.axes, "what changes, at least one");
        visit.field("where", self.where,
                    "formulas over axes that a design must satisfy; other designs are left out");
        visit.field("search", self.search, "which designs are tried");
        visit.field("objectives", self.objectives,
                    "optimisation objectives; default: fewest cycles. Several give a Pareto front");
    }
};

/// Name of the space in a sweep's folder, and of its file in the reasons that a database holds.
inline constexpr const char* space_file = "space.yaml";
inline constexpr const char* database_file = "results.sqlite";

/// One field of a design, with its value as YAML.
struct FieldValue {
    std::string field;
    ConfigNode value;
};

struct Axis {
    std::string name;
    std::vector<std::string> fields;
    std::vector<std::vector<ConfigNode>> choices;  ///< each has a value for every field
    std::vector<ConfigNode> written{};             ///< of a range: its numbers with units, if any
    std::optional<Expression> when{};
};

struct Objective {
    std::string name;
    Expression formula;
    bool maximise = false;

    /// Smaller is better.
    double cost(const Expression::Lookup& lookup) const {
        return maximise ? -formula.number(lookup) : formula.number(lookup);
    }
};

/// A design: the choice made on each axis.
struct Design {
    std::uint64_t number = 0;            ///< in the grid; last axis fastest
    std::vector<std::size_t> choices{};  ///< by axis
};

class Space {
 public:
    /// From the contents of a file in `folder`. ConfigError with its place.
    Space(const ConfigNode& root, std::filesystem::path folder);

    const std::string& shows() const { return shows_; }
    const ConfigNode& base() const { return base_; }
    /// The base's paths are relative to it.
    const std::filesystem::path& folder() const { return folder_; }
    const std::vector<Axis>& axes() const { return axes_; }
    const std::vector<Objective>& objectives() const { return objectives_; }
    const SearchSpec& search() const { return search_; }
    /// Designs of the entire grid, including those that `where` excludes.
    std::uint64_t grid() const { return grid_; }

    Design design(std::uint64_t number) const;
    /// Differences from the base, in the order of the axes.
    std::vector<FieldValue> changes(const Design& design) const;
    /// The value of an axis, by its name or its field's; nothing if it is not applied, or no axis
    /// has that name.
    std::optional<FormulaValue> value(const Design& design, const std::string& name) const;

    /// The axis of a field as tables name it: by its name, or by the field if it has several.
    const std::string& column_of(const std::string& field) const;

    /// Every design of a grid, in order, or those of a random or Latin sample; for an adaptive
    /// search all candidates. `left_out` counts those that `where` excludes. ConfigError if it
    /// excludes all of them.
    std::vector<Design> designs(std::uint64_t& left_out) const;

 private:
    void add_axis(Axis axis, const Place& place);
    /// ConfigError if an axis sets a field that an earlier one sets in the same designs.
    void expect_own_fields(std::size_t index, const Place& place) const;
    /// ConfigError if whether an axis applies depends on its own value.
    void expect_other_axes(std::size_t index) const;
    /// The axes whose values an axis's `when` needs.
    std::vector<std::size_t> axes_of_when(std::size_t index) const;
    std::vector<std::string> names() const;
    std::vector<Design> candidates(std::uint64_t& left_out) const;
    std::vector<Design> whole_grid(std::uint64_t& left_out) const;
    std::vector<Design> random_sample(std::uint64_t count, std::uint64_t& left_out) const;
    std::vector<Design> latin_sample(std::uint64_t count, std::uint64_t& left_out) const;
    bool applies(const Axis& axis, const Design& design) const;
    /// Whether an axis that is not applied is at another value than its first: the design with the
    /// first value is the same.
    bool repeats(const Design& design) const;
    bool fulfils_where(const Design& design) const;
    void take(Design design, std::vector<Design>& found, std::uint64_t& left_out) const;

    std::string shows_;
    ConfigNode base_;
    std::filesystem::path folder_;
    std::vector<Axis> axes_;
    std::vector<Expression> where_;
    SearchSpec search_;
    std::vector<Objective> objectives_;
    std::uint64_t grid_ = 1;
};

/// Reads a space from its file; `shown`, if given, is its name in messages. ConfigError with its
/// place.
Space read_space(const std::filesystem::path& path, const std::string& shown = {});

/// Whether a YAML file is a sweep's space, i.e. has axes.
bool is_space_file(const std::filesystem::path& path);

}  // namespace npuscope
