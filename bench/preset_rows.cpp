// SPDX-License-Identifier: Apache-2.0
#include "bench/preset_rows.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace npuscope::bench {
namespace {

namespace fs = std::filesystem;

/// Where the programs of a set without its own are.
fs::path programs_of(const fs::path& data, const fs::path& set) {
    static const std::map<std::string_view, fs::path> elsewhere{
        {"nv_small_master", fs::path("rtl") / "presets" / "nv_small_planned" / "programs"},
        {"nv_full_vectors", fs::path("nv_full") / "vectors"},
        {"nv_full_official", fs::path("nvdla") / "nv_full_traces"}};
    const std::string name = set.filename().string();
    if (const auto found = elsewhere.find(name); found != elsewhere.end()) {
        return data / found->second;
    }
    if (const auto traces = name.find("_traces"); traces != std::string::npos) {
        return data / "nvdla" / name;
    }
    return set / "programs";
}

/// The two ports were measured with an SRAM of another latency behind the second one, nv_full's
/// vectors with one of the same latency.
std::string memory_of(const std::string& set) {
    if (set.ends_with("two_ports")) {
        return "dram_50_sram_4m";
    }
    return set == "nv_full_vectors" ? "dram_50" : "";
}

}  // namespace

ReferenceSet preset_rows(const fs::path& data) {
    std::vector<fs::path> folders;
    for (const fs::directory_entry& entry : fs::directory_iterator(data / "rtl" / "presets")) {
        if (fs::exists(entry.path() / "rows.csv")) {
            folders.push_back(entry.path());
        }
    }
    std::ranges::sort(folders);
    ReferenceSet all;
    for (const fs::path& folder : folders) {
        const std::string name = folder.filename().string();
        ReferenceSet set =
            rows_of_table(CsvTable::read(folder / "rows.csv"), name, programs_of(data, folder));
        for (ReferenceRow& row : set.rows) {
            row.memory = memory_of(name);
            all.rows.push_back(std::move(row));
        }
        for (const auto& [reason, rows] : set.left_out) {
            all.left_out[name + ": " + reason] += rows;
        }
    }
    return all;
}

}  // namespace npuscope::bench
