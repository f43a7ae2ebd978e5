// SPDX-License-Identifier: Apache-2.0
// `npuscope run`: one program on one NPU with one memory.

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <utility>

#include "sim/command_line/command.h"
#include "sim/command_line/experiment.h"
#include "sim/command_line/experiment_run.h"
#include "sim/command_line/output_paths.h"
#include "sim/command_line/surface_queries.h"
#include "sim/config/file_io.h"
#include "sim/config/output_folder.h"
#include "sim/config/preset.h"
#include "sim/config/printable.h"
#include "sim/report/energy_report.h"
#include "sim/report/reports.h"

namespace npuscope {
namespace {

using RunArguments = ExperimentArguments;

void require_own_files(const RunArguments& arguments) {
    const WriteChoices& write = arguments.experiment.write;
    std::vector<OutputPath> outputs;
    for (const WrittenOption& option : written_options) {
        outputs.push_back({"--" + std::string(option.name), write.*option.path, option.kind});
    }
    for (const std::string& text : write.dump) {
        outputs.push_back({"--dump", parse_surface_file(text, "--dump").file});
    }
    const std::pair<const char*, std::string> own[] = {{"config.yaml", ""},
                                                       {"summary.txt", ""},
                                                       {"result.csv", write.csv},
                                                       {"result.json", write.json}};
    for (const auto& [name, same] : own) {
        const std::string file = (std::filesystem::path(write.out) / name).string();
        if (!write.out.empty() && file != same) {
            outputs.push_back({"--out", file});
        }
    }
    require_separate(outputs, arguments.inputs());
}

/// If JSON goes to standard output, the text for people goes to standard error.
void write_reports(const Experiment& experiment, const Result& result, const Console& console) {
    const WriteChoices& arguments = experiment.write;
    const std::string json =
        arguments.json.empty() && arguments.out.empty() ? "" : json_report(result);
    const std::string csv =
        arguments.csv.empty() && arguments.out.empty() ? "" : csv_report(result);
    const Details details = arguments.operations ? Details::Operations : Details::Layers;
    if (!arguments.out.empty()) {
        OutputFolder folder(arguments.out);
        folder.write("config.yaml", effective_yaml(experiment, result.config));
        folder.write("summary.txt", printable(summary_report(result, details)));
        folder.write("result.csv", csv);
        folder.write("result.json", json);
        folder.commit();
    }
    write_output(arguments.json, json, console);
    write_output(arguments.csv, csv, console);
    if (!arguments.timeline.empty()) {
        write_atomically(arguments.timeline, timeline_report(result));
    }
    if (!arguments.actions.empty()) {
        write_atomically(arguments.actions, action_counts_yaml(result));
    }
    if (!arguments.wave.empty()) {
        write_atomically(arguments.wave, wave_report(result));
    }
    const bool aside = arguments.json == "-" || arguments.csv == "-";
    (aside ? console.err : console.out) << printable(
        summary_report(result, details, aside ? console.err_width : console.out_width));
}

/// A place in `file`, or in it as a folder, becomes a place in `other`.
void rename(Place& place, const std::string& file, const std::string& other) {
    const bool inside = place.file == file || place.file.starts_with(file + '/');
    if (inside) {
        place.file = other + place.file.substr(file.size());
    }
}

ExitCode run(RunArguments& arguments, const Console& console) {
    arguments.open();
    require_own_files(arguments);
    Experiment& experiment = arguments.experiment;
    const SystemConfig system = read_system(arguments.system);
    require_use_of_plan_options(experiment.plan, system);
    std::optional<EnergyTable> energy;  // its mistakes are found before the run
    if (!experiment.write.energy.empty()) {
        const PresetFile preset = find_preset(configs_folder(), "energy", experiment.write.energy);
        energy = read_energy_table(read_preset_text(preset), preset.shown);
    }
    Result result = run_experiment(experiment, system);
    if (energy) {
        result.energy = estimate_energy(*energy, result);
    }
    experiment.command = recorded_command(arguments, console);
    result.version = NPUSCOPE_VERSION;
    result.command = experiment.command;
    if (!experiment.recorded_as.empty()) {
        for (CheckResult& check : result.checks) {
            rename(check.place, experiment.program, experiment.recorded_as);
        }
        for (Diagnostic& finding : result.findings) {
            rename(finding.place, experiment.program, experiment.recorded_as);
        }
    }
    write_reports(experiment, result, console);
    return result.is_good() ? ExitCode::Good : ExitCode::ExpectationFailed;
}

void add_options_of_run(CLI::App& app, RunArguments& arguments, NpuFamilies families) {
    add_experiment_options(
        app, arguments, families, "PROGRAM",
        "register trace: a .cfg or .txn file, or a folder that holds one, as written by `plan "
        "--out`; or a network: a shape table (.yaml) or a model (.onnx), whose nodes run on the "
        "host where the NPU does not support them; or a loadable for NVDLA (.fbuf, .nvdla)");
    WriteChoices& write = arguments.experiment.write;
    app.add_option("--out", write.out,
                   "folder for result.json, result.csv, summary.txt and config.yaml (the "
                   "experiment that repeats the run)")
        ->option_text("DIR");
    app.add_option("--json", write.json, "file for the result as JSON; - is standard output")
        ->option_text("FILE");
    app.add_option("--csv", write.csv,
                   "CSV file with one row per layer or operation; - is standard output")
        ->option_text("FILE");
    app.add_option("--timeline", write.timeline,
                   "file for the timeline of all units, for chrome://tracing or Perfetto")
        ->option_text("FILE");
    app.add_option("--wave", write.wave,
                   "file for the timeline as waveforms (VCD), for GTKWave and other viewers")
        ->option_text("FILE");
    app.add_option("--energy", write.energy,
                   "table of energies, by name or file, such as horowitz_45nm: estimates the "
                   "energy of those parts that the table covers")
        ->option_text("TABLE");
    app.add_option("--actions", write.actions,
                   "file for the action counts of each part, as Accelergy reads them")
        ->option_text("FILE");
    app.add_flag("--operations", write.operations,
                 "also print operations, causes, traffic, units and notes");
    app.add_option("--inputs,--input", arguments.experiment.inputs,
                   "folder of a network's inputs: for each a .npy file named after it, or a .bin "
                   "file in its declared layout; for a model also a picture (PNG, JPEG, PGM, PPM), "
                   "a single such file, or several cases as for --calibration")
        ->option_text("PATH");
    app.add_option("--outputs", write.outputs, "folder for a network's outputs, in the same form")
        ->option_text("DIR");
    app.add_option("--dump", write.dump,
                   "SURFACE=FILE.npy: write a surface after the run, or a layer's result as soon "
                   "as the layer is done; may be repeated")
        ->allow_extra_args(false)
        ->option_text("SURFACE=FILE");
    add_run_options(app, arguments.experiment.run);
    add_plan_options(app, arguments.experiment.plan);
    add_model_options(app, arguments.experiment.model);
    add_value_options(app, arguments.experiment.model);
}

}  // namespace

Command run_command() {
    return {"run", "runs a program on a simulated NPU and checks what it leaves in memory",
            "npuscope run traces/dc_8x8x36.cfg --npu nv_small --set memory.read_latency=200",
            [](CLI::App& app, NpuFamilies families) {
                const auto arguments = std::make_shared<RunArguments>();
                add_options_of_run(app, *arguments, families);
                return [arguments](const Console& console) { return run(*arguments, console); };
            }};
}

}  // namespace npuscope
