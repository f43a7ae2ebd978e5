// SPDX-License-Identifier: Apache-2.0
// `accuracy`: replays the programs that the RTL was measured with and prints the errors.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "bench/accuracy_report.h"
#include "bench/bench_main.h"
#include "bench/measured_errors.h"
#include "bench/preset_rows.h"
#include "bench/replay_jobs.h"
#include "models/base/error.h"
#include "sim/config/file_io.h"
#include "sim/config/yaml_reader.h"
#include "tests/support/reference_data.h"

namespace npuscope::bench {
namespace {

namespace fs = std::filesystem;

struct Arguments {
    std::vector<std::string> tables;
    std::vector<std::string> programs;
    std::vector<std::string> pairs;
    std::string npu = "nv_small";
    std::vector<std::string> changes;
    std::string write;
    std::string measured;
    std::string only;
    std::string setting;
    std::string set;
    std::size_t worst = 10;
    unsigned jobs = 2;
    bool presets = false;
    bool rows = false;
};

/// Without tables given by the user, those next to the repository.
void use_reference_data(Arguments& arguments, const fs::path& data) {
    for (const auto& [table, programs] : nv_small_tables(data)) {
        arguments.tables.push_back(table.string());
        arguments.programs.push_back(programs.string());
    }
    arguments.pairs = {nv_small_pairs(data).string()};
}

void add_set(AccuracyReport& report, std::vector<ReferenceRow>& rows, const ReferenceSet& set) {
    rows.insert(rows.end(), set.rows.begin(), set.rows.end());
    for (const auto& [reason, count] : set.left_out) {
        report.left_out[reason] += count;
    }
}

std::vector<ReferenceRow> read_rows(const Arguments& arguments, AccuracyReport& report) {
    std::vector<ReferenceRow> rows;
    if (arguments.presets) {
        add_set(report, rows, preset_rows(reference_data(NPUSCOPE_SOURCE)));
    }
    for (std::size_t i = 0; i < arguments.tables.size(); ++i) {
        const fs::path table = arguments.tables[i];
        add_set(report, rows,
                rows_of_table(CsvTable::read(table), table.stem().string(), arguments.programs[i]));
    }
    for (const std::string& pairs : arguments.pairs) {
        add_set(report, rows, rows_of_pairs(pairs));
    }
    std::erase_if(rows, [&](const ReferenceRow& row) {
        const bool other_setting =
            !arguments.setting.empty() && to_string(row.setting) != arguments.setting;
        return other_setting || row.name.find(arguments.only) == std::string::npos ||
               row.set.find(arguments.set) == std::string::npos;
    });
    return rows;
}

/// The machine that a row was measured with.
SystemConfig system_of(const ReferenceRow& row, const Arguments& arguments) {
    SystemConfig system = measured_system(row, arguments.npu);
    for (const std::string& change : arguments.changes) {
        override_field(system, change);
    }
    return system;
}

int measure(const Arguments& arguments) {
    AccuracyReport report;
    const std::vector<ReferenceRow> rows = read_rows(arguments, report);
    report.rows = replay_all(
        rows, [&](const ReferenceRow& row) { return system_of(row, arguments); }, arguments.jobs);
    if (arguments.rows) {
        std::cout << rows_of(report);
    }
    std::cout << tables_of(report, TableStyle::Text, arguments.worst);
    if (!arguments.write.empty()) {
        const std::string page = read_whole_file(arguments.write);
        const std::string tables = tables_of(report, TableStyle::Markdown, arguments.worst);
        write_atomically(arguments.write, with_tables(page, tables, arguments.write));
    }
    return 0;
}

void add_options(CLI::App& app, Arguments& arguments) {
    app.add_option("--csv", arguments.tables, "table of measured rows; may be repeated");
    app.add_option("--programs", arguments.programs,
                   "folder of the programs of the table at the same place");
    app.add_option("--pairs", arguments.pairs, "JSON file of measured pairs of layers");
    app.add_option("--npu", arguments.npu, "preset of the NPU")->capture_default_str();
    app.add_option("--set", arguments.changes, "KEY=VALUE changes a field of the configuration")
        ->allow_extra_args(false);
    app.add_option("--only", arguments.only, "only programs whose name contains this");
    app.add_option("--setting", arguments.setting, "only one setting, e.g. 50/4");
    app.add_option("--set-of-rows", arguments.set, "only tables whose name contains this");
    app.add_option("--jobs", arguments.jobs, "processes at once")->capture_default_str();
    app.add_flag("--presets", arguments.presets, "the rows of all presets, each on its own preset");
    app.add_option("--worst", arguments.worst, "rows of the table of worst rows")
        ->capture_default_str();
    app.add_option("--write", arguments.write, "page that gets the tables between its markers");
    app.add_option("--measured", arguments.measured,
                   "file that gets the errors of every preset, over the reference data");
    app.add_flag("--rows", arguments.rows, "print every row");
    app.footer("Without --csv and --pairs: the reference data that NPUSCOPE_REFERENCE_DATA names.");
}

int run(int argc, char** argv) {
    CLI::App app("how far the machine is from the RTL, in cycles and beats", "accuracy");
    Arguments arguments;
    add_options(app, arguments);
    CLI11_PARSE(app, argc, argv);
    if (arguments.tables.size() != arguments.programs.size()) {
        throw ConfigError("each --csv needs its --programs");
    }
    if (!arguments.measured.empty()) {
        write_atomically(arguments.measured,
                         measured_table(reference_data(NPUSCOPE_SOURCE), arguments.jobs));
        return 0;
    }
    if (arguments.tables.empty() && arguments.pairs.empty() && !arguments.presets) {
        const fs::path data = reference_data(NPUSCOPE_SOURCE);
        if (!fs::exists(data / "rtl")) {
            std::cout << "nothing measured: no reference data (NPUSCOPE_REFERENCE_DATA names it)\n";
            return 0;
        }
        use_reference_data(arguments, data);
    }
    return measure(arguments);
}

}  // namespace
}  // namespace npuscope::bench

int main(int argc, char** argv) {
    return npuscope::bench::bench_main(argc, argv, npuscope::bench::run);
}
