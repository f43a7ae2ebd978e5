// SPDX-License-Identifier: Apache-2.0
// Registers of NVDLA_BDMA: the bridge DMA between the two memory ports.
// source: NVDLA register specification, nv_small, NVDLA_BDMA.rdl
#include "models/csb/register_rows.h"

namespace npuscope {
namespace {

constexpr RegisterText bdma_text[] = {
    {"CFG_SRC_ADDR_LOW", 0x00, {rw("V32", 5, 27)}},
    {"CFG_SRC_ADDR_HIGH", 0x04, {rw("V8", 0, 32)}},
    {"CFG_DST_ADDR_LOW", 0x08, {rw("V32", 5, 27)}},
    {"CFG_DST_ADDR_HIGH", 0x0c, {rw("V8", 0, 32)}},
    {"CFG_LINE", 0x10, {rw("SIZE", 0, 13)}},
    {"CFG_CMD", 0x14, {rw("SRC_RAM_TYPE", 0, 1), rw("DST_RAM_TYPE", 1, 1)}},
    {"CFG_LINE_REPEAT", 0x18, {rw("NUMBER", 0, 24)}},
    {"CFG_SRC_LINE", 0x1c, {rw("STRIDE", 5, 27)}},
    {"CFG_DST_LINE", 0x20, {rw("STRIDE", 5, 27)}},
    {"CFG_SURF_REPEAT", 0x24, {rw("NUMBER", 0, 24)}},
    {"CFG_SRC_SURF", 0x28, {rw("STRIDE", 5, 27)}},
    {"CFG_DST_SURF", 0x2c, {rw("STRIDE", 5, 27)}},
    {"CFG_OP", 0x30, {rw("EN", 0, 1)}},
    {"CFG_LAUNCH0", 0x34, {rw("GRP0_LAUNCH", 0, 1)}},
    {"CFG_LAUNCH1", 0x38, {rw("GRP1_LAUNCH", 0, 1)}},
    {"CFG_STATUS", 0x3c, {rw("STALL_COUNT_EN", 0, 1)}},
    {"STATUS",
     0x40,
     {ro("FREE_SLOT", 0, 8, 0x14), ro("IDLE", 8, 1, 1), ro("GRP0_BUSY", 9, 1),
      ro("GRP1_BUSY", 10, 1)}},
    {"STATUS_GRP0_READ_STALL", 0x44, {ro("COUNT", 0, 32)}},
    {"STATUS_GRP0_WRITE_STALL", 0x48, {ro("COUNT", 0, 32)}},
    {"STATUS_GRP1_READ_STALL", 0x4c, {ro("COUNT", 0, 32)}},
    {"STATUS_GRP1_WRITE_STALL", 0x50, {ro("COUNT", 0, 32)}},
};
constexpr auto bdma_table = to_rows(bdma_text);

}  // namespace

std::span<const RegisterRow> bdma_rows() { return bdma_table; }

}  // namespace npuscope
