// SPDX-License-Identifier: Apache-2.0
// Registers of NVDLA_PDP_RDMA: the read DMA of the planar (pooling) processor.
// source: NVDLA register specification, nv_small, NVDLA_PDP_RDMA.rdl
#include "models/csb/register_rows.h"

namespace npuscope {
namespace {

constexpr RegisterText pdp_rdma_text[] = {
    {"S_STATUS", 0x00, {ro("STATUS_0", 0, 2), ro("STATUS_1", 16, 2)}},
    {"S_POINTER", 0x04, {rw("PRODUCER", 0, 1), ro("CONSUMER", 16, 1)}},
    {"D_OP_ENABLE", 0x08, {rw("OP_EN", 0, 1)}},
    {"D_DATA_CUBE_IN_WIDTH", 0x0c, {rw("CUBE_IN_WIDTH", 0, 13)}},
    {"D_DATA_CUBE_IN_HEIGHT", 0x10, {rw("CUBE_IN_HEIGHT", 0, 13)}},
    {"D_DATA_CUBE_IN_CHANNEL", 0x14, {rw("CUBE_IN_CHANNEL", 0, 13)}},
    {"D_FLYING_MODE", 0x18, {rw("FLYING_MODE", 0, 1)}},
    {"D_SRC_BASE_ADDR_LOW", 0x1c, {rw("SRC_BASE_ADDR_LOW", 0, 32)}},
    {"D_SRC_BASE_ADDR_HIGH", 0x20, {rw("SRC_BASE_ADDR_HIGH", 0, 32)}},
    {"D_SRC_LINE_STRIDE", 0x24, {rw("SRC_LINE_STRIDE", 0, 32)}},
    {"D_SRC_SURFACE_STRIDE", 0x28, {rw("SRC_SURFACE_STRIDE", 0, 32)}},
    {"D_SRC_RAM_CFG", 0x2c, {rw("SRC_RAM_TYPE", 0, 1)}},
    {"D_DATA_FORMAT", 0x30, {rw("INPUT_DATA", 0, 2)}},
    {"D_OPERATION_MODE_CFG", 0x34, {rw("SPLIT_NUM", 0, 8)}},
    {"D_POOLING_KERNEL_CFG", 0x38, {rw("KERNEL_WIDTH", 0, 4), rw("KERNEL_STRIDE_WIDTH", 4, 4)}},
    {"D_POOLING_PADDING_CFG", 0x3c, {rw("PAD_WIDTH", 0, 4)}},
    {"D_PARTIAL_WIDTH_IN",
     0x40,
     {rw("PARTIAL_WIDTH_IN_FIRST", 0, 10), rw("PARTIAL_WIDTH_IN_LAST", 10, 10),
      rw("PARTIAL_WIDTH_IN_MID", 20, 10)}},
    {"D_PERF_ENABLE", 0x44, {rw("DMA_EN", 0, 1)}},
    {"D_PERF_READ_STALL", 0x48, {ro("PERF_READ_STALL", 0, 32)}},
    {"D_CYA", 0x4c, {rw("CYA", 0, 32)}},
};
constexpr auto pdp_rdma_table = to_rows(pdp_rdma_text);

}  // namespace

std::span<const RegisterRow> pdp_rdma_rows() { return pdp_rdma_table; }

}  // namespace npuscope
