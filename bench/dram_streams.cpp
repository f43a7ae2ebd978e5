// SPDX-License-Identifier: Apache-2.0
// `dram_streams`: streams of bursts through the DRAM of memory presets, one after the other as fast
// as the DRAM accepts them, or paced. Prints how long each took, as CSV; `--write DIR` also writes
// the streams, decoded to bank, row and column, and each DRAM's parameters, so that another
// simulator can be given the same (bench/compare_ramulator, bench/compare_dramsys).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "bench/bench_main.h"
#include "models/base/error.h"
#include "models/memory/dram_address.h"
#include "models/memory/dram_timing.h"
#include "sim/config/json_writer.h"
#include "sim/config/preset.h"
#include "sim/config/yaml_reader.h"

namespace npuscope::bench {
namespace {

namespace fs = std::filesystem;
struct Burst {
    Clocks asked;
    bool write = false;
    std::uint64_t number = 0;  ///< of the DRAM's bursts
};

/// Streams of one kind are the same for all DRAMs with the same number of bursts.
struct Stream {
    const char* name;
    std::function<std::vector<Burst>(std::size_t bursts, std::uint64_t capacity)> make;
};

constexpr std::uint64_t megabyte = 1U << 20U;

std::vector<Burst> made(std::size_t bursts, const std::function<Burst(std::size_t)>& burst) {
    std::vector<Burst> stream;
    for (std::size_t i = 0; i < bursts; ++i) {
        stream.push_back(burst(i));
    }
    return stream;
}

std::vector<Burst> drawn(std::size_t bursts, std::uint64_t capacity, unsigned writes_percent,
                         std::uint64_t pace) {
    std::mt19937_64 random(2);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same for everyone
    return made(bursts, [&](std::size_t i) {
        const bool write = random() % 100 < writes_percent;
        return Burst{Clocks(i * pace), write, random() % capacity};
    });
}

/// What an NPU does for a layer: features, weights from elsewhere, and results in batches.
std::vector<Burst> layer(std::size_t bursts, std::uint64_t capacity) {
    std::uint64_t features = 0;
    std::uint64_t weights = capacity / 4;
    std::uint64_t results = capacity / 2;
    return made(bursts, [&](std::size_t i) {
        const std::size_t place = i % 64;
        if (place >= 48) {
            return Burst{Clocks(0), true, results++};
        }
        return Burst{Clocks(0), false, place % 4 == 3 ? weights++ : features++};
    });
}

const std::vector<Stream>& streams() {
    static const std::vector<Stream> all{
        {"reads in a row",
         [](std::size_t count, std::uint64_t) {
             return made(count, [](std::size_t i) { return Burst{Clocks(0), false, i}; });
         }},
        {"writes in a row",
         [](std::size_t count, std::uint64_t) {
             return made(count, [](std::size_t i) { return Burst{Clocks(0), true, i}; });
         }},
        {"reads, every 37th burst",
         [](std::size_t count, std::uint64_t capacity) {
             return made(count, [&](std::size_t i) {
                 return Burst{Clocks(0), false, i * 37 % capacity};
             });
         }},
        {"reads of one bank",
         [](std::size_t count, std::uint64_t capacity) {
             return made(count, [&](std::size_t i) {
                 return Burst{Clocks(0), false, i * (capacity / 512) % capacity};
             });
         }},
        {"reads anywhere",
         [](std::size_t count, std::uint64_t capacity) { return drawn(count, capacity, 0, 0); }},
        {"writes anywhere",
         [](std::size_t count, std::uint64_t capacity) { return drawn(count, capacity, 100, 0); }},
        {"reads and writes anywhere",
         [](std::size_t count, std::uint64_t capacity) { return drawn(count, capacity, 30, 0); }},
        {"reads anywhere, paced",
         [](std::size_t count, std::uint64_t capacity) { return drawn(count, capacity, 0, 40); }},
        {"reads within a megabyte",
         [](std::size_t count, std::uint64_t) { return drawn(count, megabyte / 64, 0, 0); }},
        {"copy in batches of 16",
         [](std::size_t count, std::uint64_t capacity) {
             return made(count, [&](std::size_t i) {
                 const bool write = i / 16 % 2 == 1;
                 const std::uint64_t place = i / 32 * 16 + i % 16;
                 return Burst{Clocks(0), write, (write ? capacity / 2 : 0) + place};
             });
         }},
        {"a layer", layer}};
    return all;
}

struct Arguments {
    std::vector<std::string> memories{"ddr4_2400", "ddr4_3200"};
    std::size_t bursts = 20'000;
    bool refresh = true;
    std::optional<std::uint32_t> queue;
    std::optional<std::uint64_t> t_rtp;
    std::string folder;
};

std::ofstream file_in(const std::string& folder, const std::string& name) {
    std::ofstream file(fs::path(folder) / name);
    if (!file) {
        throw ConfigError(fmt::format("cannot write '{}/{}'", folder, name),
                          "name a folder that can be written to");
    }
    return file;
}

void write_stream(const Arguments& arguments, const std::string& memory, const char* name,
                  const std::vector<Burst>& stream, const DramAddressMap& map) {
    std::ofstream file = file_in(arguments.folder, fmt::format("{}.{}.csv", memory, name));
    file << "asked,write,channel,rank,bank_group,bank,row,column\n";
    for (const Burst& burst : stream) {
        const DramLocation at = map.decode(map.burst_bytes() * burst.number);
        file << fmt::format("{},{},{},{},{},{},{},{}\n", burst.asked.value, burst.write ? 1 : 0,
                            at.channel, at.rank, at.bank_group, at.bank, at.row, at.column);
    }
}

void run_stream(const std::string& memory, const char* name, const std::vector<Burst>& stream,
                const DramConfig& dram, const DramAddressMap& map) {
    DramTiming timing(dram);
    Clocks end{};
    for (const Burst& burst : stream) {
        const DramLocation at = map.decode(map.burst_bytes() * burst.number);
        end = std::max(end,
                       burst.write ? timing.write(at, burst.asked) : timing.read(at, burst.asked));
    }
    const DramStatistics& counts = timing.statistics();
    fmt::print("{},\"{}\",{},{},{},{},{},{}\n", memory, name, stream.size(), end.value,
               counts.row_hits, counts.row_misses, counts.row_conflicts, counts.refreshes);
}

void run_memory(const Arguments& arguments, const std::string& memory) {
    const auto config = read_preset<MemoryConfig>(find_preset(configs_folder(), "memory", memory));
    const auto region = std::ranges::find_if(
        config.regions, [](const MemoryRegionConfig& one) { return one.dram.has_value(); });
    if (region == config.regions.end()) {
        throw ConfigError(fmt::format("'{}' has no DRAM", memory), "name one with rows and banks");
    }
    DramConfig dram = *region->dram;
    if (!arguments.refresh) {
        dram.timing.t_refi = Clocks(0);
    }
    dram.queue = arguments.queue.value_or(dram.queue);
    dram.timing.t_rtp = Clocks(arguments.t_rtp.value_or(dram.timing.t_rtp.value));
    const DramAddressMap map(dram);
    if (!arguments.folder.empty()) {
        file_in(arguments.folder, memory + ".json") << to_json(dram).dump(2) << '\n';
    }
    for (const Stream& stream : streams()) {
        const std::vector<Burst> bursts =
            stream.make(arguments.bursts, map.capacity().value / map.burst_bytes().value);
        run_stream(memory, stream.name, bursts, dram, map);
        if (!arguments.folder.empty()) {
            write_stream(arguments, memory, stream.name, bursts, map);
        }
    }
}

int run(int argc, char** argv) {
    Arguments arguments;
    CLI::App app("streams of bursts through the DRAM of memory presets", "dram_streams");
    app.add_option("--memory", arguments.memories, "presets of memories")->capture_default_str();
    app.add_option("--bursts", arguments.bursts, "of each stream")
        ->check(CLI::Range(1, 10'000'000))
        ->capture_default_str();
    app.add_flag("!--no-refresh", arguments.refresh, "the DRAM is never refreshed");
    app.add_option("--queue", arguments.queue,
                   "bursts that rows are opened for; default: the preset's")
        ->check(CLI::Range(1, 64));
    app.add_option("--t-rtp", arguments.t_rtp,
                   "clocks from READ to PRECHARGE; default: the preset's");
    app.add_option("--write", arguments.folder, "folder for the streams and the DRAMs' numbers")
        ->check(CLI::ExistingDirectory);
    CLI11_PARSE(app, argc, argv);
    fmt::print("memory,stream,bursts,clocks,row_hits,row_misses,row_conflicts,refreshes\n");
    for (const std::string& memory : arguments.memories) {
        run_memory(arguments, memory);
    }
    return 0;
}

}  // namespace
}  // namespace npuscope::bench

int main(int argc, char** argv) {
    return npuscope::bench::bench_main(argc, argv, npuscope::bench::run);
}
