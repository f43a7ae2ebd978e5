// SPDX-License-Identifier: Apache-2.0
// Registers of NVDLA_CDP_RDMA: the read DMA of the channel (LRN) processor.
// source: NVDLA register specification, nv_small, NVDLA_CDP_RDMA.rdl
#include "models/csb/register_rows.h"

namespace npuscope {
namespace {

constexpr RegisterText cdp_rdma_text[] = {
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
    {"D_SRC_DMA_CFG", 0x28, {rw("SRC_RAM_TYPE", 0, 1)}},
    {"D_SRC_COMPRESSION_EN", 0x2c, {ro("SRC_COMPRESSION_EN", 0, 1)}},
    {"D_OPERATION_MODE", 0x30, {ro("OPERATION_MODE", 0, 2)}},
    {"D_DATA_FORMAT", 0x34, {rw("INPUT_DATA", 0, 2)}},
    {"D_PERF_ENABLE", 0x38, {rw("DMA_EN", 0, 1)}},
    {"D_PERF_READ_STALL", 0x3c, {ro("PERF_READ_STALL", 0, 32)}},
    {"D_CYA", 0x40, {rw("CYA", 0, 32)}},
};
constexpr auto cdp_rdma_table = to_rows(cdp_rdma_text);

}  // namespace

std::span<const RegisterRow> cdp_rdma_rows() { return cdp_rdma_table; }

}  // namespace npuscope
