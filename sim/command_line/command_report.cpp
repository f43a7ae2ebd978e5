// SPDX-License-Identifier: Apache-2.0
// `npuscope report`: a run, two runs or a sweep as one page.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <filesystem>
#include <memory>
#include <ostream>

#include "models/base/error.h"
#include "sim/command_line/command.h"
#include "sim/command_line/output_paths.h"
#include "sim/config/file_io.h"
#include "sim/report/reports.h"
#include "sim/sweep/sweep_report.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;

constexpr int most_nested = 100;  ///< results have fewer than ten

struct ReportArguments {
    std::vector<std::string> shown;
    std::string html;
};

Json read_json(const fs::path& file, const char* remedy) {
    const std::string text = read_whole_file(file);
    // Deeper lists are parsed, but copying or writing them would overflow the stack.
    const auto refuse_depth = [&](int depth, Json::parse_event_t /*event*/, Json& /*parsed*/) {
        if (depth > most_nested) {
            throw ConfigError(Place{file.string(), 0, 0},
                              fmt::format("is nested more than {} deep", most_nested), remedy);
        }
        return true;
    };
    Json json = Json::parse(text, refuse_depth, false);
    if (json.is_discarded()) {
        throw ConfigError(Place{file.string(), 0, 0}, "is not JSON", remedy);
    }
    return json;
}

/// For a run: the file that `--out` or `--json` wrote.
fs::path result_file(const std::string& shown) {
    std::error_code none;
    return fs::is_directory(shown, none) ? fs::path(shown) / "result.json" : fs::path(shown);
}

Json read_result(const std::string& shown) {
    using Type = Json::value_t;
    static constexpr std::array keys{
        std::pair{"version", Type::string},   std::pair{"command", Type::string},
        std::pair{"npu", Type::string},       std::pair{"program", Type::string},
        std::pair{"status", Type::string},    std::pair{"cycles", Type::number_unsigned},
        std::pair{"checks", Type::array},     std::pair{"traffic", Type::object},
        std::pair{"ports", Type::array},      std::pair{"layers", Type::array},
        std::pair{"operations", Type::array}, std::pair{"units", Type::object},
        std::pair{"findings", Type::array},   std::pair{"config", Type::object}};
    const fs::path file = result_file(shown);
    constexpr const char* remedy = "name a result that `npuscope run --json` wrote";
    Json result = read_json(file, remedy);
    for (const auto& [key, type] : keys) {
        const auto found = result.is_object() ? result.find(key) : result.end();
        if (found == result.end() || found->type() != type) {
            throw ConfigError(Place{file.string(), 0, 0},
                              fmt::format("is not the result of a run: it has no '{}'", key),
                              remedy);
        }
    }
    return result;
}

/// What the run's units did when, if that was written next to its result.
Json read_timeline(const std::string& shown) {
    const fs::path file = result_file(shown).parent_path() / "timeline.json";
    if (!file_exists(file)) {
        return {};
    }
    constexpr const char* remedy = "write it with `npuscope run --timeline`, or remove it";
    Json timeline = read_json(file, remedy);
    const auto events = timeline.is_object() ? timeline.find("traceEvents") : timeline.end();
    if (events == timeline.end() || !events->is_array()) {
        throw ConfigError(Place{file.string(), 0, 0}, "is not a timeline", remedy);
    }
    return timeline;
}

std::string page_of(const ReportArguments& arguments) {
    if (arguments.shown.size() == 2) {
        for (const fs::path one : arguments.shown) {
            if (file_exists(one / "results.sqlite")) {
                throw ConfigError(
                    fmt::format("'{}' is a sweep, but only runs are compared", one.string()),
                    "name one sweep, or one or two runs");
            }
        }
        return pair_page(read_result(arguments.shown.front()), read_result(arguments.shown.back()));
    }
    const fs::path shown = arguments.shown.front();
    if (file_exists(shown / "results.sqlite")) {
        const SweepDatabase database(shown / "results.sqlite");
        const fs::path name = fs::absolute(shown / "").lexically_normal().parent_path().filename();
        return sweep_page(sweep_data(read_space(shown / "space.yaml"), database, name.string()));
    }
    return run_page(read_result(shown.string()), read_timeline(shown.string()));
}

ExitCode report(const ReportArguments& arguments, const Console& console) {
    if (arguments.shown.size() > 2) {
        throw ConfigError("a page compares at most two runs", "name one or two");
    }
    std::vector<std::string> read = arguments.shown;
    for (const std::string& one : arguments.shown) {
        const fs::path result = result_file(one);
        read.push_back(result.string());
        for (const char* name : {"timeline.json", "results.sqlite", "space.yaml"}) {
            read.push_back((result.parent_path() / name).string());
        }
    }
    require_separate(std::array{OutputPath{"--html", arguments.html}}, read);
    const std::string page = page_of(arguments);
    write_atomically(arguments.html, page);
    console.out << fmt::format("{}: {:.1f} MB, opens in any browser\n", arguments.html,
                               static_cast<double>(page.size()) / 1e6);
    return ExitCode::Good;
}

}  // namespace

Command report_command() {
    return {"report", "shows a run, two runs or a sweep as one HTML page",
            "npuscope report results --html results.html", [](CLI::App& app, NpuFamilies) {
                const auto arguments = std::make_shared<ReportArguments>();
                app.add_option("WHAT", arguments->shown,
                               "a run: its folder (`run --out`) or its result (`run --json`); two "
                               "runs to compare; or the folder of a sweep. A run's page includes "
                               "the timeline if timeline.json is in the same folder")
                    ->required();
                app.add_option("--html", arguments->html,
                               "file for the page, which is self-contained (no network access)")
                    ->required()
                    ->type_name("FILE");
                return [arguments](const Console& console) { return report(*arguments, console); };
            }};
}

}  // namespace npuscope
