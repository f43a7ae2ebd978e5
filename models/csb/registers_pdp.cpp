// SPDX-License-Identifier: Apache-2.0
// Registers of NVDLA_PDP: the planar (pooling) processor.
// source: NVDLA register specification, nv_small, NVDLA_PDP.rdl
#include "models/csb/register_rows.h"

namespace npuscope {
namespace {

constexpr RegisterText pdp_text[] = {
    {"S_STATUS", 0x00, {ro("STATUS_0", 0, 2), ro("STATUS_1", 16, 2)}},
    {"S_POINTER", 0x04, {rw("PRODUCER", 0, 1), ro("CONSUMER", 16, 1)}},
    {"D_OP_ENABLE", 0x08, {rw("OP_EN", 0, 1)}},
    {"D_DATA_CUBE_IN_WIDTH", 0x0c, {rw("CUBE_IN_WIDTH", 0, 13)}},
    {"D_DATA_CUBE_IN_HEIGHT", 0x10, {rw("CUBE_IN_HEIGHT", 0, 13)}},
    {"D_DATA_CUBE_IN_CHANNEL", 0x14, {rw("CUBE_IN_CHANNEL", 0, 13)}},
    {"D_DATA_CUBE_OUT_WIDTH", 0x18, {rw("CUBE_OUT_WIDTH", 0, 13)}},
    {"D_DATA_CUBE_OUT_HEIGHT", 0x1c, {rw("CUBE_OUT_HEIGHT", 0, 13)}},
    {"D_DATA_CUBE_OUT_CHANNEL", 0x20, {rw("CUBE_OUT_CHANNEL", 0, 13)}},
    {"D_OPERATION_MODE_CFG",
     0x24,
     {rw("POOLING_METHOD", 0, 2), rw("FLYING_MODE", 4, 1), rw("SPLIT_NUM", 8, 8)}},
    {"D_NAN_FLUSH_TO_ZERO", 0x28, {rw("NAN_TO_ZERO", 0, 1)}},
    {"D_PARTIAL_WIDTH_IN",
     0x2c,
     {rw("PARTIAL_WIDTH_IN_FIRST", 0, 10), rw("PARTIAL_WIDTH_IN_LAST", 10, 10),
      rw("PARTIAL_WIDTH_IN_MID", 20, 10)}},
    {"D_PARTIAL_WIDTH_OUT",
     0x30,
     {rw("PARTIAL_WIDTH_OUT_FIRST", 0, 10), rw("PARTIAL_WIDTH_OUT_LAST", 10, 10),
      rw("PARTIAL_WIDTH_OUT_MID", 20, 10)}},
    {"D_POOLING_KERNEL_CFG",
     0x34,
     {rw("KERNEL_WIDTH", 0, 4), rw("KERNEL_HEIGHT", 8, 4), rw("KERNEL_STRIDE_WIDTH", 16, 4),
      rw("KERNEL_STRIDE_HEIGHT", 20, 4)}},
    {"D_RECIP_KERNEL_WIDTH", 0x38, {rw("RECIP_KERNEL_WIDTH", 0, 17)}},
    {"D_RECIP_KERNEL_HEIGHT", 0x3c, {rw("RECIP_KERNEL_HEIGHT", 0, 17)}},
    {"D_POOLING_PADDING_CFG",
     0x40,
     {rw("PAD_LEFT", 0, 3), rw("PAD_TOP", 4, 3), rw("PAD_RIGHT", 8, 3), rw("PAD_BOTTOM", 12, 3)}},
    {"D_POOLING_PADDING_VALUE_1_CFG", 0x44, {rw("PAD_VALUE_1X", 0, 19)}},
    {"D_POOLING_PADDING_VALUE_2_CFG", 0x48, {rw("PAD_VALUE_2X", 0, 19)}},
    {"D_POOLING_PADDING_VALUE_3_CFG", 0x4c, {rw("PAD_VALUE_3X", 0, 19)}},
    {"D_POOLING_PADDING_VALUE_4_CFG", 0x50, {rw("PAD_VALUE_4X", 0, 19)}},
    {"D_POOLING_PADDING_VALUE_5_CFG", 0x54, {rw("PAD_VALUE_5X", 0, 19)}},
    {"D_POOLING_PADDING_VALUE_6_CFG", 0x58, {rw("PAD_VALUE_6X", 0, 19)}},
    {"D_POOLING_PADDING_VALUE_7_CFG", 0x5c, {rw("PAD_VALUE_7X", 0, 19)}},
    {"D_SRC_BASE_ADDR_LOW", 0x60, {rw("SRC_BASE_ADDR_LOW", 0, 32)}},
    {"D_SRC_BASE_ADDR_HIGH", 0x64, {rw("SRC_BASE_ADDR_HIGH", 0, 32)}},
    {"D_SRC_LINE_STRIDE", 0x68, {rw("SRC_LINE_STRIDE", 0, 32)}},
    {"D_SRC_SURFACE_STRIDE", 0x6c, {rw("SRC_SURFACE_STRIDE", 0, 32)}},
    {"D_DST_BASE_ADDR_LOW", 0x70, {rw("DST_BASE_ADDR_LOW", 0, 32)}},
    {"D_DST_BASE_ADDR_HIGH", 0x74, {rw("DST_BASE_ADDR_HIGH", 0, 32)}},
    {"D_DST_LINE_STRIDE", 0x78, {rw("DST_LINE_STRIDE", 0, 32)}},
    {"D_DST_SURFACE_STRIDE", 0x7c, {rw("DST_SURFACE_STRIDE", 0, 32)}},
    {"D_DST_RAM_CFG", 0x80, {rw("DST_RAM_TYPE", 0, 1)}},
    {"D_DATA_FORMAT", 0x84, {rw("INPUT_DATA", 0, 2)}},
    {"D_INF_INPUT_NUM", 0x88, {ro("INF_INPUT_NUM", 0, 32)}},
    {"D_NAN_INPUT_NUM", 0x8c, {ro("NAN_INPUT_NUM", 0, 32)}},
    {"D_NAN_OUTPUT_NUM", 0x90, {ro("NAN_OUTPUT_NUM", 0, 32)}},
    {"D_PERF_ENABLE", 0x94, {rw("DMA_EN", 0, 1)}},
    {"D_PERF_WRITE_STALL", 0x98, {ro("PERF_WRITE_STALL", 0, 32)}},
    {"D_CYA", 0x9c, {rw("CYA", 0, 32)}},
};
constexpr auto pdp_table = to_rows(pdp_text);

}  // namespace

std::span<const RegisterRow> pdp_rows() { return pdp_table; }

}  // namespace npuscope
