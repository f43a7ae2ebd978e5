// SPDX-License-Identifier: Apache-2.0
// Inputs of the fuzzers, and a small good input of each kind.
#pragma once

#include <string>

#include "sim/config/field_types.h"
#include "sim/config/yaml_reader.h"
#include "sim/config/yaml_writer.h"
#include "tests/sim/config/sample_config.h"
#include "tests/sim/program/program_samples.h"

namespace npuscope::fuzz {

inline const std::string cfg_seed =
    "// small\n"
    "mem_init(pri_mem, 0x80000000, 0x40, ALL_ZERO);\n"
    "mem_load(sec_mem, 0x80000000, \"a.dat\");\n"
    "reg_write(NVDLA_CDMA.S_POINTER_0, 0x0);\n"
    "poll_reg_equal(NVDLA_CDMA.D_OP_ENABLE_0, 1);\n"
    "intr_notify(SDP_0, sync_id_0);\n"
    "sync_wait(SDP_0, sync_id_0);\n"
    "check_crc(sync_id_0, 1, 0x90000000, 0x1500, 0x8c467827);\n"
    "check_nothing(sync_id_1);\n";
inline const std::string txn_seed =
    "# small\n"
    "load_mem 0x80000000 0x6 a.dat # six bytes\n"
    "write_reg 0xffff1401 0x0\n"
    "read_reg 0xffff1404 0xff >= 0x1 10\n"
    "read_reg 0xffff1404 0xffffffff 0x1\n"
    "wait\n"
    "write_mem 0x80000000 0x12345678\n"
    "read_mem 0x80000000 0xffff 0x5678\n"
    "dump_mem 0x80000000 0x6 b.dat\n";
inline const std::string dat_seed =
    "{\n{offset:0x0, size:4, payload:0x00 0x10 0xaB 0x30} ,\n"
    "{offset:0x40, size:2, payload:0x00 0xff} ,\n}\n";
inline const std::string listing_seed =
    "# dump\nData_size=0x4\nmemory type:dram\n===\n0x00 0x01 0x02\n0x03 0xfF\ndump done\n";
inline const std::string yaml_seed =
    "title: \"wide\"\nclock: 800 MHz # slow\nunit: {banks: 32, policy: oldest_first}\n"
    "regions:\n  - {name: sram, base: 0x1000, size: 128 KiB}\n  - name: dram\nweights: [3, 4]\n";
inline const std::string override_seed = "regions[0].size=128 KiB";

inline void parse_cfg(const std::string& text) { sample::parse(text); }
inline void parse_txn(const std::string& text) { sample::parse_txn(text); }
inline void parse_dat(const std::string& text) { parse_memory_text(text, "fuzz.dat"); }

/// What was read once must survive being written and read again.
inline void parse_config(const std::string& text) {
    const auto config = read_yaml<sample::Config>(text, "fuzz.yaml");
    write_yaml(config);
}
inline void parse_set(const std::string& text) {
    sample::Config config;
    override_field(config, text);
}
inline void parse_quantities(const std::string& text) {
    for (const UnitKind kind : {UnitKind::Plain, UnitKind::ByteCount, UnitKind::Frequency,
                                UnitKind::CycleCount, UnitKind::ByteAddress}) {
        const auto result = parse_quantity(text, kind);
        if (const auto* value = std::get_if<std::uint64_t>(&result)) {
            parse_quantity(format_quantity(*value, kind), kind);
        }
    }
}

}  // namespace npuscope::fuzz
