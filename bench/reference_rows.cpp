// SPDX-License-Identifier: Apache-2.0
#include "bench/reference_rows.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <utility>

#include "models/base/error.h"
#include "sim/config/file_io.h"

namespace npuscope::bench {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::array<std::pair<const char*, const char*>, 7> client_columns{
    {{"rd_cdma_dat", "cdma_dat"},
     {"rd_cdma_wt", "cdma_wt"},
     {"rd_sdp", "sdp"},
     {"rd_sdp_b", "sdp_b"},
     {"rd_sdp_n", "sdp_n"},
     {"rd_pdp", "pdp"},
     {"rd_cdp", "cdp"}}};

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// What is fused to a layer: a last word such as `pool2` or `biasrelu`, not `k16` or `int8`.
bool names_fusion(const std::string& word) {
    if (word.empty() || is_digit(word.front()) || word.starts_with("int")) {
        return false;
    }
    return word.front() != 'k' || word.size() < 2 || !is_digit(word[1]);
}

fs::path program_in(const fs::path& programs, const std::string& name) {
    for (const fs::path& path :
         {programs / name / "program.cfg", programs / name / (name + ".cfg")}) {
        if (fs::exists(path)) {
            return path;
        }
    }
    return fs::exists(programs / name / "input.txn") ? programs / name : fs::path();
}

/// Beats of the primary port and of the second one, whose column a table may lack.
std::optional<std::uint64_t> beats_of_ports(const CsvTable& table, std::size_t row,
                                            const char* primary, const char* second) {
    std::optional<std::uint64_t> beats = table.number(row, primary);
    if (beats) {
        *beats += table.number(row, second).value_or(0);
    }
    return beats;
}

ReferenceRow row_of(const CsvTable& table, std::size_t row) {
    ReferenceRow reference;
    reference.name = table.text(row, table.has("name") ? "name" : "test");
    reference.family = family_of(reference.name);
    reference.npu = table.text(row, "npu");
    reference.branch = table.text(row, "rtl_branch");
    reference.setting = {table.number(row, "lat").value_or(0),
                         table.number(row, "beat_interval").value_or(1),
                         table.number(row, "shared_rw").value_or(0) != 0};
    reference.cycles = table.number(row, "cycles_first_op").value_or(0);
    // a client's columns count the primary port only
    const bool one_port = table.number(row, "cv_rd_beats").value_or(0) == 0;
    for (const auto& [column, client] : client_columns) {
        if (const auto beats = table.number(row, column); beats && one_port) {
            reference.read_beats[client] = *beats;
        }
    }
    reference.all_read_beats = beats_of_ports(table, row, "rd_beats", "cv_rd_beats");
    reference.write_beats = beats_of_ports(table, row, "wr_beats", "cv_wr_beats");
    reference.first_mac = table.number(row, "mac_dat_first");
    return reference;
}

/// Why a row cannot be replayed; empty if it can.
std::string obstacle(const CsvTable& table, std::size_t row, const ReferenceRow& reference) {
    if (reference.program.empty()) {
        return "no program";
    }
    if (table.text(row, "pass") == "0" || table.text(row, "crc_ok") == "0") {
        return "the RTL's own output was wrong";
    }
    if (reference.cycles == 0) {
        return "no cycles measured";
    }
    return reference.setting.shared_read_write ? "one channel for reads and writes" : "";
}

LayerShape shape_of(const Json& json) {
    const auto size = [&json](const char* key) { return json.at(key).get<std::uint32_t>(); };
    return {.width = size("W"),
            .height = size("H"),
            .channels = size("C"),
            .kernels = size("K"),
            .kernel_size = size("S"),
            .padding = size("pl"),
            .data_banks = size("dbanks"),
            .weight_banks = size("wbanks")};
}

ReferenceRow pair_row(const Json& json) {
    ReferenceRow row;
    row.set = "pairs";
    row.name = json.at("name").get<std::string>();
    row.family = "pair";
    row.setting = {json.at("lat").get<std::uint64_t>(), json.at("interval").get<std::uint64_t>()};
    row.cycles = json.at("pair").get<std::uint64_t>();
    row.all_read_beats = json.at("rd_beats").get<std::uint64_t>();
    row.pair = LayerPair{{shape_of(json.at("a")), shape_of(json.at("b"))}};
    return row;
}

}  // namespace

std::string to_string(const MemorySetting& setting) {
    return fmt::format("{}/{}{}", setting.latency, setting.beat_interval,
                       setting.shared_read_write ? "/shared" : "");
}

std::string family_of(const std::string& name) {
    const std::size_t underscore = name.find('_');
    std::string family = name.substr(0, underscore);
    if (underscore == std::string::npos) {
        return family.substr(0, family.find_last_not_of("0123456789") + 1);
    }
    const std::string word = name.substr(name.rfind('_') + 1);
    if ((family == "f" || family == "sdp") && names_fusion(word)) {
        family += '_' + word;
    }
    return family;
}

ReferenceSet rows_of_table(const CsvTable& table, const std::string& set,
                           const fs::path& programs) {
    ReferenceSet result;
    for (std::size_t i = 0; i < table.rows(); ++i) {
        ReferenceRow row = row_of(table, i);
        row.set = set;
        const fs::path by_npu = programs / row.npu;
        row.program = program_in(fs::exists(by_npu) ? by_npu : programs, row.name);
        const std::string reason = obstacle(table, i, row);
        if (reason.empty()) {
            result.rows.push_back(std::move(row));
        } else {
            ++result.left_out[reason];
        }
    }
    return result;
}

ReferenceSet rows_of_pairs(const fs::path& json) {
    ReferenceSet result;
    try {
        for (const Json& entry : Json::parse(read_whole_file(json))) {
            const ReferenceRow pair = pair_row(entry);
            ReferenceRow alone = pair;
            alone.family = "first layer alone";
            alone.cycles = entry.at("single0").get<std::uint64_t>();
            alone.pair->layers.pop_back();
            alone.all_read_beats.reset();
            result.rows.push_back(pair);
            result.rows.push_back(std::move(alone));
        }
    } catch (const Json::exception& error) {
        throw ConfigError(Place{json.string(), 0, 0}, error.what());
    }
    return result;
}

}  // namespace npuscope::bench
