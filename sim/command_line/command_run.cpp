// SPDX-License-Identifier: Apache-2.0
// `npuscope run`: one program on one NPU with one memory.

#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>

#include "sim/command_line/command.h"
#include "sim/command_line/network_files.h"
#include "sim/config/file_io.h"
#include "sim/config/preset.h"
#include "sim/config/yaml_writer.h"
#include "sim/program/read_program.h"
#include "sim/report/csv_report.h"
#include "sim/report/json_report.h"
#include "sim/report/summary_report.h"
#include "sim/report/timeline_report.h"
#include "sim/run/session.h"

namespace npuscope {
namespace {

struct RunArguments {
    std::string program;
    SystemArguments system;
    std::string out;
    std::string json;
    std::string csv;
    std::string max_cycles;
    std::string timeline;
    std::string values = "on";
    bool operations = false;
    NetworkFiles files;
};

RunOptions read_options(const RunArguments& arguments) {
    RunOptions options;
    options.values = arguments.values == "on";
    options.timeline = !arguments.timeline.empty();
    if (!arguments.max_cycles.empty()) {
        ConfigNode node;
        node.kind = ConfigNode::Kind::Scalar;
        node.place = {"--max-cycles " + arguments.max_cycles, 0, 0};
        node.text = arguments.max_cycles;
        read_value(node, options.max_cycles, "max_cycles");
    }
    return options;
}

/// JSON on standard output moves the text for people to standard error.
void write_reports(const RunArguments& arguments, const Result& result, const Console& console) {
    const bool json_on_out = arguments.json == "-";
    const bool csv_on_out = arguments.csv == "-";
    if (json_on_out && csv_on_out) {
        throw ConfigError("both --json and --csv ask for standard output",
                          "give one of them a file");
    }
    const std::string json = json_report(result);
    const std::string csv =
        arguments.csv.empty() && arguments.out.empty() ? "" : csv_report(result);
    const Details details = arguments.operations ? Details::Operations : Details::Layers;
    if (!arguments.out.empty()) {
        const std::filesystem::path folder = arguments.out;
        write_atomically(folder / "result.json", json);
        write_atomically(folder / "result.csv", csv);
        write_atomically(folder / "summary.txt", summary_report(result, details));
        write_atomically(folder / "config.yaml", write_yaml(result.config));
    }
    if (json_on_out) {
        console.out << json;
    } else if (!arguments.json.empty()) {
        write_atomically(arguments.json, json);
    }
    if (csv_on_out) {
        console.out << csv;
    } else if (!arguments.csv.empty()) {
        write_atomically(arguments.csv, csv);
    }
    if (!arguments.timeline.empty()) {
        write_atomically(arguments.timeline, timeline_report(result));
    }
    const bool aside = json_on_out || csv_on_out;
    (aside ? console.err : console.out)
        << summary_report(result, details, aside ? console.err_width : console.out_width);
}

/// A network is planned for the machine at hand; anything else is a program already.
Result run_any(const RunArguments& arguments, const SystemConfig& system,
               const RunOptions& options) {
    if (arguments.files.any() || names_network(arguments.program)) {
        return run_network_files(arguments.program, arguments.files, system, options);
    }
    return run_program(read_any_program(arguments.program, system,
                                        options.values ? Images::Read : Images::LeaveOut),
                       system, options);
}

ExitCode run(const RunArguments& arguments, const Console& console) {
    const SystemConfig system = read_system(arguments.system);
    const RunOptions options = read_options(arguments);
    Result result = run_any(arguments, system, options);
    result.version = NPUSCOPE_VERSION;
    result.command = console.command;
    write_reports(arguments, result, console);
    return result.status() == RunStatus::Fail ? ExitCode::ExpectationFailed : ExitCode::Good;
}

void add_options(CLI::App& app, RunArguments& arguments, NpuFamilies families) {
    app.add_option(
           "PROGRAM", arguments.program,
           "register trace: a .cfg or .txn file, or a folder that holds one, as `plan --out` "
           "writes it; or a network: "
           "a shape table (.yaml) or a model (.onnx), whose nodes run on the host where the "
           "NPU does not take them")
        ->required();
    add_system_options(app, arguments.system, families);
    app.add_option("--out", arguments.out,
                   "folder for result.json, result.csv, summary.txt and config.yaml");
    app.add_option("--json", arguments.json, "file for the result as JSON; - is standard output");
    app.add_option("--csv", arguments.csv,
                   "file for a row of numbers a layer or operation; - is standard output");
    app.add_option("--timeline", arguments.timeline,
                   "file for what every unit did when, for chrome://tracing or Perfetto");
    app.add_flag("--operations", arguments.operations,
                 "print also operations, causes, traffic, units and notes");
    app.add_option("--values", arguments.values,
                   "off: time alone; needs no images and checks nothing")
        ->check(CLI::IsMember({"on", "off"}))
        ->capture_default_str();
    app.add_option("--inputs", arguments.files.inputs,
                   "folder of a network's inputs: a .npy file for each, named after it, or a .bin "
                   "file in its declared layout");
    app.add_option("--outputs", arguments.files.outputs,
                   "folder for a network's outputs, likewise");
    app.add_option("--max-cycles", arguments.max_cycles, "stop the machine after so many cycles");
}

}  // namespace

Command run_command() {
    return {"run", "runs a program on a simulated NPU and checks what it leaves in memory",
            "npuscope run traces/dc_8x8x36.cfg --npu nv_small --set memory.read_latency=200",
            [](CLI::App& app, NpuFamilies families) {
                const auto arguments = std::make_shared<RunArguments>();
                add_options(app, *arguments, families);
                return [arguments](const Console& console) { return run(*arguments, console); };
            }};
}

}  // namespace npuscope
