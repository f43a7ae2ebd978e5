// SPDX-License-Identifier: Apache-2.0
// Runs the designs of a space in worker processes and stores their results in a database. Points
// already in the database are not run again, so that an interrupted sweep resumes where it was.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "sim/sweep/pareto.h"
#include "sim/sweep/space.h"
#include "sim/sweep/sweep_database.h"

namespace npuscope {

/// How designs are run. A point is rows by table, as for SweepDatabase::add.
struct SweepWork {
    /// A design's key and what is known before it runs; with status `illegal` and the error if its
    /// configuration is rejected.
    std::function<Json(const Design&)> prepare;
    /// The complete point.
    std::function<Json(const Design&)> run;
    /// Numbers of the result that can be estimated without a run; an empty object if none can.
    std::function<Json(const Design&)> estimate;
};

struct SweepOptions {
    std::size_t jobs = 1;
    std::size_t task = 0;  ///< index of `tasks`: only designs whose keys belong to it
    std::size_t tasks = 1;
    /// Whether another database has the point of a key; may be empty.
    std::function<bool(const std::string&)> is_elsewhere{};
    std::function<void(const std::string&)> progress{};  ///< a line to show; may be empty
};

struct SweepCount {
    std::uint64_t designs = 0;   ///< in the space, or in the sample
    std::uint64_t left_out = 0;  ///< by `where`
    std::uint64_t ran = 0;       ///< in this call
    std::uint64_t found = 0;     ///< already in the database
    std::uint64_t equal = 0;     ///< to another design of this call
};

SweepCount run_sweep(const Space& space, SweepDatabase& database, const SweepWork& work,
                     const SweepOptions& options);

/// The value of a name in a point's objectives: an axis, a number of the result, a field of the
/// configuration.
std::optional<FormulaValue> point_value(const SweepRow& point, const Json& config,
                                        const SweepRow& axes, const std::string& name);

/// A design that ran, and of which nothing is wrong, with its costs.
struct RatedPoint {
    std::string key;
    Costs costs;
};

/// The same with an objective that cannot be computed, and why: `'1 / x' divides by 0`.
struct UnratedPoint {
    std::string key;
    std::string why;
};

struct RatedPoints {
    std::vector<RatedPoint> rated{};
    std::vector<UnratedPoint> unrated{};
};

/// All of the present space for which the objectives' names have values, in its order.
RatedPoints rated_points(const Space& space, const SweepDatabase& database);

}  // namespace npuscope
