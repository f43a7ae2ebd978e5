// SPDX-License-Identifier: Apache-2.0
// `npuscope plan`: how a network would be run, without running it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>

#include "sim/command_line/commands.h"
#include "sim/config/override_field.h"
#include "sim/config/preset.h"
#include "sim/plan/network_planner.h"
#include "sim/plan/plan_program.h"
#include "sim/plan/save_program.h"
#include "sim/report/text_table.h"
#include "sim/run/system_config.h"
#include "sim/workload/network_shapes.h"

namespace npuscope {
namespace {

struct PlanArguments {
    std::string network;
    std::string npu = "nv_small";
    std::string memory = "dram_50";
    std::vector<std::string> changes;
    std::string out;
};

SystemConfig read_system(const PlanArguments& arguments) {
    const auto folder = configs_folder();
    SystemConfig system;
    system.npu = read_preset<NpuConfig>(find_preset(folder, "npu", arguments.npu));
    system.memory = read_preset<MemoryConfig>(find_preset(folder, "memory", arguments.memory));
    for (const std::string& change : arguments.changes) {
        override_field(system, change);
    }
    return system;
}

/// `5 + 27` where the operation uses the convolution buffer.
std::string banks_text(const Operation& operation) {
    const auto* conv = std::get_if<ConvOperation>(&operation.job);
    if (conv == nullptr) {
        return "";
    }
    const BankSplit& banks = conv->conv.cdma.banks;
    return fmt::format("{} + {}", banks.data, banks.weight);
}

std::string plan_table(const Plan& plan) {
    TextTable table({{"layer", Align::Left},
                     {"kind", Align::Left},
                     {"result", Align::Right},
                     {"MACs", Align::Right},
                     {"operations", Align::Right},
                     {"banks", Align::Right},
                     {"address", Align::Right}});
    for (const PlannedLayer& layer : plan.layers) {
        table.add_row(
            {layer.name, std::string(enum_name(layer.kind)), shape_text(layer.stored.cube.shape),
             with_separators(layer.macs), std::to_string(layer.operations),
             banks_text(plan.operations[layer.first_operation]), to_hex(layer.stored.cube.base)});
    }
    return table.text();
}

ExitCode plan(const PlanArguments& arguments, const Console& console) {
    const SystemConfig system = read_system(arguments);
    const Network network = read_network(arguments.network);
    const std::uint64_t macs = total_macs(network_shapes(network));
    Plan plan = plan_network(network, {system.npu, system.memory, !arguments.out.empty()});
    console.out << fmt::format("{} on {}: {} MACs, {} operations, {} bytes of memory\n\n{}",
                               plan.name, system.npu.name, with_separators(macs),
                               plan.operations.size(), with_separators(plan.memory.value),
                               plan_table(plan));
    if (!arguments.out.empty()) {
        save_program(plan_program(std::move(plan)), arguments.out);
    }
    return ExitCode::Good;
}

void add_options(CLI::App& app, PlanArguments& arguments) {
    app.add_option("NETWORK", arguments.network, "shape table of a network: a .yaml file")
        ->required();
    app.add_option("--npu", arguments.npu, "preset of the NPU, by name or file")
        ->capture_default_str();
    app.add_option("--memory", arguments.memory, "preset of the memory, by name or file")
        ->capture_default_str();
    app.add_option("--set", arguments.changes,
                   "KEY=VALUE changes a field of the configuration; may be repeated")
        ->allow_extra_args(false);
    app.add_option("--out", arguments.out,
                   "folder for the register program (program.cfg) and its memory images");
}

}  // namespace

Command plan_command() {
    return {"plan", "plans a network into a register program, without running it",
            "npuscope plan configs/workload/resnet50.yaml --npu nv_small --out planned",
            [](CLI::App& app) {
                const auto arguments = std::make_shared<PlanArguments>();
                add_options(app, *arguments);
                return [arguments](const Console& console) { return plan(*arguments, console); };
            }};
}

}  // namespace npuscope
