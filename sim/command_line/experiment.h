// SPDX-License-Identifier: Apache-2.0
// An experiment: all settings of `run`, `plan` and `check` in one file.
//
//     shows: three layers on a picture, as a driver programs them
//     program: three_layers/program.cfg
//     npu: nv_small
//     memory: {read_latency: 50}
//     set: [npu.cbuf.banks=16]
//     run: {values: on}
//
// Paths are relative to the file, or absolute. Options on the command line take precedence.
// `--out DIR` writes the experiment of a run as DIR/config.yaml; run again it has the same result,
// in whatever folder the command is typed.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/command_line/command.h"
#include "sim/command_line/model_source.h"
#include "sim/command_line/output_paths.h"
#include "sim/compile/nvdla/network_planner.h"
#include "sim/config/config_node.h"
#include "sim/model/network.h"
#include "sim/run/result.h"

namespace npuscope {

enum class OnOff { On, Off };

template <>
struct EnumNames<OnOff> {
    static constexpr std::array names{std::pair{OnOff::On, std::string_view("on")},
                                      std::pair{OnOff::Off, std::string_view("off")}};
};

/// How a network is planned, by `plan` as well as by `run` and `check`.
struct PlanChoices {
    CompressionChoice compress = CompressionChoice::ByCycles;
    bool winograd = false;
    bool pixels = true;
    InputType input_type = InputType::Int8;
    bool expectations = true;

    PlanTarget target(const SystemConfig& system, bool images) const;

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field(
            "compress", self.compress,
            "when weights are compressed, where the NPU supports it: by_cycles, where predicted "
            "to be faster, or as fast with less traffic; never; always");
        visit.field(
            "winograd", self.winograd,
            "3 x 3 kernels may be transformed where the NPU supports it and it is predicted to "
            "be faster; int8 results then differ by rounding");
        visit.field("pixels", self.pixels,
                    "an input of up to four channels may lie in memory as pixels, which the first "
                    "convolution reads in image mode");
        visit.field(
            "input_type", self.input_type,
            "type that float inputs of a model are planned as, where no input file determines it");
        visit.field("expectations", self.expectations,
                    "a program that `plan` writes checks the CRC of every layer's result");
    }
};

struct RunChoices {
    OnOff values = OnOff::On;
    OnOff shadow = OnOff::On;
    OnOff repeats = OnOff::Off;
    std::optional<Cycles> max_cycles{};
    std::size_t instances = 1;
    NetworkSplit split = NetworkSplit::Batch;
    std::vector<std::string> beside{};
    std::size_t stream = 0;
    std::size_t threads = 0;
    std::vector<std::string> golden{};
    bool compare_layers = false;
    std::string network;
    std::string surfaces;

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("values", self.values, "off: timing only; needs no images and checks nothing");
        visit.field("shadow", self.shadow,
                    "off: written bytes and their pending readers are not tracked, so races and "
                    "uninitialised reads go undetected");
        visit.field(
            "repeats", self.repeats,
            "on: also simulate kernel groups (and with values off operations) that exactly repeat "
            "earlier ones, instead of only counting them; cycles and counts do not change");
        visit.field(
            "max_cycles", self.max_cycles,
            "stop the machine after this number of cycles (default: 100,000,000,000); implies "
            "repeats: on");
        visit.field("instances", self.instances,
                    "number of NPUs that run the program at once, each on its own data, sharing "
                    "the bandwidth of one memory");
        visit.field("split", self.split,
                    "how several instances share a network: batch, one input each; rows, one "
                    "input, each computes some rows of every layer; pipeline, each computes some "
                    "of the layers, inputs pass from one to the next");
        visit.field(
            "beside", self.beside,
            "further programs to run at the same time, each on its own NPU, sharing the memory");
        visit.field("stream", self.stream,
                    "also run this many frames of a network back to back, with double-buffered "
                    "inputs, for throughput and latency: 2 or more; 0: none");
        visit.field(
            "threads", self.threads,
            "cores to use: several inputs of a model run in parallel, and the values of one run "
            "are computed concurrently with its timing simulation; results are the same; 0: all");
        visit.field("golden", self.golden,
                    "SURFACE=FILE, surfaces whose contents must equal a file: an array (.npy) or "
                    "bytes as they lie in memory");
        visit.field("compare_layers", self.compare_layers,
                    "compare every layer's result with a reference computation");
        visit.field("network", self.network,
                    "shape table that a saved program was planned from, for compare_layers");
        visit.field("surfaces", self.surfaces,
                    "description of a memory image whose surfaces can be named");
    }
};

/// What is written. A repeat records only the table of energies: nothing else changes a result.
struct WriteChoices {
    std::string out;
    std::string json;
    std::string csv;
    std::string timeline;
    std::string wave;
    std::string energy;
    std::string actions;
    std::string outputs;
    std::string loadable;
    std::vector<std::string> dump{};
    bool operations = false;
    bool explain = false;

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("out", self.out,
                    "folder: of a run for result.json, result.csv, summary.txt and config.yaml; of "
                    "a plan for its program, images and config.yaml");
        visit.field("json", self.json,
                    "file for the result, or a check's findings, as JSON; - is standard output");
        visit.field("csv", self.csv,
                    "CSV file with one row per layer or operation; - is standard output");
        visit.field("timeline", self.timeline,
                    "file for the timeline of all units, for chrome://tracing or Perfetto");
        visit.field("wave", self.wave,
                    "file for the timeline as waveforms (VCD), for GTKWave and other viewers");
        visit.field("energy", self.energy,
                    "table of energies, a preset of configs/energy or a file, from which the "
                    "energy of the run is estimated");
        visit.field("actions", self.actions,
                    "file for the action counts of each part, as Accelergy reads them");
        visit.field("outputs", self.outputs, "folder for a network's outputs");
        visit.field("loadable", self.loadable, "file for a plan as a loadable for NVDLA");
        visit.field("dump", self.dump,
                    "SURFACE=FILE.npy, surfaces that are written when a run is over");
        visit.field("operations", self.operations,
                    "a run also prints operations, causes, traffic, units and notes");
        visit.field("explain", self.explain,
                    "a plan prints for each layer the choice and the reason");
    }
};

/// An option of `run` that names where a report goes.
struct WrittenOption {
    std::string_view name;
    std::string WriteChoices::*path;
    OutputKind kind = OutputKind::File;
};
/// All of them: paths in an experiment are relative to it, no two may be one file, they do not change
/// results, and a sweep's base has none.
inline constexpr std::array written_options{
    WrittenOption{"out", &WriteChoices::out, OutputKind::Folder},
    WrittenOption{"outputs", &WriteChoices::outputs, OutputKind::Folder},
    WrittenOption{"json", &WriteChoices::json, OutputKind::Text},
    WrittenOption{"csv", &WriteChoices::csv, OutputKind::Text},
    WrittenOption{"timeline", &WriteChoices::timeline},
    WrittenOption{"wave", &WriteChoices::wave},
    WrittenOption{"actions", &WriteChoices::actions}};

struct Experiment {
    std::string shows;
    std::string program;
    std::string recorded_as;
    std::string command;
    ConfigNode npu;
    ConfigNode memory;
    ConfigNode host;
    std::vector<std::string> set;
    std::string inputs;
    ModelChoices model;
    PlanChoices plan;
    RunChoices run;
    WriteChoices write;
    std::vector<Place> set_places{};  ///< of the entries of `set`; no field
    std::string bundled{};            ///< the program's bare name; empty: it is a file; no field

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("shows", self.shows, "description shown by `npuscope list experiments`");
        visit.required("program", self.program,
                       "register program, its folder, or network: a file, or the name of a bundled "
                       "network");
        visit.field("npu", self.npu,
                    "preset of the NPU by name or file, or its fields; default: "
                    "nv_small");
        visit.field(
            "memory", self.memory,
            "preset of the memory by name or file, or its fields; default: that of the NPU's "
            "preset");
        visit.field("host", self.host, "fields of the host that differ from the preset's");
        visit.field("set", self.set, "KEY=VALUE, fields that override the above, in order");
        visit.field("inputs", self.inputs, "folder of a network's inputs");
        visit.field("model", self.model, "how a model's file is read");
        visit.field("plan", self.plan, "how a network is planned");
        visit.field("run", self.run, "how the program is run");
        visit.field("write", self.write, "what is written where");
        visit.field("recorded_as", self.recorded_as,
                    "name of the program's file in results; default: that of `program`");
        visit.field("command", self.command,
                    "command line that results record; default: the actual one");
    }
};

/// Paths become relative to where the command is typed, or absolute. ConfigError with its place.
Experiment read_experiment(const std::filesystem::path& path);
/// The same for one inside another file; its paths are relative to `folder`.
Experiment read_experiment(const ConfigNode& root, const std::filesystem::path& folder);
/// ConfigError if an option is given that has no effect on a program of this kind. `with_model`:
/// the program comes with a model that is read as well.
void require_use_of_options(const Experiment& experiment, bool with_model = false);
/// The same for options of plans on an NPU that runs jobs.
void require_use_of_plan_options(const PlanChoices& choices, const SystemConfig& system);
/// Copies its NPU, memory and host settings to `system`, except for those that were typed.
void take_system(const Experiment& experiment, SystemArguments& system, bool npu_typed = false,
                 bool memory_typed = false);

/// The options that experiments share with a command line.
void add_plan_options(CLI::App& app, PlanChoices& choices);
void add_run_options(CLI::App& app, RunChoices& choices);

/// What was typed, and the resulting experiment.
struct ExperimentArguments {
    Experiment experiment;  ///< storage of the options while the command line is parsed
    SystemArguments system;
    CLI::App* app = nullptr;  ///< of the command

    /// Finds the program. If it is an experiment, reads that; typed options take precedence.
    void open();
    /// Whether an option that changes a result was typed.
    bool changes_results() const;
    /// The files and folders that are read.
    std::vector<std::string> inputs() const;

 private:
    std::string opened_{};  ///< as named: the program or an experiment
};

/// Adds PROGRAM with this help, and the system's options.
void add_experiment_options(CLI::App& app, ExperimentArguments& arguments, NpuFamilies families,
                            const std::string& name, const std::string& help);

/// The line that results record: a repeat records that of the repeated run.
std::string recorded_command(const ExperimentArguments& arguments, const Console& console);
/// The experiment as a file that repeats it from any folder.
std::string effective_yaml(const Experiment& experiment, const SystemConfig& system);

}  // namespace npuscope
