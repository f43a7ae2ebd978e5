// SPDX-License-Identifier: Apache-2.0
// NVIDIA's trace player input of nv_small and later: one call a line, ended by `;`, `//` comments.
//
//   mem_init(pri_mem, 0x80000000, 0x4000, ALL_ZERO);       fill a region
//   mem_load(pri_mem, 0x80000000, "input.dat");            load an image that lies beside the .cfg
//   reg_write(NVDLA_CDMA.D_BANK_0, 0x1);
//   reg_read(NVDLA_CDMA.D_BANK_0, 0x1);                    read
//   reg_read_check(NVDLA_CDMA.D_BANK_0, 0x1);              read and compare
//   poll_reg_equal(NVDLA_CDMA.S_CBUF_FLUSH_STATUS_0, 0x1); read again until it is equal
//   intr_notify(SDP_0, sync_id_0);                         wait for the interrupt, raise the id
//   sync_notify(UNIT, id);  sync_wait(UNIT, id);           order between sequences
//   check_crc(sync_id_0, 1, 0x90000000, 0x1000, 0x8c467827);
//   check_file(sync_id_0, pri_mem, 0x90000000, 0x1000, "golden.dat");
//   check_nothing(sync_id_0);
//
// source: NVDLA verification guide, "Configuration File Format"; `1` is the primary memory
// (nv_small traces)
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "sim/program/image_source.h"
#include "sim/program/program.h"
#include "sim/program/register_names.h"

namespace npuscope {

/// `file` is how messages name the text.
Program parse_trace_cfg(std::string_view text, const std::string& file, const RegisterNames& names,
                        const ImageSource& images);

/// Reads a .cfg file; images are looked up in its folder.
Program read_trace_cfg(const std::filesystem::path& path, const RegisterNames& names);

}  // namespace npuscope
