// SPDX-License-Identifier: Apache-2.0
// `npuscope plan`: how a network would be run, without running it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>

#include "sim/command_line/commands.h"
#include "sim/command_line/layer_commands.h"
#include "sim/command_line/system_arguments.h"
#include "sim/onnx/onnx_reader.h"
#include "sim/plan/network_planner.h"
#include "sim/plan/plan_program.h"
#include "sim/plan/save_program.h"
#include "sim/report/text_table.h"
#include "sim/workload/network_shapes.h"

namespace npuscope {
namespace {

struct PlanArguments {
    std::string network;
    bool explain = false;
    SystemArguments system;
    std::string out;
};

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
    if (names_layer_npu(arguments.system)) {
        return plan_layer_network({arguments.network, arguments.system, {}, {}, arguments.out},
                                  console);
    }
    if (is_onnx_file(arguments.network)) {
        refuse_model(arguments.network, arguments.system);
    }
    const SystemConfig system = read_system(arguments.system);
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
    app.add_option("NETWORK", arguments.network, "network: an ONNX model, or a shape table (.yaml)")
        ->required();
    add_system_options(app, arguments.system);
    app.add_option("--out", arguments.out,
                   "folder for the register program (program.cfg) and its memory images");
    app.add_flag("--explain", arguments.explain,
                 "where every node of an ONNX model runs and why; such models are always told so");
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
