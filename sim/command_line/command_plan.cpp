// SPDX-License-Identifier: Apache-2.0
// `npuscope plan`: how a network would be run; with --out, the program that does it, and the CRC of
// every layer's result.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <map>
#include <memory>
#include <ostream>

#include "sim/command_line/commands.h"
#include "sim/command_line/layer_commands.h"
#include "sim/command_line/network_files.h"
#include "sim/command_line/system_arguments.h"
#include "sim/plan/expectations.h"
#include "sim/plan/network_planner.h"
#include "sim/plan/plan_program.h"
#include "sim/plan/plan_text.h"
#include "sim/plan/save_program.h"
#include "sim/report/atomic_file.h"
#include "sim/report/text_table.h"
#include "sim/run/session.h"
#include "sim/workload/network_shapes.h"

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

/// The CRC of every result, from running the program on the simulated machine.
std::vector<std::uint32_t> simulated_crcs(Program program,
                                          const std::vector<ExpectedResult>& results,
                                          const SystemConfig& system) {
    add_expectations(program, results, {});
    std::vector<std::uint32_t> crcs(results.size());
    for (const CheckResult& check : run_program(program, system, {}).checks) {
        const std::string digits = check.actual.substr(2);  // behind 0x
        std::from_chars(digits.data(), digits.data() + digits.size(), crcs.at(check.place.line - 1),
                        16);
    }
    return crcs;
}

void save(Plan plan, const PlanArguments& arguments, const SystemConfig& system) {
    const std::filesystem::path folder = arguments.out;
    const std::string map = memory_map_yaml(plan);
    const std::vector<ExpectedResult> results = expected_results(plan);
    Program program = plan_program(std::move(plan));
    if (arguments.expectations) {
        add_expectations(program, results, simulated_crcs(program, results, system));
    }
    save_program(program, folder);
    write_atomically(folder / "memory_map.yaml", map);
}

ExitCode plan(const PlanArguments& arguments, const Console& console) {
    if (names_layer_npu(arguments.system.npu)) {
        return plan_layer_network({arguments.network, arguments.system, {}, {}, arguments.out},
                                  console);
    }
    const SystemConfig system = read_system(arguments.system);
    const Network network = load_network(arguments.network, arguments.input).network;
    const std::uint64_t macs = total_macs(network_shapes(network));
    Plan plan = plan_network(network, {.npu = system.npu,
                                       .memory = system.memory,
                                       .images = !arguments.out.empty(),
                                       .compression = arguments.compression,
                                       .winograd = arguments.winograd,
                                       .pixels = arguments.pixels});
    const std::string sram =
        plan.sram > Bytes(0) ? fmt::format(", {} of SRAM", with_separators(plan.sram.value)) : "";
    console.out << fmt::format("{} on {}: {} MACs, {} operations, {} bytes of memory{}\n\n{}",
                               plan.name, system.npu.name, with_separators(macs),
                               plan.operations.size(), with_separators(plan.memory.value), sram,
                               plan_table(plan));
    if (arguments.explain) {
        console.out << '\n' << plan_reasons(plan);
    }
    if (!arguments.out.empty()) {
        save(std::move(plan), arguments, system);
    }
    return ExitCode::Good;
}

void add_options(CLI::App& app, PlanArguments& arguments) {
    app.add_option("NETWORK", arguments.network, "network: an ONNX model, or a shape table (.yaml)")
        ->required();
    add_system_options(app, arguments.system);
    app.add_option("--out", arguments.out,
                   "folder for the register program (program.cfg), its memory images and "
                   "memory_map.yaml");
    app.add_flag("--explain", arguments.explain,
                 "say for each layer what was chosen, why, and what else there was; of an ONNX "
                 "model where every node runs, which is always said");
    static const std::map<std::string, CompressionChoice> choices{
        {"by_cycles", CompressionChoice::ByCycles},
        {"never", CompressionChoice::Never},
        {"always", CompressionChoice::Always}};
    app.add_option("--compress", arguments.compression,
                   "weights are compressed where the NPU can: by_cycles (default: where that is "
                   "predicted to be faster, or as fast with less traffic), never, always")
        ->transform(CLI::CheckedTransformer(choices, CLI::ignore_case));
    app.add_flag("--winograd", arguments.winograd,
                 "3 x 3 kernels may be transformed where the NPU can and that is predicted to be "
                 "faster; int8 results then differ by rounding");
    app.add_flag("--pixels,!--no-pixels", arguments.pixels,
                 "an input of up to four channels may lie in memory as pixels, which the first "
                 "convolution reads in image mode (default)");
    static const std::map<std::string, InputType> types{{"int8", InputType::Int8},
                                                        {"uint8", InputType::Uint8}};
    app.add_option("--input-type", arguments.input,
                   "what a model's input of floats holds: int8 (default) or uint8")
        ->transform(CLI::CheckedTransformer(types, CLI::ignore_case));
    app.add_flag("--expectations,!--no-expectations", arguments.expectations,
                 "the program compares the CRC of every layer's result (default)");
}

}  // namespace

Command plan_command() {
    return {"plan", "plans a network into a register program",
            "npuscope plan configs/workload/resnet50.yaml --npu nv_small --out planned --explain",
            [](CLI::App& app) {
                const auto arguments = std::make_shared<PlanArguments>();
                add_options(app, *arguments);
                return [arguments](const Console& console) { return plan(*arguments, console); };
            }};
}

}  // namespace npuscope
