// SPDX-License-Identifier: Apache-2.0
// Measurements of the RTL, one row per program and memory setting, from tables such as
//
//   name | test     program, its folder below the folder of programs
//   lat, beat_interval, shared_rw                      memory setting
//   cycles_first_op                                    first op-enable to interrupt
//   rd_cdma_dat, rd_cdma_wt, rd_sdp .., wr_beats       beats by client
//   mac_dat_first                                      first data atom into the MAC cells
//   pass | crc_ok                                      0: the RTL's own output was wrong
//   npu, rtl_branch                                    preset and generation of the RTL
//
// and from the pairs of layers of a JSON file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/csv_table.h"
#include "bench/layer_pair.h"

namespace npuscope::bench {

struct MemorySetting {
    std::uint64_t latency = 0;
    std::uint64_t beat_interval = 1;
    bool shared_read_write = false;  ///< one channel for reads and writes

    auto operator<=>(const MemorySetting&) const = default;
};

/// `50/1`, with `/shared` where reads and writes have one channel.
std::string to_string(const MemorySetting& setting);

struct ReferenceRow {
    std::string set;       ///< table that it comes from
    std::string name;      ///< of the program
    std::string family;    ///< programs of one kind
    std::string npu{};     ///< preset that was measured; empty: that of the command line
    std::string branch{};  ///< of the RTL
    std::string memory{};  ///< preset of the memory; empty: one region
    MemorySetting setting;
    std::uint64_t cycles = 0;
    std::map<std::string, std::uint64_t> read_beats;  ///< by client; those that were measured
    std::optional<std::uint64_t> all_read_beats;
    std::optional<std::uint64_t> write_beats;
    std::optional<std::uint64_t> first_mac;  ///< cycles after the first op-enable
    std::filesystem::path program;           ///< empty where `pair` is the program
    std::optional<LayerPair> pair;
};

/// Rows that can be replayed, and why others cannot.
struct ReferenceSet {
    std::vector<ReferenceRow> rows;
    std::map<std::string, std::uint64_t> left_out;  ///< reason to rows
};

/// `c3_14x14` is of family c3, `fz012` of fz, `f_28x28_k16_pool2` of f_pool2.
std::string family_of(const std::string& name);

/// Rows of a table whose program is in `programs`: `<name>/program.cfg`, `<name>/<name>.cfg`, or
/// the folder `<name>` with an `input.txn`; a level deeper where they are sorted by `npu`.
ReferenceSet rows_of_table(const CsvTable& table, const std::string& set,
                           const std::filesystem::path& programs);

/// Two rows for each pair: both layers, and only the first.
ReferenceSet rows_of_pairs(const std::filesystem::path& json);

}  // namespace npuscope::bench
