// SPDX-License-Identifier: Apache-2.0
// A register map of three registers, and programs for it.
#pragma once

#include <array>
#include <string>

#include "models/base/error.h"
#include "sim/program/read_program.h"
#include "tests/sim/message_of.h"

namespace npuscope::sample {

inline constexpr std::array cdma_rows{RegisterRow{"S_POINTER", 0x4, {}},
                                      RegisterRow{"D_OP_ENABLE", 0x10, {}},
                                      RegisterRow{"D_DATAIN_SIZE_0", 0x1c, {}}};
inline constexpr std::array blocks{RegisterBlock{"NVDLA_CDMA", 0x5000, cdma_rows},
                                   RegisterBlock{"NVDLA_GLB", 0x1000, {}}};

inline RegisterNames names() { return RegisterNames(blocks); }

/// One image for every file name but `missing.dat`.
inline MemoryImage image(const std::string& file, const Place& place) {
    if (file == "missing.dat") {
        throw ConfigError(place, "cannot read 'missing.dat'");
    }
    return parse_memory_text("{offset:0x4, size:2, payload:0x01 0x02}", file);
}

inline Program parse(const std::string& text) {
    return parse_trace_cfg(text, "t.cfg", names(), image);
}

inline Program parse_txn(const std::string& text) {
    return parse_trace_txn(text, "t.txn", names(), {.images = image});
}

}  // namespace npuscope::sample
