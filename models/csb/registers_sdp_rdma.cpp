// SPDX-License-Identifier: Apache-2.0
// Registers of NVDLA_SDP_RDMA: the read DMA of the single-point processor.
// source: NVDLA register specification, nv_small, NVDLA_SDP_RDMA.rdl
#include "models/csb/register_rows.h"

namespace npuscope {
namespace {

constexpr RegisterText sdp_rdma_text[] = {
    {"S_STATUS", 0x00, {ro("STATUS_0", 0, 2), ro("STATUS_1", 16, 2)}},
    {"S_POINTER", 0x04, {rw("PRODUCER", 0, 1), ro("CONSUMER", 16, 1)}},
    {"D_OP_ENABLE", 0x08, {rw("OP_EN", 0, 1)}},
    {"D_DATA_CUBE_WIDTH", 0x0c, {rw("WIDTH", 0, 13)}},
    {"D_DATA_CUBE_HEIGHT", 0x10, {rw("HEIGHT", 0, 13)}},
    {"D_DATA_CUBE_CHANNEL", 0x14, {rw("CHANNEL", 0, 13)}},
    {"D_SRC_BASE_ADDR_LOW", 0x18, {rw("SRC_BASE_ADDR_LOW", 0, 32)}},
    {"D_SRC_BASE_ADDR_HIGH", 0x1c, {rw("SRC_BASE_ADDR_HIGH", 0, 32)}},
    {"D_SRC_LINE_STRIDE", 0x20, {rw("SRC_LINE_STRIDE", 0, 32)}},
    {"D_SRC_SURFACE_STRIDE", 0x24, {rw("SRC_SURFACE_STRIDE", 0, 32)}},
    {"D_BRDMA_CFG",
     0x28,
     {rw("BRDMA_DISABLE", 0, 1, 1), rw("BRDMA_DATA_USE", 1, 2), rw("BRDMA_DATA_SIZE", 3, 1),
      rw("BRDMA_DATA_MODE", 4, 1), rw("BRDMA_RAM_TYPE", 5, 1)}},
    {"D_BS_BASE_ADDR_LOW", 0x2c, {rw("BS_BASE_ADDR_LOW", 0, 32)}},
    {"D_BS_BASE_ADDR_HIGH", 0x30, {rw("BS_BASE_ADDR_HIGH", 0, 32)}},
    {"D_BS_LINE_STRIDE", 0x34, {rw("BS_LINE_STRIDE", 0, 32)}},
    {"D_BS_SURFACE_STRIDE", 0x38, {rw("BS_SURFACE_STRIDE", 0, 32)}},
    {"D_BS_BATCH_STRIDE", 0x3c, {rw("BS_BATCH_STRIDE", 0, 32)}},
    {"D_NRDMA_CFG",
     0x40,
     {rw("NRDMA_DISABLE", 0, 1, 1), rw("NRDMA_DATA_USE", 1, 2), rw("NRDMA_DATA_SIZE", 3, 1),
      rw("NRDMA_DATA_MODE", 4, 1), rw("NRDMA_RAM_TYPE", 5, 1)}},
    {"D_BN_BASE_ADDR_LOW", 0x44, {rw("BN_BASE_ADDR_LOW", 0, 32)}},
    {"D_BN_BASE_ADDR_HIGH", 0x48, {rw("BN_BASE_ADDR_HIGH", 0, 32)}},
    {"D_BN_LINE_STRIDE", 0x4c, {rw("BN_LINE_STRIDE", 0, 32)}},
    {"D_BN_SURFACE_STRIDE", 0x50, {rw("BN_SURFACE_STRIDE", 0, 32)}},
    {"D_BN_BATCH_STRIDE", 0x54, {rw("BN_BATCH_STRIDE", 0, 32)}},
    {"D_ERDMA_CFG",
     0x58,
     {rw("ERDMA_DISABLE", 0, 1, 1), rw("ERDMA_DATA_USE", 1, 2), rw("ERDMA_DATA_SIZE", 3, 1),
      rw("ERDMA_DATA_MODE", 4, 1), rw("ERDMA_RAM_TYPE", 5, 1)}},
    {"D_EW_BASE_ADDR_LOW", 0x5c, {rw("EW_BASE_ADDR_LOW", 0, 32)}},
    {"D_EW_BASE_ADDR_HIGH", 0x60, {rw("EW_BASE_ADDR_HIGH", 0, 32)}},
    {"D_EW_LINE_STRIDE", 0x64, {rw("EW_LINE_STRIDE", 0, 32)}},
    {"D_EW_SURFACE_STRIDE", 0x68, {rw("EW_SURFACE_STRIDE", 0, 32)}},
    {"D_EW_BATCH_STRIDE", 0x6c, {rw("EW_BATCH_STRIDE", 0, 32)}},
    {"D_FEATURE_MODE_CFG",
     0x70,
     {rw("FLYING_MODE", 0, 1), rw("WINOGRAD", 1, 1), rw("IN_PRECISION", 2, 2, 1),
      rw("PROC_PRECISION", 4, 2, 1), rw("OUT_PRECISION", 6, 2), rw("BATCH_NUMBER", 8, 5)}},
    {"D_SRC_DMA_CFG", 0x74, {rw("SRC_RAM_TYPE", 0, 1)}},
    {"D_STATUS_NAN_INPUT_NUM", 0x78, {ro("STATUS_NAN_INPUT_NUM", 0, 32)}},
    {"D_STATUS_INF_INPUT_NUM", 0x7c, {ro("STATUS_INF_INPUT_NUM", 0, 32)}},
    {"D_PERF_ENABLE", 0x80, {rw("PERF_DMA_EN", 0, 1), rw("PERF_NAN_INF_COUNT_EN", 1, 1)}},
    {"D_PERF_MRDMA_READ_STALL", 0x84, {ro("MRDMA_STALL", 0, 32)}},
    {"D_PERF_BRDMA_READ_STALL", 0x88, {ro("BRDMA_STALL", 0, 32)}},
    {"D_PERF_NRDMA_READ_STALL", 0x8c, {ro("NRDMA_STALL", 0, 32)}},
    {"D_PERF_ERDMA_READ_STALL", 0x90, {ro("ERDMA_STALL", 0, 32)}},
};
constexpr auto sdp_rdma_table = to_rows(sdp_rdma_text);

}  // namespace

std::span<const RegisterRow> sdp_rdma_rows() { return sdp_rdma_table; }

}  // namespace npuscope
