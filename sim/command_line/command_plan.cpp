// SPDX-License-Identifier: Apache-2.0
// `npuscope plan`: how a network would be run; with --out, the corresponding program, and the CRC
// of every layer's result.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <ostream>

#include "sim/command_line/command.h"
#include "sim/command_line/experiment.h"
#include "sim/command_line/loadable_files.h"
#include "sim/command_line/network_files.h"
#include "sim/command_line/output_paths.h"
#include "sim/command_line/plan_runs.h"
#include "sim/command_line/program_kind.h"
#include "sim/compile/explain.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/compile/nvdla/nvdla_target.h"
#include "sim/compile/nvdla/plan_files.h"
#include "sim/compile/nvdla/plan_program.h"
#include "sim/compile/nvdla/segmented_program.h"
#include "sim/config/diagnostic_report.h"
#include "sim/config/file_io.h"
#include "sim/config/output_folder.h"
#include "sim/config/printable.h"
#include "sim/config/text_table.h"
#include "sim/config/yaml_writer.h"
#include "sim/convert/surface_spec.h"
#include "sim/loadable/host_edges.h"
#include "sim/loadable/join_loadables.h"
#include "sim/loadable/plan_loadable.h"
#include "sim/model/network.h"
#include "sim/model/onnx_reader.h"

namespace npuscope {
namespace {

using PlanArguments = ExperimentArguments;

/// A plan as files: its program with the CRC of every layer's result, memory images, memory map.
struct SavedPlan {
    Program program;
    std::string memory_map;
};

/// Consumes the plan's images. With `expectations` the program runs on the simulated machine once.
SavedPlan finish_plan(Plan plan, const SystemConfig& system, bool expectations) {
    SavedPlan saved;
    saved.memory_map = memory_map_yaml(plan, system.npu_name());
    const std::vector<ExpectedResult> results = expected_results(plan);
    saved.program = plan_program(std::move(plan));
    if (expectations) {
        add_expectations(saved.program, results,
                         crcs_of(simulated_results(saved.program, results, system)));
    }
    return saved;
}

/// The folder of --out, with the experiment in it.
OutputFolder output_of(const PlanArguments& arguments, const SystemConfig& system) {
    OutputFolder out(arguments.experiment.write.out);
    out.write("config.yaml", effective_yaml(arguments.experiment, system));
    return out;
}

/// The program is written last: a folder that has it is complete.
void write_plan(const SavedPlan& plan, OutputFolder& out, const std::filesystem::path& folder) {
    out.write(folder / "memory_map.yaml", plan.memory_map);
    save_program(plan.program, out, folder);
}

/// Operators of the host between the first and the last segment: `Concat, Resize and 3 more nodes`.
std::string nodes_between(const Graph& graph, const Partition& partition) {
    constexpr std::size_t most_named = 4;
    std::vector<std::string> names;
    std::size_t segments = 0;
    for (const PartitionStep& step : partition.steps) {
        segments += step.segment ? 1U : 0U;
        if (!step.segment && partition.places[step.node].side == NodeSide::Host && segments > 0 &&
            segments < partition.segments.size()) {
            names.push_back(node_text(graph.nodes[step.node]));
        }
    }
    std::string text;
    for (std::size_t i = 0; i < std::min(names.size(), most_named); ++i) {
        text += (i == 0 ? "" : ", ") + names[i];
    }
    return names.size() > most_named
               ? text + fmt::format(" and {}", counted(names.size() - most_named, "more node"))
               : text;
}

/// A shape table's tensors have the names of its files.
LoadableBinding table_binding(const Plan& plan) {
    LoadableBinding binding;
    binding.inputs.push_back({"input"});
    for (const PlannedInput& input : plan.more_inputs) {
        binding.inputs.push_back({input.name, input.name});
    }
    for (const PlannedLayer& layer : plan.layers) {
        if (layer.output) {
            binding.outputs.push_back({layer.name, layer.name});
        }
    }
    return binding;
}

/// One task per segment. No driver does what the host computes between them.
void save_model_loadable(const Graph& graph, const SegmentedPlan& plan,
                         const PlanArguments& arguments, const SystemConfig& system,
                         const Console& console) {
    if (plan.segments.empty()) {
        throw ConfigError("no part of the model runs on the NPU",
                          "--explain gives the reason for every node");
    }
    std::vector<Loadable> parts;
    for (const PlannedSegment& segment : plan.segments) {
        LoadableBinding binding;
        for (const SegmentTensor& input : segment.lowered.inputs) {
            binding.inputs.push_back({input.tensor, input.layer == "input" ? "" : input.layer});
        }
        for (const SegmentTensor& output : segment.lowered.outputs) {
            binding.outputs.push_back({output.tensor, output.layer});
        }
        parts.push_back(plan_loadable(segment.plan, binding, nvdla_npu(system)));
    }
    Loadable loadable = join_loadables(std::move(parts));
    loadable.blobs.push_back(host_edges_blob(graph, plan, NPUSCOPE_VERSION));
    write_atomically(arguments.experiment.write.loadable, loadable_bytes(loadable));
    const std::string between = nodes_between(graph, plan.partition);
    if (!between.empty()) {
        console.out << printable(
            fitted(fmt::format("\nthe loadable has {} tasks; between them the host computes {} "
                               "(`npuscope run` does this; with a real driver, the application "
                               "must)\n",
                               plan.segments.size(), between),
                   console.out_width));
    }
}

/// `resnet on nv_small: 1,234 MACs, 12 operations ..`, the layers, and why.
std::string plan_report(const Network& network, const Plan& plan, const PlanArguments& arguments,
                        const std::string& npu, std::size_t width) {
    const std::string sram =
        plan.sram > Bytes(0) ? fmt::format(", {} of SRAM", with_separators(plan.sram.value)) : "";
    return fmt::format(
        "{}\n{}{}",
        wrapped(fmt::format("{} on {}: {}, {}, {} of memory{}", plan.name, npu,
                            counted(total_macs(network_shapes(network)), "MAC"),
                            counted(plan.operations.size(), "operation"),
                            counted(plan.memory.value, "byte"), sram),
                0, 4, width),
        plan_table(plan, width),
        arguments.experiment.write.explain ? '\n' + fitted(plan_reasons(plan), width) : "");
}

ExitCode plan_table_of(const PlanArguments& arguments, const SystemConfig& system,
                       const PlanTarget& target, const Console& console) {
    const Network network = read_network(arguments.experiment.program);
    Plan plan = plan_network(network, target);
    console.out << printable(
        plan_report(network, plan, arguments, system.npu_name(), console.out_width));
    if (!arguments.experiment.write.loadable.empty()) {
        write_atomically(
            arguments.experiment.write.loadable,
            loadable_bytes(plan_loadable(plan, table_binding(plan), nvdla_npu(system))));
    }
    if (!arguments.experiment.write.out.empty()) {
        OutputFolder out = output_of(arguments, system);
        write_plan(finish_plan(std::move(plan), system, arguments.experiment.plan.expectations),
                   out, {});
        out.commit_in_place_of_earlier();
    }
    return ExitCode::Good;
}

/// The exit code of a run of the plan, as far as it is known in advance.
ExitCode exit_code_of(const Diagnostics& findings) {
    const bool wrong =
        std::ranges::find(findings, Severity::Error, &Diagnostic::severity) != findings.end();
    return wrong ? ExitCode::ExpectationFailed : ExitCode::Good;
}

/// One program if that is all of the model; else a folder per segment, and their order. Nothing is
/// written before all of it is ready.
void save_model(const Graph& graph, SegmentedPlan plan, const PlanArguments& arguments,
                const SystemConfig& system) {
    OutputFolder out = output_of(arguments, system);
    const bool whole = plan.partition.is_whole();
    const std::string order = segments_yaml(graph, plan, system.npu_name());
    std::vector<SavedPlan> saved;
    for (PlannedSegment& segment : plan.segments) {
        const std::string ends = tensors_yaml(segment, "");
        saved.push_back(
            finish_plan(std::move(segment.plan), system, arguments.experiment.plan.expectations));
        saved.back().memory_map += ends;
    }
    for (std::size_t i = 0; i < saved.size(); ++i) {
        write_plan(saved[i], out, whole ? "" : segment_folder(i));
    }
    if (!whole) {
        out.write("segments.yaml", order);
    }
    out.commit_in_place_of_earlier();
}

ExitCode plan_model(const PlanArguments& arguments, const SystemConfig& system,
                    const PlanTarget& target, const Console& console) {
    const Graph graph =
        read_any_network(arguments.experiment.program, system, arguments.experiment.model,
                         ModelUse::Values, arguments.experiment.inputs);
    SegmentedPlan plan =
        plan_segments(graph, target, held_inputs(graph, arguments.experiment.plan.input_type));
    const NvdlaTarget family(target);
    const PlaceExplanation told{graph, family, plan.partition, layers_of_groups(plan)};
    const std::string refusals = told.refusals();
    const std::size_t width = console.out_width;
    console.out << fitted(printable(segments_headline(graph, plan, system.npu_name())), width);
    if (arguments.experiment.write.explain) {
        console.out << '\n' << printable(told.node_table(width));
    }
    console.out << (refusals.empty() ? "" : "\n") << fitted(printable(refusals), width);
    for (const PlannedSegment& segment : plan.segments) {
        console.out << '\n'
                    << printable(plan_report(segment.lowered.network, segment.plan, arguments,
                                             system.npu_name(), width));
    }
    const Diagnostics findings = host_only_findings(graph, plan.partition);
    console.out << (findings.empty() ? "" : "\n") << findings_text(findings, true, width);
    if (!arguments.experiment.write.loadable.empty()) {
        save_model_loadable(graph, plan, arguments, system, console);
    }
    if (!arguments.experiment.write.out.empty()) {
        save_model(graph, std::move(plan), arguments, system);
    }
    return exit_code_of(findings);
}

/// Where a job program's files and its maps are; a map lasts until another one reuses its bytes.
std::string job_memory_map(const Program& program, const std::string& npu) {
    std::string images;
    std::map<std::string, std::size_t> order;  // of jobs
    for (const Statement& statement : program.statements) {
        if (const auto* load = std::get_if<LoadMemory>(&statement.action)) {
            images +=
                fmt::format("\n  - {{name: {}, file: {}, address: {}, bytes: {}}}",
                            yaml_quoted(std::filesystem::path(load->file).stem().string()),
                            yaml_quoted(load->file), to_hex(load->address), load->image.end());
        } else if (const auto* launch = std::get_if<LaunchJob>(&statement.action)) {
            order.emplace(launch->job->name, order.size());
        }
    }
    struct Map {
        SurfaceSpec spec;
        std::size_t from = 0;

        Address end() const { return spec.base + Bytes(spec.layout.bytes); }
    };
    std::vector<Map> maps;
    for (const NamedSurface& surface : program.surfaces) {
        // a map of the host is read by the next job
        maps.push_back({parse_surface_spec(surface.spec),
                        surface.after.empty() ? (maps.empty() ? 0 : maps.back().from + 1)
                                              : order.at(surface.after)});
    }
    std::string results;
    for (std::size_t i = 0; i < maps.size(); ++i) {
        const auto next = std::find_if(
            maps.begin() + static_cast<std::ptrdiff_t>(i) + 1, maps.end(), [&](const Map& later) {
                return later.spec.base < maps[i].end() && maps[i].spec.base < later.end();
            });
        const std::size_t until = next == maps.end() ? order.size() - 1 : next->from;
        const LogicalShape& shape = maps[i].spec.layout.shape;
        results += fmt::format(
            "\n  - {{name: {}, layout: {}, type: {}, shape: {}x{}x{}x{}, address: {}, bytes: {}, "
            "first_operation: {}, last_operation: {}}}",
            yaml_quoted(program.surfaces[i].name), maps[i].spec.layout.sentence,
            maps[i].spec.type->name, shape.extent('N'), shape.extent('C'), shape.extent('H'),
            shape.extent('W'), to_hex(maps[i].spec.base), maps[i].spec.layout.bytes, maps[i].from,
            std::max(maps[i].from, until - (next == maps.end() ? 0 : 1)));
    }
    return fmt::format("network: {}\nnpu: {}\nimages:{}\nresults:{}\n", yaml_quoted(program.name),
                       yaml_quoted(npu), images.empty() ? " []" : images,
                       results.empty() ? " []" : results);
}

/// The jobs and the host's operators as a timing-only program, and the images that they need.
void save_jobs(Program program, const SystemConfig& system, OutputFolder& out) {
    std::erase_if(program.statements, [](const Statement& statement) {
        const auto* node = std::get_if<RunNode>(&statement.action);
        return node != nullptr && node->op.empty();  // a view takes no time
    });
    for (Statement& statement : program.statements) {
        if (auto* launch = std::get_if<LaunchJob>(&statement.action)) {
            auto written = std::make_shared<WrittenJob>();
            written->name = launch->job->name;
            written->kind = launch->job->kind;
            written->descriptor = system.family->write_job(*launch->job);
            launch->job = std::move(written);
        }
    }
    if (!program.surfaces.empty()) {
        out.write("memory_map.yaml", job_memory_map(program, system.npu_name()));
    }
    save_program(program, out, {});
}

/// On an NPU without register programs: where every node runs.
ExitCode explain_model(const PlanArguments& arguments, const SystemConfig& system,
                       const Console& console) {
    const Graph graph =
        read_any_network(arguments.experiment.program, system, arguments.experiment.model,
                         ModelUse::Values, arguments.experiment.inputs);
    const auto target = system.family->target(system.npu, system.memory, false);
    const auto plan = target->plan(graph, declared_inputs(arguments.experiment.program, graph,
                                                          arguments.experiment.plan.input_type));
    ModelProgram model = plan->program(system.host, nullptr);
    console.out << printable(explain_report(graph, *target, *plan, console.out_width));
    if (!arguments.experiment.write.out.empty()) {
        OutputFolder out = output_of(arguments, system);
        out.write("plan.txt", printable(explain_report(graph, *target, *plan)));
        save_jobs(std::move(model.program), system, out);
        out.commit_in_place_of_earlier();
    }
    return exit_code_of(model.findings);
}

/// The register program that the firmware would issue, in the same form as all programs.
ExitCode save_loadable_program(const PlanArguments& arguments, const SystemConfig& system,
                               const Console& console) {
    const std::string& path = arguments.experiment.program;
    LoadableProgram made = read_loadable_program(path, {}, system);
    std::size_t emulated = 0;
    std::size_t host_parts = 0;
    std::size_t writes = 0;
    for (const Statement& statement : made.program.statements) {
        if (const auto* node = std::get_if<RunNode>(&statement.action)) {
            ++(node->op.empty() ? host_parts : emulated);
        }
        writes += std::holds_alternative<WriteRegister>(statement.action) ? 1U : 0U;
    }
    console.out << printable(
        wrapped(fmt::format("{} on {}: {}, {}", made.program.name, system.npu_name(),
                            counted(writes, "register write"), counted(emulated, "host operator")),
                0, 4, console.out_width));
    if (host_parts > 0) {
        console.out << printable(wrapped(
            fmt::format(
                "note: the host computes {} of the model between the tasks; in the register "
                "program run_node stands for it, and its results are zeros",
                counted(host_parts, "part")),
            0, 4, console.out_width));
    }
    if (!arguments.experiment.write.out.empty()) {
        OutputFolder out = output_of(arguments, system);
        save_program(made.program, out, {});
        out.commit_in_place_of_earlier();
    }
    return ExitCode::Good;
}

ExitCode plan_any(const PlanArguments& arguments, const SystemConfig& system,
                  const Console& console) {
    const std::string& network = arguments.experiment.program;
    if (is_loadable_file(network)) {
        if (!arguments.experiment.write.loadable.empty()) {
            throw ConfigError(fmt::format("'{}' is already a loadable", network),
                              "--out writes its register program");
        }
        return save_loadable_program(arguments, system, console);
    }
    refuse_memory_image(network, "planned");
    if (!names_network(network)) {
        throw ConfigError(fmt::format("'{}' is not a network", network),
                          "networks are ONNX models (.onnx) and shape tables (.yaml)");
    }
    if (system.npu.find<NpuConfig>() == nullptr) {
        if (!arguments.experiment.write.loadable.empty()) {
            throw ConfigError(fmt::format("{} does not support loadables", system.npu_name()),
                              "choose an NVDLA: nv_small, nv_large or nv_full");
        }
        return explain_model(arguments, system, console);
    }
    const WriteChoices& write = arguments.experiment.write;
    if (!write.loadable.empty() && !is_loadable_file(write.loadable)) {
        throw ConfigError(
            fmt::format("--loadable: '{}' does not have the name of a loadable", write.loadable),
            "give a name that ends in .fbuf");
    }
    PlanTarget target =
        arguments.experiment.plan.target(system, !write.out.empty() || !write.loadable.empty());
    // runtimes know no tensor of pixels in two planes
    target.pixels = target.pixels && write.loadable.empty();
    target.describable = !write.loadable.empty();
    return is_onnx_file(network) ? plan_model(arguments, system, target, console)
                                 : plan_table_of(arguments, system, target, console);
}

ExitCode plan(PlanArguments& arguments, const Console& console) {
    arguments.open();
    Experiment& experiment = arguments.experiment;
    const std::array<OutputPath, 2> outputs{{{"--out", experiment.write.out, OutputKind::Folder},
                                             {"--loadable", experiment.write.loadable}}};
    require_separate(outputs, arguments.inputs());
    require_use_of_options(experiment);
    const SystemConfig system = read_system(arguments.system);
    require_use_of_plan_options(experiment.plan, system);
    experiment.command = recorded_command(arguments, console);
    return plan_any(arguments, system, console);
}

void add_options_of_plan(CLI::App& app, PlanArguments& arguments, NpuFamilies families) {
    add_experiment_options(
        app, arguments, families, "NETWORK",
        "network: an ONNX model, or a shape table (.yaml); or a loadable for NVDLA, whose "
        "register program --out writes");
    WriteChoices& write = arguments.experiment.write;
    app.add_option(
           "--out", write.out,
           "folder for the program (program.cfg: registers, or jobs and plan.txt), its memory "
           "images, memory_map.yaml and config.yaml (the experiment); for a model that also needs "
           "the host (be it only to quantise its inputs), one folder per segment and "
           "segments.yaml, which lists their order")
        ->option_text("DIR");
    app.add_option("--loadable", write.loadable,
                   "file for the plan as a loadable (.fbuf) for NVDLA's driver; host operators "
                   "between NPU layers divide it into tasks")
        ->option_text("FILE");
    app.add_flag("--explain", write.explain,
                 "print the choice, reason and alternatives for each layer; for an ONNX model also "
                 "where every node runs: pattern, unit and layer, and why (always printed for an "
                 "NPU with layer patterns)");
    add_plan_options(app, arguments.experiment.plan);
    add_model_options(app, arguments.experiment.model);
    app.add_flag("--expectations,!--no-expectations", arguments.experiment.plan.expectations,
                 "the program checks the CRC of every layer's result (default)");
}

}  // namespace

Command plan_command() {
    return {"plan", "plans a network into a register program",
            "npuscope plan configs/workload/resnet50.yaml --npu nv_small --out planned --explain",
            [](CLI::App& app, NpuFamilies families) {
                const auto arguments = std::make_shared<PlanArguments>();
                add_options_of_plan(app, *arguments, families);
                return [arguments](const Console& console) { return plan(*arguments, console); };
            }};
}

}  // namespace npuscope
