// SPDX-License-Identifier: Apache-2.0
#include "models/glb/glb_registers.h"

#include "models/base/register_rows.h"

namespace npuscope {
namespace {

// Registers of NVDLA_GLB: version and interrupts.
// source: NVDLA register specification, nv_small, NVDLA_GLB.rdl
constexpr RegisterText glb_text[] = {
    {"S_NVDLA_HW_VERSION", 0x00, {ro("MAJOR", 0, 8, 0x31), ro("MINOR", 8, 16, 0x3030)}},
    {"S_INTR_MASK",
     0x04,
     {rw("SDP_DONE_MASK0", 0, 1), rw("SDP_DONE_MASK1", 1, 1), rw("CDP_DONE_MASK0", 2, 1),
      rw("CDP_DONE_MASK1", 3, 1), rw("PDP_DONE_MASK0", 4, 1), rw("PDP_DONE_MASK1", 5, 1),
      rw("BDMA_DONE_MASK0", 6, 1), rw("BDMA_DONE_MASK1", 7, 1), rw("RUBIK_DONE_MASK0", 8, 1),
      rw("RUBIK_DONE_MASK1", 9, 1), rw("CDMA_DAT_DONE_MASK0", 16, 1),
      rw("CDMA_DAT_DONE_MASK1", 17, 1), rw("CDMA_WT_DONE_MASK0", 18, 1),
      rw("CDMA_WT_DONE_MASK1", 19, 1), rw("CACC_DONE_MASK0", 20, 1), rw("CACC_DONE_MASK1", 21, 1)}},
    {"S_INTR_SET",
     0x08,
     {rw("SDP_DONE_SET0", 0, 1), rw("SDP_DONE_SET1", 1, 1), rw("CDP_DONE_SET0", 2, 1),
      rw("CDP_DONE_SET1", 3, 1), rw("PDP_DONE_SET0", 4, 1), rw("PDP_DONE_SET1", 5, 1),
      rw("BDMA_DONE_SET0", 6, 1), rw("BDMA_DONE_SET1", 7, 1), rw("RUBIK_DONE_SET0", 8, 1),
      rw("RUBIK_DONE_SET1", 9, 1), rw("CDMA_DAT_DONE_SET0", 16, 1), rw("CDMA_DAT_DONE_SET1", 17, 1),
      rw("CDMA_WT_DONE_SET0", 18, 1), rw("CDMA_WT_DONE_SET1", 19, 1), rw("CACC_DONE_SET0", 20, 1),
      rw("CACC_DONE_SET1", 21, 1)}},
    {"S_INTR_STATUS",
     0x0c,
     {rw("SDP_DONE_STATUS0", 0, 1), rw("SDP_DONE_STATUS1", 1, 1), rw("CDP_DONE_STATUS0", 2, 1),
      rw("CDP_DONE_STATUS1", 3, 1), rw("PDP_DONE_STATUS0", 4, 1), rw("PDP_DONE_STATUS1", 5, 1),
      rw("BDMA_DONE_STATUS0", 6, 1), rw("BDMA_DONE_STATUS1", 7, 1), rw("RUBIK_DONE_STATUS0", 8, 1),
      rw("RUBIK_DONE_STATUS1", 9, 1), rw("CDMA_DAT_DONE_STATUS0", 16, 1),
      rw("CDMA_DAT_DONE_STATUS1", 17, 1), rw("CDMA_WT_DONE_STATUS0", 18, 1),
      rw("CDMA_WT_DONE_STATUS1", 19, 1), rw("CACC_DONE_STATUS0", 20, 1),
      rw("CACC_DONE_STATUS1", 21, 1)}},
};
constexpr auto glb_rows = to_rows(glb_text);

}  // namespace

constinit const RegisterBlock glb_block{"NVDLA_GLB", 0x1000, glb_rows};

}  // namespace npuscope
