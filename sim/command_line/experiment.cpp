// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/experiment.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <functional>

#include "models/base/error.h"
#include "sim/command_line/choice.h"
#include "sim/command_line/given_options.h"
#include "sim/command_line/program_kind.h"
#include "sim/command_line/read_files.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/config/file_io.h"
#include "sim/config/limits.h"
#include "sim/config/preset.h"
#include "sim/config/yaml_writer.h"
#include "sim/loadable/loadable.h"
#include "sim/model/network.h"
#include "sim/model/onnx_reader.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;

/// The path of a file relative to `folder`, as seen from where the command is typed.
std::string seen_from(const fs::path& folder, const std::string& path) {
    const bool nowhere = path.empty() || path == "-";
    return nowhere ? path : (folder / path).lexically_normal().string();
}

/// Changes the file of SURFACE=FILE.
void move_file(std::string& text, const std::function<std::string(const std::string&)>& moved) {
    if (const std::size_t equals = text.rfind('='); equals != std::string::npos) {
        text = text.substr(0, equals + 1) + moved(text.substr(equals + 1));
    }
}

/// A preset's name must be known, at `place`; its file becomes seen from where the command is typed.
void place_preset(std::string& name, const char* kind, const fs::path& folder, const Place& place) {
    try {
        names_preset_file(name) ? void(name = seen_from(folder, name))
                                : void(find_preset(configs_folder(), kind, name));
    } catch (const ConfigError& error) {
        throw ConfigError(place, error.sentence(), error.remedy());
    }
}

void place_preset(ConfigNode& node, const char* kind, const fs::path& folder) {
    if (node.kind == ConfigNode::Kind::Sequence) {
        throw ConfigError(
            node.place,
            fmt::format("field '{}' must be a preset's name or a mapping, found a list", kind),
            "give one preset");
    }
    if (node.kind == ConfigNode::Kind::Scalar) {
        place_preset(node.text, kind, folder, node.place);
    }
}

std::string absolute(const std::string& path) {
    return path.empty() ? path : fs::absolute(path).lexically_normal().string();
}

/// KEY=VALUE at a place in a file.
FieldOverride change_at(const std::string& text, const Place& place) {
    try {
        FieldOverride change = parse_override(text);
        move_to(change.value, place);
        return change;
    } catch (const ConfigError& error) {
        throw ConfigError(place, fmt::format("set: '{}' {}", text, error.sentence()),
                          error.remedy());
    }
}

/// A preset's name goes to `name`, fields given in its place to `fields`.
void take_preset(const ConfigNode& node, std::string& name, ConfigNode& fields) {
    if (node.kind == ConfigNode::Kind::Scalar) {
        name = node.text;
    } else if (node.kind != ConfigNode::Kind::Null) {
        fields = node;
    }
}

class GivenChoices : public GivenOptions {
 public:
    void add_calibration(const QuantiseOptions& quantise) {
        const QuantiseOptions usual;
        add(quantise.method != usual.method, "--method");
        add(quantise.correct_biases != usual.correct_biases, "--no-bias-correction");
        add(quantise.equalise != usual.equalise, "--no-equalise");
        add(quantise.target_decibels != usual.target_decibels, "--target-decibels");
    }
    /// Options for reading a model.
    void add_model(const ModelChoices& model) {
        add(!model.shape.empty(), "--shape");
        add(!model.calibration.empty(), "--calibration");
        add(model.quantise.type != QuantiseOptions{}.type, "--type");
        add_calibration(model.quantise);
        add(model.sums.has_value(), "--sums");
        add(model.batch.has_value(), "--batch");
    }
    /// Options for its inputs and outputs.
    void add_pictures(const ModelChoices& model) {
        add_pixels(model.pixels);
        add(!model.labels.empty(), "--labels");
    }
    void add_pixels(const PixelChoices& pixels) {
        const PixelChoices usual;
        add(pixels.mean != usual.mean, "--mean");
        add(pixels.scale != usual.scale, "--scale");
        add(pixels.order != usual.order, "--order");
    }
    void add_plan(const PlanChoices& plan) {
        const PlanChoices usual;
        add(plan.compress != usual.compress, "--compress");
        add(plan.winograd != usual.winograd, "--winograd");
        add(plan.pixels != usual.pixels, "--no-pixels");
    }
};

/// The one choice of what is written that a repeat needs.
struct EnergyChoice {
    std::string energy;

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("energy", self.energy, "as in WriteChoices");
    }
};

}  // namespace

PlanTarget PlanChoices::target(const SystemConfig& system, bool images) const {
    return {.npu = nvdla_npu(system),
            .memory = system.memory,
            .images = images,
            .compression = compress,
            .winograd = winograd,
            .pixels = pixels};
}

Experiment read_experiment(const fs::path& path) {
    return read_experiment(parse_yaml(read_whole_file(path, {}, largest_config), path.string()),
                           path.parent_path());
}

Experiment read_experiment(const ConfigNode& root, const fs::path& folder) {
    auto experiment = read_limited<Experiment>(root, "experiment");
    try {
        const FoundProgram found =
            find_program(experiment.program, folder.empty() ? "." : folder, network_rows);
        experiment.program = found.path.string();
        experiment.bundled = found.bundled;
    } catch (const ConfigError& error) {
        throw ConfigError(root.find("program")->place, error.sentence(), error.remedy());
    }
    if (const ConfigNode* set = root.find("set")) {
        for (const ConfigNode& change : set->items) {
            experiment.set_places.push_back(change.place);
        }
    }
    place_preset(experiment.npu, "npu", folder);
    place_preset(experiment.memory, "memory", folder);
    WriteChoices& write = experiment.write;
    for (std::string* file :
         {&experiment.inputs, &experiment.model.calibration, &experiment.model.labels,
          &experiment.run.surfaces, &write.loadable}) {
        *file = seen_from(folder, *file);
    }
    for (const WrittenOption& option : written_options) {
        write.*option.path = seen_from(folder, write.*option.path);
    }
    if (!write.energy.empty()) {
        place_preset(write.energy, "energy", folder, root.find("write")->find("energy")->place);
    }
    if (!experiment.run.network.empty()) {
        const FoundProgram network =
            find_program(experiment.run.network, folder.empty() ? "." : folder, network_rows);
        experiment.run.network = network.bundled.empty() ? network.path.string() : network.bundled;
    }
    for (std::string& beside : experiment.run.beside) {
        const FoundProgram found =
            find_program(beside, folder.empty() ? "." : folder, network_rows);
        beside = found.bundled.empty() ? found.path.string() : found.bundled;
    }
    for (auto* list : {&experiment.run.golden, &write.dump}) {
        for (std::string& text : *list) {
            move_file(text, [&](const std::string& file) { return seen_from(folder, file); });
        }
    }
    return experiment;
}

void take_system(const Experiment& experiment, SystemArguments& system, bool npu_typed,
                 bool memory_typed) {
    if (!npu_typed) {
        take_preset(experiment.npu, system.npu, system.npu_fields);
    }
    if (!memory_typed) {
        take_preset(experiment.memory, system.memory, system.memory_fields);
    }
    system.host_fields = experiment.host;
    for (std::size_t i = 0; i < experiment.set.size(); ++i) {
        system.earlier_changes.push_back(change_at(experiment.set[i], experiment.set_places[i]));
    }
}

void add_plan_options(CLI::App& app, PlanChoices& choices) {
    app.add_option("--compress", choices.compress,
                   "compress weights where the NPU supports it: by_cycles (default: where "
                   "predicted to be faster, or as fast with less traffic), never, always")
        ->transform(one_of<CompressionChoice>())
        ->option_text("MODE");
    app.add_flag(
        "--winograd,!--no-winograd", choices.winograd,
        "3 x 3 kernels may be transformed where the NPU supports it and it is predicted to "
        "be faster; int8 results then differ by rounding");
    app.add_flag("--pixels,!--no-pixels", choices.pixels,
                 "an input of up to four channels may be stored as pixels, which the first "
                 "convolution reads in image mode (default)");
    app.add_option("--input-type", choices.input_type,
                   "type that float inputs of a model are planned as: int8 (default) or uint8")
        ->transform(one_of<InputType>())
        ->option_text("TYPE");
}

namespace {

/// Which parts of a run are simulated, and for how long.
void add_simulation_options(CLI::App& app, RunChoices& choices) {
    app.add_option("--values", choices.values,
                   "on (default), or off: timing only; needs no images and checks nothing")
        ->transform(one_of<OnOff>())
        ->option_text("on|off");
    app.add_option(
           "--shadow", choices.shadow,
           "on (default), or off: faster, but races and uninitialised reads are not detected")
        ->transform(one_of<OnOff>())
        ->option_text("on|off");
    app.add_option("--repeats", choices.repeats,
                   "on: also simulate kernel groups (and with --values off operations) that "
                   "exactly repeat earlier ones, instead of only counting them; cycles and counts "
                   "do not change. Default: off")
        ->transform(one_of<OnOff>())
        ->option_text("on|off");
    app.add_option_function<std::string>(
           "--max-cycles",
           [&choices](const std::string& text) {
               ConfigNode node;
               node.kind = ConfigNode::Kind::Scalar;
               node.place = {"--max-cycles " + text, 0, 0};
               node.text = text;
               read_value(node, choices.max_cycles, "max_cycles");
               check_limit("experiment.run.max_cycles", "--max-cycles", choices.max_cycles->value,
                           {});
           },
           "stop the machine after this number of cycles (default: 100,000,000,000), with exit "
           "code 3")
        ->option_text("CYCLES");
}

}  // namespace

void add_run_options(CLI::App& app, RunChoices& choices) {
    add_simulation_options(app, choices);
    app.add_option("--instances", choices.instances,
                   "number of NPUs that run the program at once, each on its own data, sharing the "
                   "bandwidth of one memory")
        ->transform(whole_number(1, 64));
    app.add_option("--split", choices.split,
                   "how several instances share a network: batch (default), one input each; rows, "
                   "one input, each computes some rows of every layer; pipeline, each computes "
                   "some of the layers, inputs pass from one to the next")
        ->transform(one_of<NetworkSplit>())
        ->option_text("batch|rows|pipeline");
    app.add_option("--beside", choices.beside,
                   "another program or shape table to run at the same time on its own NPU, sharing "
                   "the memory; may be repeated")
        ->allow_extra_args(false)
        ->option_text("PROGRAM");
    app.add_option("--stream", choices.stream,
                   "also run this many frames of a network back to back, with double-buffered "
                   "inputs: throughput and latency")
        ->transform(whole_number(2, 10000))
        ->option_text("FRAMES");
    app.add_option(
           "--threads", choices.threads,
           "cores to use: several inputs of a model run in parallel, and values are computed "
           "concurrently with the timing simulation; results do not depend on it; default: all")
        ->transform(whole_number(1, 1024));
    app.add_option(
           "--golden", choices.golden,
           "SURFACE=FILE: when the run is over, the surface must hold the contents of the file, an "
           "array (.npy) or bytes as they lie in memory; a surface is one that the program, its "
           "plan or --surfaces names, or ADDRESS:SHAPE:TYPE:LAYOUT; may be repeated")
        ->allow_extra_args(false)
        ->option_text("SURFACE=FILE");
    app.add_flag(
        "--compare-layers", choices.compare_layers,
        "compare every layer's result with a reference computation, and name the first wrong one");
    app.add_option("--network", choices.network,
                   "shape table that a saved program was planned from, for --compare-layers")
        ->option_text("TABLE");
    app.add_option("--surfaces", choices.surfaces,
                   "description of a memory image (.yaml), whose surfaces can then be named")
        ->option_text("IMAGE.yaml");
}

void add_experiment_options(CLI::App& app, ExperimentArguments& arguments, NpuFamilies families,
                            const std::string& name, const std::string& help) {
    arguments.app = &app;
    app.add_option(name, arguments.experiment.program,
                   help +
                       "; or an experiment (.yaml), which can hold every option (`npuscope list "
                       "fields experiment`). Bundled networks and experiments can be given by name "
                       "(`npuscope list networks`)")
        ->required();
    add_system_options(app, arguments.system, families);
}

void require_use_of_options(const Experiment& experiment, bool with_model) {
    const std::string& program = experiment.program;
    GivenChoices given;
    if (is_onnx_file(program)) {
        if (experiment.model.calibration.empty()) {
            given.add_calibration(experiment.model.quantise);
        }
        if (!given.none()) {
            throw ConfigError(given.names() + ": the model is not calibrated",
                              "name a folder of typical inputs: --calibration DIR");
        }
        if (experiment.model.calibration.empty() && experiment.inputs.empty()) {
            given.add_pixels(experiment.model.pixels);
        }
        if (!given.none()) {
            throw ConfigError(given.names() + ": no effect, because no inputs are read",
                              "leave it out, or name inputs");
        }
        return;
    }
    const bool table = is_network_file(program);
    const bool loadable = is_loadable_file(program);
    if (!with_model) {
        given.add_model(experiment.model);
    }
    if (!with_model && !loadable) {
        given.add_pictures(experiment.model);
    }
    if (!table) {
        given.add_plan(experiment.plan);
    }
    given.add(experiment.plan.input_type != PlanChoices{}.input_type, "--input-type");
    if (!given.none()) {
        const char* kind = table                    ? "a shape table"
                           : loadable               ? "a loadable"
                           : is_image_file(program) ? "a memory image"
                                                    : "a register program";
        throw ConfigError(
            fmt::format("{}: no effect on '{}', which is {}", given.names(), program, kind),
            "leave it out");
    }
}

void require_use_of_plan_options(const PlanChoices& choices, const SystemConfig& system) {
    GivenChoices given;
    given.add_plan(choices);
    if (system.npu.find<NpuConfig>() == nullptr && !given.none()) {
        throw ConfigError(fmt::format("{}: no effect on {}, which runs no register programs",
                                      given.names(), system.npu_name()),
                          "leave it out");
    }
}

void ExperimentArguments::open() {
    const FoundProgram found = find_program(experiment.program);
    refuse_space(found.path, experiment.program);
    opened_ = experiment.program = found.path.string();
    experiment.bundled = found.bundled;
    if (!is_experiment_file(found.path) && !is_unclear(found.path)) {
        return;
    }
    experiment = read_experiment(found.path);
    expect_program(experiment.program, experiment.program, {found.path.string(), 0, 0});
    take_system(experiment, system, app->count("--npu") > 0, app->count("--memory") > 0);
    for (CLI::Option* option : app->get_options()) {
        if (option->count() > 0 && !option->get_lnames().empty()) {
            option->run_callback();  // typed options override those of the file
        }
    }
}

bool ExperimentArguments::changes_results() const {
    static constexpr std::array<std::string_view, 3> shown{"dump", "operations", "explain"};
    return std::ranges::any_of(app->get_options(), [](const CLI::Option* option) {
        const auto& names = option->get_lnames();
        return option->count() > 0 && !names.empty() &&
               std::ranges::find(shown, names.front()) == shown.end() &&
               std::ranges::find(written_options, names.front(), &WrittenOption::name) ==
                   written_options.end();
    });
}

std::vector<std::string> ExperimentArguments::inputs() const {
    std::vector<std::string> read = files_of_experiment(experiment);
    read.push_back(opened_);
    for (const std::string& preset : {system.npu, system.memory}) {
        if (names_preset_file(preset)) {
            read.push_back(preset);
        }
    }
    return read;
}

std::string recorded_command(const ExperimentArguments& arguments, const Console& console) {
    const std::string& recorded = arguments.experiment.command;
    return recorded.empty() || arguments.changes_results() ? console.command : recorded;
}

std::string effective_yaml(const Experiment& experiment, const SystemConfig& system) {
    YamlWriter head;
    const bool bundled = !experiment.bundled.empty();
    const std::string shown =
        experiment.recorded_as.empty() ? experiment.program : experiment.recorded_as;
    head.field("program", bundled ? experiment.bundled : absolute(experiment.program), "");
    if (!bundled) {
        head.field("recorded_as", shown, "");
    }
    head.field("command", experiment.command, "");
    if (!experiment.inputs.empty()) {
        head.field("inputs", absolute(experiment.inputs), "");
    }
    ModelChoices model = experiment.model;
    model.calibration = absolute(model.calibration);
    model.labels = absolute(model.labels);
    head.field("model", model, "");
    head.field("plan", experiment.plan, "");
    RunChoices run = experiment.run;
    for (std::string& golden : run.golden) {
        move_file(golden, absolute);
    }
    for (std::string& beside : run.beside) {
        const FoundProgram found = find_program(beside, {}, network_rows);
        beside = found.bundled.empty() ? absolute(found.path.string()) : found.bundled;
    }
    run.surfaces = absolute(run.surfaces);
    if (names_preset_file(run.network)) {
        run.network = absolute(run.network);
    }
    head.field("run", run, "");
    YamlWriter npu(2);
    AnyConfig::describe(npu, system.npu);
    const std::string family(system.family->name());
    const bool told = family == "nvdla" || npu.text().starts_with("  family:");
    YamlWriter rest;
    rest.field("memory", system.memory, "");
    rest.field("host", system.host, "");
    if (!experiment.write.energy.empty()) {
        const std::string& energy = experiment.write.energy;
        rest.field("write", EnergyChoice{names_preset_file(energy) ? absolute(energy) : energy},
                   "");
    }
    return "# Repeats the run, from any folder: npuscope run config.yaml\n" + head.text() +
           "npu:\n" + (told ? "" : "  family: " + yaml_quoted(family) + '\n') + npu.text() +
           rest.text();
}

}  // namespace npuscope
