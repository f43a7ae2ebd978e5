// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/experiment_run.h"

#include <fmt/format.h>

#include "models/base/error.h"
#include "sim/check/image_surface.h"
#include "sim/command_line/layer_comparison.h"
#include "sim/command_line/loadable_files.h"
#include "sim/command_line/network_files.h"
#include "sim/command_line/program_kind.h"
#include "sim/command_line/surface_queries.h"
#include "sim/compile/nvdla/network_planner.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/compile/nvdla/plan_program.h"
#include "sim/config/file_io.h"
#include "sim/config/preset.h"
#include "sim/program/read_program.h"
#include "sim/run/session.h"

namespace npuscope {
namespace {

RunOptions read_options(const Experiment& experiment) {
    RunOptions options;
    options.values = experiment.run.values == OnOff::On;
    options.shadow = experiment.run.shadow == OnOff::On;
    options.repeats = experiment.run.repeats == OnOff::On;
    options.timeline = !experiment.write.timeline.empty() || !experiment.write.wave.empty();
    options.map = !experiment.write.out.empty() || !experiment.write.json.empty();
    if (experiment.run.threads == 1) {
        options.value_thread.reset();
    }
    options.instances = experiment.run.instances;
    options.max_cycles = experiment.run.max_cycles.value_or(options.max_cycles);
    return options;
}

void check_stream(const Experiment& experiment) {
    const std::size_t frames = experiment.run.stream;
    if (frames > 0 && !names_network(experiment.program)) {
        throw ConfigError(fmt::format("'{}' is not a network", experiment.program),
                          "--stream needs a shape table or a model");
    }
    if (frames > 0 && !experiment.run.beside.empty()) {
        throw ConfigError("--stream supports a single program only", "leave out --beside");
    }
    if (frames == 1) {
        throw ConfigError("run.stream is 1: a stream has at least 2 frames",
                          "2 or more, or 0 for no stream");
    }
    if (frames > 1 && experiment.run.instances > 1) {
        throw ConfigError("--stream supports a single instance only", "leave out --instances");
    }
}

/// For several NPUs that do not each run one program on their own data.
void check_instances(const Experiment& experiment, const SurfaceWishes& wishes) {
    const RunChoices& run = experiment.run;
    const bool splits = run.split != NetworkSplit::Batch;
    if (!splits && run.beside.empty()) {
        return;
    }
    if (splits && !names_network(experiment.program)) {
        throw ConfigError(fmt::format("'{}' is not a network", experiment.program),
                          "--split needs a shape table or a model");
    }
    if (splits && run.instances < 2) {
        throw ConfigError("--split needs more than one instance",
                          "give --instances 2 with --split");
    }
    if (!run.beside.empty() && run.instances > 1) {
        throw ConfigError("--beside and --instances exclude each other",
                          "name a program several times to run it on several NPUs");
    }
    if (wishes.any() || !experiment.inputs.empty() || !experiment.write.outputs.empty()) {
        throw ConfigError(
            "--inputs, --outputs and surface options need a single program on one NPU",
            splits ? "leave out --split" : "leave out --beside");
    }
}

/// Each program on its own NPU.
Result run_beside(const Experiment& experiment, const SystemConfig& system,
                  const RunOptions& options) {
    std::vector<Program> programs;
    std::vector<std::string> names{experiment.program};
    for (const std::string& beside : experiment.run.beside) {
        const std::filesystem::path path = find_program(beside, {}, network_rows).path;
        expect_program(path, beside);
        names.push_back(path.string());
    }
    for (const std::string& name : names) {
        const bool registers = system.npu.find<NpuConfig>() != nullptr;
        if (is_network_file(name) && registers) {
            programs.push_back(plan_program(
                plan_network(read_network(name), experiment.plan.target(system, options.values))));
        } else if (names_network(name) || is_loadable_file(name) || is_image_file(name)) {
            throw ConfigError(fmt::format("'{}' is not a program", name),
                              "for a model, name the program that `npuscope plan --out` writes");
        } else {
            programs.push_back(
                read_any_program(name, system, options.values ? Images::Read : Images::LeaveOut));
        }
    }
    return run_together(programs, system, options);
}

SurfaceWishes read_wishes(const Experiment& experiment, const SystemConfig& system) {
    SurfaceWishes wishes{experiment.write.dump, experiment.run.golden,
                         experiment.run.compare_layers};
    const std::string& file = experiment.run.surfaces;
    if (!file.empty()) {
        wishes.described = described_surfaces(parse_image(read_whole_file(file), file),
                                              system.npu.find<NpuConfig>());
    }
    return wishes;
}

/// Expected results of a saved program's layers: those of the network that it was planned from.
std::vector<LayerExpectation> saved_expectations(const Experiment& experiment,
                                                 const SystemConfig& system,
                                                 const Program& program) {
    const std::string& name = experiment.run.network;
    if (name.empty()) {
        throw ConfigError("a program does not define what its layers should compute",
                          "name the network that it was planned from: --network NETWORK");
    }
    const std::filesystem::path path = find_program(name, {}, network_rows).path;
    expect_program(path, name);
    if (!is_network_file(path) || system.npu.find<NpuConfig>() == nullptr) {
        throw ConfigError(fmt::format("'{}' is not a shape table for an NPU with registers", name),
                          "run a model itself with --inputs and --compare-layers");
    }
    const Network table = read_network(path);
    const Plan plan = plan_network(table, experiment.plan.target(system, false));
    return table_expectations(table, plan, program.surfaces, false);
}

Result run_loadable(const Experiment& experiment, const NetworkFiles& files,
                    const SystemConfig& system, const RunOptions& options) {
    if (experiment.run.compare_layers) {
        throw ConfigError(fmt::format("'{}' is a loadable, not an ONNX model", experiment.program),
                          "--compare-layers needs an ONNX model");
    }
    const SurfaceWishes wishes = read_wishes(experiment, system);
    if (wishes.any() && !options.values) {
        throw ConfigError("surfaces have no contents with --values off", "leave out --values off");
    }
    return run_loadable_file(experiment.program, files, system, wishes, options);
}

}  // namespace

Result run_experiment(const Experiment& experiment, const SystemConfig& system) {
    RunOptions options = read_options(experiment);
    const std::string& program = experiment.program;
    const NetworkFiles files{experiment.inputs,    experiment.write.outputs,
                             experiment.model,     experiment.run.stream,
                             experiment.run.split, experiment.run.threads};
    require_use_of_options(experiment);
    if (!experiment.run.network.empty() && !experiment.run.compare_layers) {
        throw ConfigError("--network is used only with --compare-layers",
                          "give --compare-layers with it");
    }
    if (!experiment.run.network.empty() && names_network(program)) {
        throw ConfigError(
            fmt::format("--network: no effect on '{}', which is a network itself", program),
            "leave it out");
    }
    check_stream(experiment);
    check_instances(experiment, read_wishes(experiment, system));
    if (!experiment.run.beside.empty()) {
        return run_beside(experiment, system, options);
    }
    refuse_memory_image(program, "run");
    if (is_loadable_file(program)) {
        return run_loadable(experiment, files, system, options);
    }
    SurfaceQueries queries(read_wishes(experiment, system));
    if (queries.wishes().any() && !options.values) {
        throw ConfigError("surfaces have no contents with --values off", "leave out --values off");
    }
    if (files.any() || names_network(program)) {
        return run_network_files(program, files, system, experiment.plan, options, &queries);
    }
    const Program read =
        read_any_program(program, system, options.values ? Images::Read : Images::LeaveOut);
    queries.ask(read.surfaces, options);
    if (queries.wishes().compare_layers) {
        queries.expect(saved_expectations(experiment, system, read), options);
    }
    Result result = run_program(read, system, options);
    queries.answer(result);
    name_surfaces(result.findings, read.surfaces);
    name_surfaces(result.checks, read.surfaces, read);
    return result;
}

Program read_any_program(const std::string& path, const SystemConfig& system, Images images) {
    const FamilyRegisters registers = system.family->registers(system.npu);
    Program program = read_program(
        path,
        RegisterNames(registers.programs ? registers.blocks : std::span<const RegisterBlock>{}),
        images);
    for (Statement& statement : program.statements) {
        auto* launch = std::get_if<LaunchJob>(&statement.action);
        if (launch == nullptr) {
            continue;
        }
        const auto& written = dynamic_cast<const WrittenJob&>(*launch->job);
        try {
            const auto job = system.family->read_job(written.descriptor);
            job->name = written.name;
            job->kind = written.kind;
            launch->job = job;
        } catch (const ConfigError& error) {
            throw ConfigError(statement.place, error.sentence(), error.remedy());
        }
    }
    return program;
}

}  // namespace npuscope
