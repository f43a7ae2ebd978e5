// SPDX-License-Identifier: Apache-2.0
// `plan`: how good the planner is. Every distinct convolution of a network is simulated by itself,
// cut as the planner cuts it and in every other way; then the whole network.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <string>
#include <vector>

#include "bench/bench_main.h"
#include "bench/plan_search.h"
#include "sim/compile/nvdla/network_planner.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/compile/nvdla/plan_program.h"
#include "sim/config/preset.h"
#include "sim/config/text_table.h"
#include "sim/model/network.h"
#include "sim/run/session.h"

namespace npuscope::bench {
namespace {

struct Arguments {
    std::vector<std::string> networks{"resnet50", "mobilenet_v2", "vgg16"};
    std::vector<std::string> npus{"nv_small", "nv_large", "nv_full"};
    std::vector<std::uint64_t> bytes_per_cycle{1, 10};
    bool search = true;
    bool layers = false;
};

std::string key_text(const TilingKey& key) {
    const std::string image =
        key.form.mode == ConvMode::Image ? fmt::format(" image/{}", key.form.row_group) : "";
    return fmt::format("{} x {}{}{}{}", key.tiles, key.data_banks, key.resident ? " kept" : "",
                       image, key.form.compressed ? " packed" : "");
}

/// The bus moves whole beats: the interval is the nearest whole number of cycles, at least one.
SystemConfig system_of(const std::string& npu, std::uint64_t bytes_per_cycle) {
    SystemConfig system = nvdla_system();
    nvdla_npu(system) = read_preset<NpuConfig>(find_preset(configs_folder(), "npu", npu));
    system.memory = read_preset<MemoryConfig>(find_preset(configs_folder(), "memory", "dram_50"));
    const std::uint64_t bus = nvdla_npu(system).mcif.bus_width.value;
    system.memory.beat_interval =
        Cycles(std::max<std::uint64_t>(1, (bus + bytes_per_cycle / 2) / bytes_per_cycle));
    return system;
}

double ratio_of(Cycles a, Cycles b) {
    return static_cast<double>(a.value) / static_cast<double>(b.value);
}

/// By how many percent `a` is more than `b`.
std::string percent_more(Cycles a, Cycles b) {
    return fmt::format("{:.2f}", 100.0 * (ratio_of(a, b) - 1.0));
}

struct Totals {
    Cycles chosen;
    Cycles best;
    Cycles bound;
    Cycles estimate;
};

Totals search_network(const Network& network, const SystemConfig& system, bool print) {
    TextTable table({{"layer", Align::Left},
                     {"times", Align::Right},
                     {"cut", Align::Right},
                     {"predicted", Align::Right},
                     {"cycles", Align::Right},
                     {"best cut", Align::Right},
                     {"best", Align::Right},
                     {"behind %", Align::Right},
                     {"bound", Align::Right},
                     {"by", Align::Left},
                     {"above bound %", Align::Right},
                     {"mac %", Align::Right},
                     {"sdp %", Align::Right},
                     {"fetch %", Align::Right},
                     {"tried", Align::Right}});
    Totals totals;
    for (const LayerCase& layer : layer_cases(network)) {
        const SearchResult result = search_layer(layer, system);
        const auto share = [](Cycles a, Cycles of) {
            return fmt::format("{:.1f}", 100.0 * ratio_of(a, of));
        };
        const Cycles bound = result.bounds.largest();
        totals.chosen += result.chosen_cycles * layer.times;
        totals.best += result.best_cycles * layer.times;
        totals.bound += bound * layer.times;
        totals.estimate += result.estimate * layer.times;
        table.add_row(
            {layer.network.name, std::to_string(layer.times), key_text(result.chosen),
             with_separators(result.estimate.value), with_separators(result.chosen_cycles.value),
             key_text(result.best), with_separators(result.best_cycles.value),
             percent_more(result.chosen_cycles, result.best_cycles), with_separators(bound.value),
             result.bounds.name(), percent_more(result.chosen_cycles, bound),
             share(result.mac, result.chosen_cycles), share(result.sdp, result.chosen_cycles),
             share(result.chosen_cycles - result.mac - result.sdp, result.chosen_cycles),
             fmt::format("{}+{}", result.tried, result.skipped)});
    }
    if (print) {
        std::cout << table.text() << '\n';
    }
    return totals;
}

Cycles cycles_of(const Network& network, const SystemConfig& system) {
    RunOptions options;
    options.values = false;
    return run_program(
               plan_program(plan_network(network, {nvdla_npu(system), system.memory, false})),
               system, options)
        .cycles;
}

int run(int argc, char** argv) {
    Arguments arguments;
    CLI::App app("plan: the planner's cuts against all others, simulated", "plan");
    app.add_option("--network", arguments.networks, "names in configs/workload, or files")
        ->capture_default_str();
    app.add_option("--npu", arguments.npus, "presets")->capture_default_str();
    app.add_option("--bytes-per-cycle", arguments.bytes_per_cycle, "of memory")
        ->capture_default_str();
    app.add_flag("--search,!--no-search", arguments.search, "simulate every other way as well");
    app.add_flag("--layers", arguments.layers, "print every distinct layer");
    app.footer("Example:\n  plan --network resnet50 --npu nv_small --layers");
    CLI11_PARSE(app, argc, argv);
    TextTable table({{"network", Align::Left},
                     {"npu", Align::Left},
                     {"bytes/cycle", Align::Right},
                     {"cycles", Align::Right},
                     {"frames/s", Align::Right},
                     {"layers alone", Align::Right},
                     {"best found", Align::Right},
                     {"behind %", Align::Right},
                     {"predicted %", Align::Right},
                     {"above bound %", Align::Right}});
    for (const std::string& name : arguments.networks) {
        const Network network = read_network(name.find('.') == std::string::npos
                                                 ? configs_folder() / "workload" / (name + ".yaml")
                                                 : std::filesystem::path(name));
        for (const std::string& npu : arguments.npus) {
            for (const std::uint64_t bytes : arguments.bytes_per_cycle) {
                const SystemConfig system = system_of(npu, bytes);
                const double clock = static_cast<double>(nvdla_npu(system).clock.value);
                const Cycles cycles = cycles_of(network, system);
                std::vector<std::string> row{
                    network.name, npu,
                    fmt::format("{:.2f}",
                                static_cast<double>(nvdla_npu(system).mcif.bus_width.value) /
                                    static_cast<double>(system.memory.beat_interval.value)),
                    with_separators(cycles.value),
                    fmt::format("{:.2f}", clock / static_cast<double>(cycles.value))};
                if (arguments.search) {
                    const Totals totals = search_network(network, system, arguments.layers);
                    row.insert(row.end(), {with_separators(totals.chosen.value),
                                           with_separators(totals.best.value),
                                           percent_more(totals.chosen, totals.best),
                                           percent_more(totals.estimate, totals.chosen),
                                           percent_more(totals.chosen, totals.bound)});
                } else {
                    row.resize(10);
                }
                table.add_row(row);
                std::cerr << fmt::format("{} on {} at {}: {} cycles\n", network.name, npu, bytes,
                                         cycles.value);
            }
        }
    }
    std::cout << table.text();
    return 0;
}

}  // namespace
}  // namespace npuscope::bench

int main(int argc, char** argv) {
    return npuscope::bench::bench_main(argc, argv, npuscope::bench::run);
}
