// SPDX-License-Identifier: Apache-2.0
// `npuscope plan`: how a network would be run; with --out, the program that does it, and the CRC of
// every layer's result.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <map>
#include <memory>
#include <ostream>

#include "sim/command_line/command.h"
#include "sim/command_line/network_files.h"
#include "sim/compile/explain.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/compile/nvdla/nvdla_target.h"
#include "sim/compile/nvdla/plan_files.h"
#include "sim/compile/nvdla/plan_program.h"
#include "sim/compile/nvdla/segmented_program.h"
#include "sim/config/file_io.h"
#include "sim/config/text_table.h"
#include "sim/model/network.h"
#include "sim/model/onnx_reader.h"
#include "sim/model/prepare_graph.h"
#include "sim/report/explain_report.h"
#include "sim/run/session.h"

namespace npuscope {
namespace {

struct PlanArguments {
    std::string network;
    SystemArguments system;
    std::string out;
    bool explain = false;
    bool expectations = true;
    CompressionChoice compression = CompressionChoice::ByCycles;
    bool winograd = false;
    bool pixels = true;
    InputType input = InputType::Int8;
};

/// A plan as files: its program with the CRC of every layer's result, memory images, memory map.
struct SavedPlan {
    Program program;
    std::string memory_map;
};

/// The CRC of every result, from running the program on the simulated machine.
std::vector<std::uint32_t> simulated_crcs(Program program,
                                          const std::vector<ExpectedResult>& results,
                                          const SystemConfig& system) {
    add_expectations(program, results, {});
    std::vector<std::uint32_t> crcs(results.size());
    for (const CheckResult& check : run_program(program, system, {}).checks) {
        const std::string digits = check.actual.substr(2);  // after 0x
        std::from_chars(digits.data(), digits.data() + digits.size(), crcs.at(check.place.line - 1),
                        16);
    }
    return crcs;
}

/// Takes the plan's images. With `expectations` the program runs on the simulated machine once.
SavedPlan finish_plan(Plan plan, const SystemConfig& system, bool expectations) {
    SavedPlan saved;
    saved.memory_map = memory_map_yaml(plan);
    const std::vector<ExpectedResult> results = expected_results(plan);
    saved.program = plan_program(std::move(plan));
    if (expectations) {
        add_expectations(saved.program, results, simulated_crcs(saved.program, results, system));
    }
    return saved;
}

void write_plan(const SavedPlan& plan, const std::filesystem::path& folder) {
    save_program(plan.program, folder);
    write_atomically(folder / "memory_map.yaml", plan.memory_map);
}

/// `resnet on nv_small: 1,234 MACs, 12 operations ..`, the layers, and why.
std::string plan_report(const Network& network, const Plan& plan, const PlanArguments& arguments,
                        const std::string& npu, std::size_t width) {
    const std::string sram =
        plan.sram > Bytes(0) ? fmt::format(", {} of SRAM", with_separators(plan.sram.value)) : "";
    return fmt::format("{}\n{}{}",
                       wrapped(fmt::format("{} on {}: {}, {}, {} of memory{}", plan.name, npu,
                                           counted(total_macs(network_shapes(network)), "MAC"),
                                           counted(plan.operations.size(), "operation"),
                                           counted(plan.memory.value, "byte"), sram),
                               0, 4, width),
                       plan_table(plan, width),
                       arguments.explain ? '\n' + fitted(plan_reasons(plan), width) : "");
}

ExitCode plan_table_of(const PlanArguments& arguments, const SystemConfig& system,
                       const PlanTarget& target, const Console& console) {
    const Network network = read_network(arguments.network);
    Plan plan = plan_network(network, target);
    console.out << plan_report(network, plan, arguments, system.npu_name(), console.out_width);
    if (!arguments.out.empty()) {
        write_plan(finish_plan(std::move(plan), system, arguments.expectations), arguments.out);
    }
    return ExitCode::Good;
}

/// One program where that is all of the model; else a folder a segment, and their order. Nothing is
/// written before all of it is there.
void save_model(const Graph& graph, SegmentedPlan plan, const PlanArguments& arguments,
                const SystemConfig& system) {
    const std::filesystem::path folder = arguments.out;
    const bool whole = plan.partition.is_whole();
    const std::string order = segments_yaml(graph, plan, system.npu_name());
    std::vector<SavedPlan> saved;
    for (PlannedSegment& segment : plan.segments) {
        const std::string ends = tensors_yaml(segment, "");
        saved.push_back(finish_plan(std::move(segment.plan), system, arguments.expectations));
        saved.back().memory_map += ends;
    }
    for (std::size_t i = 0; i < saved.size(); ++i) {
        write_plan(saved[i], whole ? folder : folder / segment_folder(i));
    }
    if (!whole) {
        write_atomically(folder / "segments.yaml", order);
    }
}

/// What inputs of floats hold.
ValueRanges held(const Graph& graph, InputType type) {
    const ElementType element = type == InputType::Uint8 ? ElementType::Uint8 : ElementType::Int8;
    ValueRanges facts;
    for (const std::string& name : graph.inputs) {
        if (is_float(graph.types.at(name).element)) {
            facts[name] = {true, range_of(element), false};
        }
    }
    return facts;
}

ExitCode plan_model(const PlanArguments& arguments, const SystemConfig& system,
                    const PlanTarget& target, const Console& console) {
    const Graph graph = load_graph(arguments.network);
    SegmentedPlan plan = plan_segments(graph, target, held(graph, arguments.input));
    const NvdlaTarget family(target);
    const Explanation told{graph, family, plan.partition, layers_of_groups(plan)};
    const std::string refusals = told.refusals();
    const std::size_t width = console.out_width;
    console.out << fitted(segments_headline(graph, plan, system.npu_name()), width);
    if (arguments.explain) {
        console.out << '\n' << told.node_table(width);
    }
    console.out << (refusals.empty() ? "" : "\n") << fitted(refusals, width);
    for (const PlannedSegment& segment : plan.segments) {
        console.out << '\n'
                    << plan_report(segment.lowered.network, segment.plan, arguments,
                                   system.npu_name(), width);
    }
    if (!arguments.out.empty()) {
        save_model(graph, std::move(plan), arguments, system);
    }
    return ExitCode::Good;
}

/// The jobs and the host's operators as a program for their time, and the images that they need.
void save_jobs(Program program, const SystemConfig& system, const std::filesystem::path& folder) {
    std::size_t images = 0;
    std::erase_if(program.statements, [](const Statement& statement) {
        const auto* node = std::get_if<RunNode>(&statement.action);
        return node != nullptr && node->op.empty();  // a view takes no time
    });
    for (Statement& statement : program.statements) {
        if (auto* load = std::get_if<LoadMemory>(&statement.action)) {
            load->file = fmt::format("constants_{}.dat", images++);
        } else if (auto* launch = std::get_if<LaunchJob>(&statement.action)) {
            auto written = std::make_shared<WrittenJob>();
            written->name = launch->job->name;
            written->kind = launch->job->kind;
            written->descriptor = system.family->write_job(*launch->job);
            launch->job = std::move(written);
        }
    }
    save_program(program, folder);
}

/// On an NPU without register programs: where every node runs.
ExitCode explain_model(const PlanArguments& arguments, const SystemConfig& system,
                       const Console& console) {
    const Graph graph = read_any_network(arguments.network);
    const auto target = system.family->target(system.npu, system.memory, false);
    const auto plan = target->plan(graph);
    console.out << explain_report(graph, *target, *plan, console.out_width);
    if (!arguments.out.empty()) {
        write_atomically(std::filesystem::path(arguments.out) / "plan.txt",
                         explain_report(graph, *target, *plan));
        save_jobs(plan->program(system.host, nullptr).program, system, arguments.out);
    }
    return ExitCode::Good;
}

ExitCode plan(const PlanArguments& arguments, const Console& console) {
    const SystemConfig system = read_system(arguments.system);
    if (system.npu.find<NpuConfig>() == nullptr) {
        return explain_model(arguments, system, console);
    }
    const PlanTarget target{.npu = nvdla_npu(system),
                            .memory = system.memory,
                            .images = !arguments.out.empty(),
                            .compression = arguments.compression,
                            .winograd = arguments.winograd,
                            .pixels = arguments.pixels};
    return is_onnx_file(arguments.network) ? plan_model(arguments, system, target, console)
                                           : plan_table_of(arguments, system, target, console);
}

void add_options(CLI::App& app, PlanArguments& arguments, NpuFamilies families) {
    app.add_option("NETWORK", arguments.network, "network: an ONNX model, or a shape table (.yaml)")
        ->required();
    add_system_options(app, arguments.system, families);
    app.add_option(
        "--out", arguments.out,
        "folder for the program (program.cfg: registers, or jobs and plan.txt), its memory "
        "images and memory_map.yaml; of a model that needs the host between register "
        "programs, a folder for each segment and segments.yaml, their order");
    app.add_flag("--explain", arguments.explain,
                 "say for each layer what was chosen, why, and what else there was; of an ONNX "
                 "model also where every node runs: its pattern, unit and layer, and why (an NPU "
                 "of layer patterns always says it)");
    static const std::map<std::string, CompressionChoice> choices{
        {"by_cycles", CompressionChoice::ByCycles},
        {"never", CompressionChoice::Never},
        {"always", CompressionChoice::Always}};
    app.add_option("--compress", arguments.compression,
                   "weights are compressed where the NPU can: by_cycles (default: where that is "
                   "predicted to be faster, or as fast with less traffic), never, always")
        ->transform(CLI::CheckedTransformer(choices, CLI::ignore_case))
        ->option_text("MODE");
    app.add_flag("--winograd", arguments.winograd,
                 "3 x 3 kernels may be transformed where the NPU can and that is predicted to be "
                 "faster; int8 results then differ by rounding");
    app.add_flag("--pixels,!--no-pixels", arguments.pixels,
                 "an input of up to four channels may lie in memory as pixels, which the first "
                 "convolution reads in image mode (default)");
    static const std::map<std::string, InputType> types{{"int8", InputType::Int8},
                                                        {"uint8", InputType::Uint8}};
    app.add_option("--input-type", arguments.input,
                   "what a model's inputs of floats hold: int8 (default) or uint8")
        ->transform(CLI::CheckedTransformer(types, CLI::ignore_case))
        ->option_text("TYPE");
    app.add_flag("--expectations,!--no-expectations", arguments.expectations,
                 "the program compares the CRC of every layer's result (default)");
}

}  // namespace

Command plan_command() {
    return {"plan", "plans a network into a register program",
            "npuscope plan configs/workload/resnet50.yaml --npu nv_small --out planned --explain",
            [](CLI::App& app, NpuFamilies families) {
                const auto arguments = std::make_shared<PlanArguments>();
                add_options(app, *arguments, families);
                return [arguments](const Console& console) { return plan(*arguments, console); };
            }};
}

}  // namespace npuscope
