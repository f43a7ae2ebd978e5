// SPDX-License-Identifier: Apache-2.0
// `door_cost`: the cost of register programs through the C library and with memory accessed burst
// by burst, as a multiple of their cost on the command line. All ways alternate in one process;
// what counts is the processor time of the simulation thread, so that other load has little effect.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/bench_main.h"
#include "bench/stopwatch.h"
#include "models/base/error.h"
#include "models/npu/npu_config.h"
#include "sim/command_line/command.h"
#include "sim/config/preset.h"
#include "sim/config/system_config.h"
#include "sim/program/read_program.h"
#include "sim/report/reports.h"
#include "sim/run/session.h"
#include "tests/support/c_door.h"
#include "tests/support/families.h"

namespace npuscope::bench {
namespace {

struct Arguments {
    std::string npu = "nv_small";
    unsigned repeat = 5;
    bool check = false;
    std::vector<std::string> programs;
};

/// The most that a way may cost, as a multiple of the command line's.
constexpr double most_by_c = 1.1;
constexpr double most_by_bursts = 3.0;

/// From the preset to the result as text, as the command line does it.
void run_alone(const Program& program, const std::string& npu, McifTransactions transactions) {
    SystemConfig system = read_system({.families = test::families(), .npu = npu, .changes = {}});
    system.npu.find<NpuConfig>()->mcif.transactions = transactions;
    const Result result = run_program(program, system, {});
    if (json_report(result).empty() || !std::ranges::all_of(result.checks, &CheckResult::pass)) {
        throw std::runtime_error(program.name + ": a check does not hold by the command line");
    }
}

/// From the creation of the device to its result and destruction.
void run_by_c(const Program& program, const std::string& npu,
              std::span<const RegisterBlock> blocks) {
    npuscope_device* device = nullptr;
    test::good(npuscope_create(npu.c_str(), nullptr, 0, nullptr, &device));
    test::CDoor door(device);
    ProgramPlayer player(program, blocks, door);
    player.play();
    char* text = nullptr;
    test::good(npuscope_result(device, &text));
    npuscope_free(text);
    test::good(npuscope_destroy(device));
    if (player.failed != 0) {
        throw std::runtime_error(program.name + ": a check does not hold by the C library");
    }
}

/// Seconds of the fastest of `times` runs of each; they alternate.
std::vector<double> best_of(unsigned times, const std::vector<std::function<void()>>& ways) {
    std::vector<double> best(ways.size(), std::numeric_limits<double>::max());
    for (unsigned i = 0; i < times; ++i) {
        for (std::size_t way = 0; way < ways.size(); ++way) {
            const double begin = seconds_of_thread();
            ways[way]();
            best[way] = std::min(best[way], seconds_of_thread() - begin);
        }
    }
    return best;
}

struct Totals {
    double c = 0;
    double values = 0;
};

/// A row for one program; the worst of the ratios so far.
void measure(const std::string& path, const Arguments& arguments,
             std::span<const RegisterBlock> blocks, Totals& worst) {
    const Program program = read_program(path, RegisterNames(blocks));
    const auto alone = [&](McifTransactions transactions) {
        return [&program, &arguments, transactions] {
            run_alone(program, arguments.npu, transactions);
        };
    };
    const std::vector<double> best =
        best_of(arguments.repeat,
                {alone(McifTransactions::Runs), [&] { run_by_c(program, arguments.npu, blocks); },
                 alone(McifTransactions::Bursts), alone(McifTransactions::Values)});
    const auto times = [&](std::size_t way) { return best[way] / best[0]; };
    fmt::print("{}: C library {:.2f}, bursts {:.2f}, values {:.2f} times the command line\n",
               program.name, times(1), times(2), times(3));
    worst.c = std::max(worst.c, times(1));
    worst.values = std::max({worst.values, times(2), times(3)});
}

int run(int argc, char** argv) {
    Arguments arguments;
    CLI::App app("What another program's way to an NPU costs beside the command line's");
    app.add_option("programs", arguments.programs, "Each a .cfg or .txn, or its folder")
        ->required();
    app.add_option("--npu", arguments.npu, "Preset")->capture_default_str();
    app.add_option("--repeat", arguments.repeat, "Runs of each way; the fastest counts")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_flag(
        "--check", arguments.check,
        "End with 1 where the C library takes more than 1.1 times the command line's time, or "
        "transactions more than 3 times that of runs of beats");
    CLI11_PARSE(app, argc, argv);

    const SystemConfig system = test::preset_system(configs_folder(), arguments.npu);
    const FamilyRegisters registers = system.family->registers(system.npu);
    Totals worst;
    for (const std::string& path : arguments.programs) {
        measure(path, arguments, registers.blocks, worst);
    }
    fmt::print("worst of {}: C library {:.2f}, transactions {:.2f}\n", arguments.programs.size(),
               worst.c, worst.values);
    return arguments.check && (worst.c > most_by_c || worst.values > most_by_bursts) ? 1 : 0;
}

}  // namespace
}  // namespace npuscope::bench

int main(int argc, char** argv) {
    return npuscope::bench::bench_main(argc, argv, npuscope::bench::run);
}
