// SPDX-License-Identifier: Apache-2.0
// Programs from files: the two forms of NVIDIA's trace players.
//
// .cfg, of nv_small and later: one call per line, ended by `;`, `//` comments.
//
//   mem_init(pri_mem, 0x80000000, 0x4000, ALL_ZERO);       fill a region
//   mem_load(pri_mem, 0x80000000, "input.dat");            load an image next to the .cfg
//   reg_write(NVDLA_CDMA.D_BANK_0, 0x1);
//   reg_read(NVDLA_CDMA.D_BANK_0, 0x1);                    read
//   reg_read_check(NVDLA_CDMA.D_BANK_0, 0x1);              read and compare
//   poll_reg_equal(NVDLA_CDMA.S_CBUF_FLUSH_STATUS_0, 0x1); read again until it is equal; under a
//                                                          mask, if there is a third number (ours)
//   intr_notify(SDP_0, sync_id_0);                         wait for the interrupt, raise the id
//   sync_notify(UNIT, id);  sync_wait(UNIT, id);           order between sequences
//   check_crc(sync_id_0, 1, 0x90000000, 0x1000, 0x8c467827);
//   check_file(sync_id_0, pri_mem, 0x90000000, 0x1000, "golden.dat");
//   check_nothing(sync_id_0);
//   meet_instances();                                      until all NPUs get there (ours)
//
// Our own calls, for NPUs whose host launches jobs; uninitialised memory of such a program is 0:
//
//   launch_job("conv1", "PWCONV", 0x1001801, 0x20000000);  words of its descriptor, then zeros
//   wait_for_jobs();                                       until all have ended
//   run_node("softmax", "Softmax", 1200, 0);               the host's operator: cycles and MACs;
//                                                          then bytes of the NPU's memory:
//                                                          reads, ADDRESS, BYTES, writes, ..
//
// source: NVDLA verification guide, "Configuration File Format"; `1` is the primary memory
// (nv_small traces)
//
// .txn, of nv_full: one statement per line, `#` comments. Registers are addressed by words, below
// 0xffff0000; all numbers are hexadecimal or decimal.
//
//   load_mem 0x80000000 0x1000 input.dat      the first bytes of a file next to this one
//   write_reg 0xffff1402 0x1                  the word at byte address 0x5008
//   read_reg 0xffff0003 0x1 0x1               mask, value; read again until it matches
//   read_reg 0xffff0003 0x1 >= 0x1 100        with a comparison (==, <=, >=), 100 attempts
//   wait                                      for the interrupt line
//   dump_mem 0x80800000 0x1000 output.dat     memory must hold the first bytes of the file
//   write_mem 0x80000000 0x12345678           one word, lowest byte first
//   read_mem 0x80000000 0xffffffff 0x1234     the word under the mask, now
//
// Uninitialised memory is 0. source: NVDLA, verification scripts of nv_full (statements and
// default of the attempts); write_mem and read_mem after write_reg and read_reg: no trace has them
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "models/base/register_map.h"
#include "sim/program/program.h"

namespace npuscope {

/// Registers of a map by the names in programs, `NVDLA_CDMA.D_OP_ENABLE_0`, where the trailing `_0`
/// is optional. The blocks must outlive it.
class RegisterNames {
 public:
    explicit RegisterNames(std::span<const RegisterBlock> blocks) : blocks_(blocks) {}

    std::optional<std::uint32_t> address(std::string_view name) const;
    /// `NVDLA_CDMA.D_OP_ENABLE_0` for a byte address.
    std::optional<std::string> name(std::uint32_t address) const;
    /// Remedy for an unknown name.
    std::string remedy(std::string_view name) const;

 private:
    std::span<const RegisterBlock> blocks_;
};

/// `file` is the text's name in messages.
Program parse_trace_cfg(std::string_view text, const std::string& file, const RegisterNames& names,
                        const ImageSource& images);

/// Attempts of a read_reg that names none. source: NVDLA, verification scripts of nv_full
constexpr unsigned kTxnReadAttempts = 50'000;

/// Settings that are not in the text of a .txn.
struct TxnSetting {
    ImageSource images{};                       ///< none: images stay empty, timing-only simulation
    unsigned read_attempts = kTxnReadAttempts;  ///< of a read_reg that names none
};

Program parse_trace_txn(std::string_view text, const std::string& file, const RegisterNames& names,
                        const TxnSetting& setting);

/// Attempts that the text of a plusargs.txt sets, `+read_reg_poll_retries=100`; the default if it
/// does not.
unsigned parse_poll_retries(std::string_view text, const std::string& file);

/// Without images only the timing of a program is valid: files that it loads or compares with may
/// be missing, and are empty.
enum class Images { Read, LeaveOut };

/// A .cfg or .txn trace, or a folder with an input.txn or exactly one .cfg. Images, and a
/// plusargs.txt of a .txn, are looked up in its folder.
Program read_program(const std::filesystem::path& path, const RegisterNames& names,
                     Images images = Images::Read);

}  // namespace npuscope
