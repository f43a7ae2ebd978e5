// SPDX-License-Identifier: Apache-2.0
#include "models/mcif/mcif_registers.h"

#include "models/base/register_rows.h"

namespace npuscope {
namespace {

// Registers of NVDLA_MCIF: arbitration between the clients of the external memory port.
// source: NVDLA register specification, nv_small, NVDLA_MCIF.rdl
constexpr RegisterText mcif_text[] = {
    {"CFG_RD_WEIGHT_0",
     0x00,
     {rw("RD_WEIGHT_BDMA", 0, 8, 1), rw("RD_WEIGHT_SDP", 8, 8, 1), rw("RD_WEIGHT_PDP", 16, 8, 1),
      rw("RD_WEIGHT_CDP", 24, 8, 1)}},
    {"CFG_RD_WEIGHT_1",
     0x04,
     {rw("RD_WEIGHT_SDP_B", 0, 8, 1), rw("RD_WEIGHT_SDP_N", 8, 8, 1),
      rw("RD_WEIGHT_SDP_E", 16, 8, 1), rw("RD_WEIGHT_CDMA_DAT", 24, 8, 1)}},
    {"CFG_RD_WEIGHT_2",
     0x08,
     {rw("RD_WEIGHT_CDMA_WT", 0, 8, 1), rw("RD_WEIGHT_RBK", 8, 8, 1),
      rw("RD_WEIGHT_RSV_1", 16, 8, 1), rw("RD_WEIGHT_RSV_0", 24, 8, 1)}},
    {"CFG_WR_WEIGHT_0",
     0x0c,
     {rw("WR_WEIGHT_BDMA", 0, 8, 1), rw("WR_WEIGHT_SDP", 8, 8, 1), rw("WR_WEIGHT_PDP", 16, 8, 1),
      rw("WR_WEIGHT_CDP", 24, 8, 1)}},
    {"CFG_WR_WEIGHT_1",
     0x10,
     {rw("WR_WEIGHT_RBK", 0, 8, 1), rw("WR_WEIGHT_RSV_2", 8, 8, 1), rw("WR_WEIGHT_RSV_1", 16, 8, 1),
      rw("WR_WEIGHT_RSV_0", 24, 8, 1)}},
    {"CFG_OUTSTANDING_CNT", 0x14, {rw("RD_OS_CNT", 0, 8, 0xff), rw("WR_OS_CNT", 8, 8, 0xff)}},
    {"STATUS", 0x18, {ro("IDLE", 8, 1, 1)}},
};
constexpr auto mcif_rows = to_rows(mcif_text);

}  // namespace

constinit const RegisterBlock mcif_block{"NVDLA_MCIF", 0x2000, mcif_rows};
constinit const RegisterBlock cvif_block{"NVDLA_CVIF", 0xf000, mcif_rows};

}  // namespace npuscope
