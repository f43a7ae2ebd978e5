// SPDX-License-Identifier: Apache-2.0
// NVIDIA's trace player input of nv_full: one statement a line, `#` comments. Registers are
// addressed by words, below 0xffff0000; all numbers are hexadecimal or decimal.
//
//   load_mem 0x80000000 0x1000 input.dat      the first bytes of a file beside this one
//   write_reg 0xffff1402 0x1                  the word at byte address 0x5008
//   read_reg 0xffff0003 0x1 0x1               mask, value; read again until it is so
//   read_reg 0xffff0003 0x1 >= 0x1 100        with a comparison (==, <=, >=), and so many attempts
//   wait                                      for the interrupt line
//   dump_mem 0x80800000 0x1000 output.dat     memory must hold the first bytes of the file
//   write_mem 0x80000000 0x12345678           one word, lowest byte first
//   read_mem 0x80000000 0xffffffff 0x1234     the word under the mask, now
//
// Uninitialised memory is 0. source: NVDLA, verification scripts of nv_full (statements and
// default of the attempts); write_mem and read_mem after write_reg and read_reg: no trace has them
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "sim/program/program.h"
#include "sim/program/register_names.h"
#include "sim/program/txn_reader.h"

namespace npuscope {

/// `file` is how messages name the text.
Program parse_trace_txn(std::string_view text, const std::string& file, const RegisterNames& names,
                        const TxnSetting& setting);

/// Attempts that the text of a plusargs.txt asks for, `+read_reg_poll_retries=100`; the default
/// where it does not.
unsigned parse_poll_retries(std::string_view text, const std::string& file);

/// Reads a .txn file; images, and a plusargs.txt where there is one, are looked up in its folder.
Program read_trace_txn(const std::filesystem::path& path, const RegisterNames& names,
                       bool with_images);

}  // namespace npuscope
