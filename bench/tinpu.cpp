// SPDX-License-Identifier: Apache-2.0
// Timing of a TINPU preset against published run times: the half that it was calibrated on, and the
// other half.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <iostream>

#include "bench/tinpu_rows.h"
#include "models/tinpu/tinpu_timing.h"
#include "sim/command_line/exit_code.h"
#include "sim/config/preset.h"
#include "sim/layers/layer_system.h"
#include "sim/report/text_table.h"

namespace npuscope::bench {
namespace {

std::string half(const TinpuConfig& config, bool calibrated) {
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
        Cycles cycles;
        for (const TinpuJob& job : model_jobs(run.model, run.frame)) {
            cycles += tinpu_cycles(job, config).total();
        }
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
    CLI11_PARSE(app, count, arguments);
    return static_cast<int>(guard(
        [&] {
            const auto config =
                read_preset<LayerNpuConfig>(find_preset(configs_folder(), "npu", npu));
            std::cout << bench::half(config.engine, true) << bench::half(config.engine, false);
            return ExitCode::Good;
        },
        std::cerr));
}
