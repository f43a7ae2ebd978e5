// SPDX-License-Identifier: Apache-2.0
// `speed`: how fast the machine is simulated, and what that time is spent on.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "bench/bench_main.h"
#include "bench/layer_pair.h"
#include "bench/speed_measure.h"
#include "models/npu/register_blocks.h"
#include "sim/compile/nvdla/network_planner.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/compile/nvdla/plan_program.h"
#include "sim/config/preset.h"
#include "sim/config/text_table.h"
#include "sim/program/read_program.h"
#include "tests/support/reference_data.h"

namespace npuscope::bench {
namespace {

namespace fs = std::filesystem;

/// Cycles that the RTL of nv_small simulates in a second on one core of the same kind. source: RTL
/// in Verilator 5.006, 30 to 105 kcycle/s over all layers
constexpr double rtl_cycles_per_second = 80'000;

struct Arguments {
    std::vector<std::string> programs;
    std::string npu = "nv_small";
    std::string memory = "dram_50";
    std::string only;
    unsigned times = 10;
};

struct NamedLayer {
    const char* name;
    LayerShape shape;
};

/// Layers whose programs are generated here; all but the first have more than 50 million MACs.
constexpr std::array made_layers{
    NamedLayer{"c3_14x14x256_k32_p1", {14, 14, 256, 32, 3, 1, 13, 19}},
    NamedLayer{"c3_14x14x256_k256_p1", {14, 14, 256, 256, 3, 1, 13, 19}},
    NamedLayer{"c3_28x28x128_k128_p1", {28, 28, 128, 128, 3, 1, 25, 7}},
    NamedLayer{"pw_14x14x512_k512", {14, 14, 512, 512, 1, 0, 25, 7}}};

constexpr std::array reference_programs{
    "nvdla/nv_small_traces/dc_8x16x128_3x3x128x32_int8",
    "nvdla/nv_small_traces/dc_24x33x55_5x5x55x25_int8_0",
    "nvdla/nv_small_traces/dc_32x26x76_6x3x76x16_int8_0",
    "nvdla/nv_small_traces/dc_32x26x76_6x3x76x270_int8_0",
    "nvdla/nv_small_traces/dc_35x22x54_6x8x54x29_int8_0",
    "rtl/vectors/c3_28x28x128_k16_p1",
    "rtl/vectors/f_28x28x64_k16_pool3",
    "rtl/vectors/sdp_28x28x64_bn",
    "rtl/vectors/pdp_112x28x16_max3s2p1",
};

/// Whole networks: planning takes the place of reading a program.
constexpr std::array networks{"resnet18", "resnet50", "mobilenet_v2"};

SpeedSubject network_subject(const std::string& name, const SystemConfig& system) {
    const Network network = read_network(configs_folder() / "workload" / (name + ".yaml"));
    const PlanTarget target{.npu = nvdla_npu(system), .memory = system.memory};
    return {name, [network, target] { return plan_program(plan_network(network, target)); },
            convolutions_of(network)};
}

SpeedSubject file_subject(const fs::path& path) {
    return {path.filename().string(),
            [path] { return read_program(path, RegisterNames(nvdla_register_blocks())); }};
}

std::vector<SpeedSubject> subjects_of(const Arguments& arguments, const SystemConfig& system) {
    std::vector<SpeedSubject> subjects;
    for (const std::string& program : arguments.programs) {
        subjects.push_back(file_subject(program));
    }
    if (!subjects.empty()) {
        return subjects;
    }
    for (const NamedLayer& layer : made_layers) {
        subjects.push_back(
            {layer.name, [layer] { return program_of({{layer.shape}}, layer.name); }});
    }
    for (const char* network : networks) {
        subjects.push_back(network_subject(network, system));
    }
    const fs::path data = reference_data(NPUSCOPE_SOURCE);
    for (const char* program : reference_programs) {
        if (fs::exists(data / program)) {
            subjects.push_back(file_subject(data / program));
        }
    }
    if (subjects.size() == made_layers.size() + networks.size()) {
        std::cout << "no reference data: only layers that are made here, and networks\n";
    }
    std::erase_if(subjects, [&](const SpeedSubject& subject) {
        return subject.name.find(arguments.only) == std::string::npos;
    });
    return subjects;
}

std::string milliseconds(double seconds) { return fmt::format("{:.2f}", seconds * 1e3); }

std::string megabytes(Bytes bytes) {
    return fmt::format("{:.1f}", static_cast<double>(bytes.value) / 1e6);
}

void add_rate(std::vector<std::string>& cells, const SpeedResult& result, double seconds) {
    const double rate = result.cycles_per_second(seconds);
    cells.push_back(milliseconds(seconds));
    cells.push_back(fmt::format("{:.1f}", rate / 1e6));
    cells.push_back(fmt::format("{:.0f}", rate / rtl_cycles_per_second));
}

std::string speed_table(const std::vector<SpeedResult>& results) {
    TextTable table({{"program", Align::Left},
                     {"cycles", Align::Right},
                     {"values ms", Align::Right},
                     {"Mcyc/s", Align::Right},
                     {"x RTL", Align::Right},
                     {"time ms", Align::Right},
                     {"Mcyc/s", Align::Right},
                     {"x RTL", Align::Right},
                     {"peak MB", Align::Right}});
    for (const SpeedResult& result : results) {
        std::vector<std::string> cells{result.name, with_separators(result.simulated.value)};
        add_rate(cells, result, result.with_values);
        add_rate(cells, result, result.without_values);
        cells.push_back(megabytes(result.peak));
        table.add_row(std::move(cells));
    }
    return table.text();
}

std::string split_table(const std::vector<SpeedResult>& results) {
    TextTable table({{"program", Align::Left},
                     {"read", Align::Right},
                     {"elab.", Align::Right},
                     {"events", Align::Right},
                     {"kernel", Align::Right},
                     {"layout", Align::Right},
                     {"one thread", Align::Right},
                     {"two", Align::Right},
                     {"MMAC", Align::Right},
                     {"run/kernel", Align::Right}});
    for (const SpeedResult& result : results) {
        const bool kernel = result.kernel.has_value();
        table.add_row({result.name, milliseconds(result.read), milliseconds(result.elaboration),
                       milliseconds(result.events()), kernel ? milliseconds(*result.kernel) : "",
                       milliseconds(result.layout()), milliseconds(result.one_thread),
                       milliseconds(result.with_values),
                       kernel ? fmt::format("{:.1f}", static_cast<double>(result.macs) / 1e6) : "",
                       kernel ? fmt::format("{:.2f}", result.with_values / *result.kernel) : ""});
    }
    return table.text();
}

std::string memory_table(const std::vector<SpeedResult>& results) {
    TextTable table({{"program", Align::Left},
                     {"images", Align::Right},
                     {"peak", Align::Right},
                     {"3 x images + 100", Align::Right}});
    for (const SpeedResult& result : results) {
        table.add_row({result.name, megabytes(result.images), megabytes(result.peak),
                       megabytes(result.images * 3 + Bytes(100'000'000))});
    }
    return table.text();
}

int measure(const Arguments& arguments) {
    SystemConfig system = nvdla_system();
    const fs::path configs = configs_folder();
    nvdla_npu(system) = read_preset<NpuConfig>(find_preset(configs, "npu", arguments.npu));
    system.memory = read_preset<MemoryConfig>(find_preset(configs, "memory", arguments.memory));
    const std::vector<SpeedSubject> subjects = subjects_of(arguments, system);
    std::vector<Bytes> peaks;
    peaks.reserve(subjects.size());
    for (const SpeedSubject& subject : subjects) {
        peaks.push_back(measure_memory(subject, system));
    }
    std::vector<SpeedResult> results;
    results.reserve(subjects.size());
    for (std::size_t i = 0; i < subjects.size(); ++i) {
        results.push_back(measure_speed(subjects[i], system, arguments.times));
        results.back().peak = peaks[i];
    }
    std::cout
        << fmt::format(
               "simulated cycles a second, best of {}; the RTL makes {:.0f} kcycle/s "
               "(Verilator 5.006)\n",
               arguments.times, rtl_cycles_per_second / 1e3)
        << speed_table(results)
        << "\nwhere a run with values on one thread spends its milliseconds, and how long it takes "
           "with a second one;\nreading comes on top, and run/kernel is that of two\n"
        << split_table(results) << "\nmemory, MB\n"
        << memory_table(results);
    return 0;
}

int run(int argc, char** argv) {
    CLI::App app("how fast the machine is simulated", "speed");
    Arguments arguments;
    app.add_option("PROGRAM", arguments.programs, "programs; without any, a choice");
    app.add_option("--npu", arguments.npu, "preset of the NPU")->capture_default_str();
    app.add_option("--memory", arguments.memory, "preset of the memory")->capture_default_str();
    app.add_option("--only", arguments.only, "of the choice, those whose name contains this");
    app.add_option("--times", arguments.times, "runs of each kind; the best counts")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    return measure(arguments);
}

}  // namespace
}  // namespace npuscope::bench

int main(int argc, char** argv) {
    return npuscope::bench::bench_main(argc, argv, npuscope::bench::run);
}
