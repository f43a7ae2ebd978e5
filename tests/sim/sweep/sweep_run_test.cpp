// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock-matchers.h>

#include <csignal>
#include <fstream>

#include "sim/sweep/sweep.h"
#include "sim/sweep/sweep_report.h"
#include "tests/sim/message_of.h"
#include "tests/support/temp_folder.h"

namespace npuscope {
namespace {

using sample::message_of;
using testing::AllOf;
using testing::HasSubstr;

constexpr const char* text =
    "base: {program: x}\n"
    "axes:\n"
    "  - {field: a, range: {from: 1, to: 6}}\n"
    "  - {field: b, range: {from: 1, to: 6}}\n"
    "objectives: [{minimise: cycles}, {name: sum, minimise: a + b}]\n";

std::int64_t number(const Space& space, const Design& design, const std::string& name) {
    return std::get<std::int64_t>(*space.value(design, name));
}

/// A synthetic NPU: 720 / (a * b) cycles; 5 is no legal `a`, a = 4 with b = 4 crashes, and the result
/// of b = 7 is wrong.
SweepWork work_of(const Space& space) {
    const auto known = [&space](const Design& design) {
        const auto a = number(space, design, "a");
        const auto b = number(space, design, "b");
        Json point{
            {"points",
             {{{"key", fmt::format("{}-{}", a, b)}, {"number", design.number}, {"config", "{}"}}}},
            {"axes",
             {{{"axis", "a"}, {"value", std::to_string(a)}},
              {{"axis", "b"}, {"value", std::to_string(b)}}}}};
        if (a == 5) {
            point["points"].front()["status"] = "illegal";
            point["points"].front()["error"] = "a is 5";
        }
        return point;
    };
    return {known,
            [&space, known](const Design& design) {
                const auto a = number(space, design, "a");
                const auto b = number(space, design, "b");
                if (a == 4 && b == 4) {
                    std::raise(SIGSEGV);
                }
                Json point = known(design);
                point["points"].front()["status"] = b == 7 ? "fail" : "unchecked";
                point["points"].front()["cycles"] = 720 / (a * b);
                return point;
            },
            [](const Design&) { return Json::object(); }};
}

std::string all_rows(const SweepDatabase& database) { return sweep_csv(database); }

TEST(Sweep, keepsEveryDesignWithItsResultOrTheReasonForNone) {
    const TempFolder folder;
    const Space space(parse_yaml(text, "space.yaml"), "/");
    SweepDatabase database(folder.path() / "results.sqlite");
    const SweepCount count = run_sweep(space, database, work_of(space), {.jobs = 3});
    EXPECT_EQ(count.designs, 36U);
    EXPECT_EQ(count.ran, 36U);
    const auto state = [&](const std::string& key) {
        return database.query("SELECT * FROM points WHERE key = ?", {key}).front();
    };
    EXPECT_EQ(state("2-3").at("cycles"), 120);
    EXPECT_EQ(state("5-1").at("status"), "illegal");
    EXPECT_EQ(state("4-4").at("status"), "crashed");
    EXPECT_THAT(state("4-4").at("error").get<std::string>(), HasSubstr("signal 11"));
    const std::string report = sweep_report(space, database, count, "x");
    EXPECT_THAT(report, HasSubstr("Pareto front, minimised cycles, minimised sum"));
    EXPECT_THAT(report, HasSubstr("6 illegal: a is 5"));
}

TEST(Sweep, aDesignWhoseObjectiveHasNoValueIsNotRankedButNamed) {
    const TempFolder folder;
    const auto report = [&](const std::string& objective, const std::string& name) {
        const Space space(parse_yaml("base: {program: x}\naxes:\n"
                                     "  - {field: a, range: {from: 1, to: 3}}\n"
                                     "  - {field: b, range: {from: 1, to: 3}}\n"
                                     "objectives: [{name: o, minimise: " +
                                         objective + "}]\n",
                                     "space.yaml"),
                          "/");
        SweepDatabase database(folder.path() / name);
        const SweepCount count = run_sweep(space, database, work_of(space), {.jobs = 1});
        const Json page = sweep_data(space, database, "x");
        const std::string error = page.at("points").back().at("error").is_null()
                                      ? ""
                                      : page.at("points").back().at("error").get<std::string>();
        return sweep_report(space, database, count, "x") + error;
    };
    const std::string one = report("1 / (cycles - 80)", "one");
    EXPECT_THAT(one, HasSubstr("best, minimised o, of 8 designs"));
    EXPECT_THAT(one, HasSubstr("not ranked, because an objective has no value\n"
                               "  1 design, a=3, b=3: '1 / (cycles - 80)' divides by 0\n"));
    EXPECT_THAT(one, HasSubstr("not ranked: '1 / (cycles - 80)' divides by 0"));
    EXPECT_THAT(report("ln(a - b)", "some"),
                AllOf(HasSubstr("of 3 designs"),
                      HasSubstr("  3 designs, first a=1, b=1: 'ln(a - b)' takes the logarithm of "
                                "0\n")));
    EXPECT_THAT(report("a / (b - b)", "none"), HasSubstr("  9 designs, first a=1, b=1: "));
}

TEST(Sweep, goesOnWhereItWas) {
    const TempFolder folder;
    const Space space(parse_yaml(text, "space.yaml"), "/");
    SweepDatabase whole(folder.path() / "whole.sqlite");
    run_sweep(space, whole, work_of(space), {.jobs = 2});
    {
        SweepDatabase part(folder.path() / "part.sqlite");
        const Space few(
            parse_yaml(std::string(text) + "search: {kind: random, points: 9}\n", "space.yaml"),
            "/");
        run_sweep(few, part, work_of(few), {.jobs = 1});
    }
    SweepDatabase part(folder.path() / "part.sqlite");
    const SweepCount count = run_sweep(space, part, work_of(space), {.jobs = 1});
    EXPECT_GT(count.found, 5U);
    EXPECT_EQ(count.found + count.ran, 36U);
    EXPECT_EQ(all_rows(part), all_rows(whole));
    // Only what crashed is tried again.
    EXPECT_EQ(run_sweep(space, part, work_of(space), {.jobs = 1}).ran, 1U);
}

TEST(Sweep, tasksTogetherFindWhatOneProcessFinds) {
    const TempFolder folder;
    const Space space(parse_yaml(text, "space.yaml"), "/");
    SweepDatabase whole(folder.path() / "whole.sqlite");
    run_sweep(space, whole, work_of(space), {.jobs = 2});
    SweepDatabase all(folder.path() / "all.sqlite");
    for (std::size_t task = 0; task < 3; ++task) {
        const auto file = folder.path() / fmt::format("{}.sqlite", task);
        {
            SweepDatabase own(file);
            run_sweep(space, own, work_of(space), {.jobs = 1, .task = task, .tasks = 3});
        }
        all.merge(file);
        all.merge(file);
    }
    // A crashed design is no result that a task can hand over.
    run_sweep(space, all, work_of(space), {.jobs = 1});
    EXPECT_EQ(all_rows(all), all_rows(whole));
}

TEST(Sweep, anAdaptiveSearchRunsAFewOnly) {
    const TempFolder folder;
    const Space space(
        parse_yaml(std::string(text) + "search: {kind: adaptive, points: 12}\n", "space.yaml"),
        "/");
    SweepDatabase database(folder.path() / "results.sqlite");
    const SweepCount count = run_sweep(space, database, work_of(space), {.jobs = 2});
    const std::size_t illegal =
        database.query("SELECT 1 FROM points WHERE status = 'illegal'", {}).size();
    EXPECT_GT(illegal, 0U);
    EXPECT_LE(count.ran, 12U + illegal);
    EXPECT_GT(rated_points(space, database).rated.size(), 4U);
}

TEST(Sweep, equalDesignsAreNotSaidToBeInTheDatabase) {
    const TempFolder folder;
    const Space space(parse_yaml("base: {program: x}\n"
                                 "axes: [{field: a, values: [1, 0x1]}, {field: b, values: [2]}]\n",
                                 "space.yaml"),
                      "/");
    SweepDatabase database(folder.path() / "results.sqlite");
    const SweepCount first = run_sweep(space, database, work_of(space), {.jobs = 1});
    EXPECT_THAT(sweep_report(space, database, first, "x"),
                HasSubstr("x: 2 designs, 1 run now, 1 equal to others\n"));
    const SweepCount again = run_sweep(space, database, work_of(space), {.jobs = 1});
    EXPECT_THAT(sweep_report(space, database, again, "x"),
                HasSubstr("x: 2 designs, 0 run now, 1 already in the database, 1 equal to others"));
}

TEST(Sweep, aReportWithoutAnyResultGivesReasonsOnly) {
    const TempFolder folder;
    const Space space(parse_yaml("base: {program: x}\n"
                                 "axes: [{field: a, values: [5]}, {field: b, values: [1, 2]}]\n",
                                 "space.yaml"),
                      "/");
    SweepDatabase database(folder.path() / "results.sqlite");
    const SweepCount count = run_sweep(space, database, work_of(space), {.jobs = 1});
    EXPECT_EQ(sweep_report(space, database, count, "x"),
              "x: 2 designs, 2 run now\n  in the database: 2 illegal\n"
              "\ndesigns without a result, and why\n  2 illegal: a is 5\n");
}

TEST(Sweep, objectivesNameAnAxisByItsFieldAsWell) {
    const TempFolder folder;
    const Space space(parse_yaml("base: {program: x}\n"
                                 "axes: [{name: a, field: plan.x, values: [1, 2]},\n"
                                 "       {name: b, field: plan.y, values: [3]}]\n"
                                 "objectives: [{maximise: plan.x * plan.y}]\n",
                                 "space.yaml"),
                      "/");
    SweepDatabase database(folder.path() / "results.sqlite");
    run_sweep(space, database, work_of(space), {.jobs = 1});
    const std::vector<RatedPoint> rated = rated_points(space, database).rated;
    ASSERT_EQ(rated.size(), 2U);
    EXPECT_EQ(rated.front().costs, Costs{-3});
    EXPECT_EQ(rated.back().costs, Costs{-6});
}

TEST(Sweep, designsWithWrongResultsAreNotRanked) {
    const TempFolder folder;
    const Space space(parse_yaml("base: {program: x}\n"
                                 "axes: [{field: a, values: [1, 2]}, {field: b, values: [1, 7]}]\n",
                                 "space.yaml"),
                      "/");
    SweepDatabase database(folder.path() / "results.sqlite");
    const SweepCount count = run_sweep(space, database, work_of(space), {.jobs = 1});
    EXPECT_EQ(rated_points(space, database).rated.size(), 2U);
    const std::string report = sweep_report(space, database, count, "x");
    EXPECT_THAT(report, HasSubstr("best, minimised cycles, of 2 designs\n"));
    EXPECT_THAT(report, HasSubstr("\nnot ranked: 2 fail\n"));
    EXPECT_THAT(report, HasSubstr("360"));
    const Space wrong(parse_yaml("base: {program: x}\n"
                                 "axes: [{field: a, values: [1, 2]}, {field: b, values: [7]}]\n",
                                 "space.yaml"),
                      "/");
    const SweepCount again = run_sweep(wrong, database, work_of(wrong), {.jobs = 1});
    EXPECT_EQ(sweep_report(wrong, database, again, "x"),
              "x: 2 designs, 0 run now, 2 already in the database\n"
              "  in the database: 2 fail; also 2 designs that are not in this space\n"
              "\nnot ranked: 2 fail\n");
}

TEST(Sweep, onlyDesignsOfThePresentSpaceAreRanked) {
    const TempFolder folder;
    const Space space(parse_yaml(text, "space.yaml"), "/");
    const Space other(parse_yaml("base: {program: x}\n"
                                 "axes:\n"
                                 "  - {field: b, range: {from: 2, to: 3}}\n"
                                 "  - {field: a, values: [1, 2, 7]}\n"
                                 "where: [a != 2 || b != 2]\n",
                                 "space.yaml"),
                      "/");
    SweepDatabase database(folder.path() / "results.sqlite");
    run_sweep(space, database, work_of(space), {.jobs = 1});
    const SweepCount count = run_sweep(other, database, work_of(other), {.jobs = 1});
    EXPECT_EQ(count.found, 3U);
    EXPECT_EQ(count.ran, 2U);
    EXPECT_EQ(rated_points(other, database).rated.size(), 5U);
    const std::string report = sweep_report(other, database, count, "x");
    EXPECT_THAT(report, HasSubstr("  in the database: 5 unchecked; also 33 designs that are not in "
                                  "this space\n"));
    EXPECT_THAT(report, HasSubstr("best, minimised cycles, of 5 designs"));
    SweepDatabase fresh(folder.path() / "fresh.sqlite");
    run_sweep(other, fresh, work_of(other), {.jobs = 1});
    EXPECT_EQ(all_rows(database), all_rows(fresh));
    EXPECT_EQ(sweep_data(other, database, "x"), sweep_data(other, fresh, "x"));
}

TEST(Sweep, aFieldOfAListIsNamedByItsIndex) {
    const Json config = Json::parse(R"({"memory": {"regions": [{"size": 4}, {"size": 8}]}})");
    EXPECT_EQ(point_value({}, config, {}, "memory.regions[1].size"), FormulaValue(std::int64_t{8}));
    EXPECT_EQ(point_value({}, config, {}, "memory.regions[2].size"), std::nullopt);
    EXPECT_EQ(point_value({}, config, {}, "memory.regions.size"), std::nullopt);
    EXPECT_EQ(point_value({}, config, {}, "memory[0].regions"), std::nullopt);
    for (const char* index : {"18446744073709551615", "99999999999999999999999"}) {
        const std::string name = fmt::format("memory.regions[{}].size", index);
        EXPECT_EQ(point_value({}, config, {}, name), std::nullopt);
    }
}

TEST(SweepDatabase, refusesOtherFiles) {
    const TempFolder folder;
    std::ofstream(folder.path() / "text.sqlite") << "no database, but a text of some length";
    EXPECT_THAT(message_of([&] { SweepDatabase(folder.path() / "text.sqlite"); }),
                HasSubstr("file is not a database (remove the file, or take another folder)"));
    EXPECT_THAT(message_of([&] { SweepDatabase(folder.path() / "none" / "x.sqlite"); }),
                HasSubstr("cannot be opened"));
}

}  // namespace
}  // namespace npuscope
