// SPDX-License-Identifier: Apache-2.0
// Timing of a TINPU preset against published run times: the half that it was calibrated on, and the
// other half.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cmath>
#include <iostream>

#include "bench/tinpu_rows.h"
#include "sim/command_line/command.h"
#include "sim/compile/tinpu/tinpu_target.h"
#include "sim/config/text_table.h"

namespace npuscope::bench {
namespace {

std::string half(const SystemConfig& system, bool calibrated) {
    TextTable table({{"model", Align::Left},
                     {"frame", Align::Right},
                     {"published", Align::Right},
                     {"simulated", Align::Right},
                     {"error", Align::Right}});
    double worst = 0;
    double sum = 0;
    int rows = 0;
    for (const PublishedRun& run : published_runs()) {
        if (run.calibrated != calibrated) {
            continue;
        }
        const Cycles cycles = time_jobs(model_jobs(run.model, run.frame), system).cycles;
        const double error =
            static_cast<double>(cycles.value) / static_cast<double>(run.cycles) - 1;
        worst = std::max(worst, std::abs(error));
        sum += std::abs(error);
        ++rows;
        table.add_row({std::string(run.model), std::to_string(run.frame),
                       with_separators(run.cycles), with_separators(cycles.value),
                       fmt::format("{:+.1f} %", error * 100)});
    }
    return fmt::format("{}\n{}  mean error {:.1f} %, largest {:.1f} %\n\n",
                       calibrated ? "calibrated on" : "not calibrated on", table.text(),
                       sum / rows * 100, worst * 100);
}

}  // namespace
}  // namespace npuscope::bench

int main(int count, char** arguments) {
    using namespace npuscope;
    CLI::App app("Cycles of a TINPU preset against published ones.");
    std::string npu = "tinpu_f28p55";
    app.add_option("--npu", npu, "preset, by name or file")->capture_default_str();
    std::string memory;
    app.add_option("--memory", memory, "preset of the memory; default: what the NPU's names");
    CLI11_PARSE(app, count, arguments);
    return static_cast<int>(guard(
        [&] {
            const TinpuFamily tinpu;
            const std::array<const NpuFamily*, 1> families{&tinpu};
            const SystemConfig system = read_system({families, npu, memory, {}});
            std::cout << bench::half(system, true) << bench::half(system, false);
            return ExitCode::Good;
        },
        std::cerr));
}
