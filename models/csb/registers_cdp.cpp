// SPDX-License-Identifier: Apache-2.0
// Registers of NVDLA_CDP: the channel (LRN) processor.
// source: NVDLA register specification, nv_small, NVDLA_CDP.rdl
#include "models/csb/register_rows.h"

namespace npuscope {
namespace {

constexpr RegisterText cdp_text[] = {
    {"S_STATUS", 0x00, {ro("STATUS_0", 0, 2), ro("STATUS_1", 16, 2)}},
    {"S_POINTER", 0x04, {rw("PRODUCER", 0, 1), ro("CONSUMER", 16, 1)}},
    {"S_LUT_ACCESS_CFG",
     0x08,
     {rw("LUT_ADDR", 0, 10), rw("LUT_TABLE_ID", 16, 1), rw("LUT_ACCESS_TYPE", 17, 1)}},
    {"S_LUT_ACCESS_DATA", 0x0c, {rw("LUT_DATA", 0, 16)}},
    {"S_LUT_CFG",
     0x10,
     {rw("LUT_LE_FUNCTION", 0, 1), rw("LUT_UFLOW_PRIORITY", 4, 1), rw("LUT_OFLOW_PRIORITY", 5, 1),
      rw("LUT_HYBRID_PRIORITY", 6, 1)}},
    {"S_LUT_INFO",
     0x14,
     {rw("LUT_LE_INDEX_OFFSET", 0, 8), rw("LUT_LE_INDEX_SELECT", 8, 8),
      rw("LUT_LO_INDEX_SELECT", 16, 8)}},
    {"S_LUT_LE_START_LOW", 0x18, {rw("LUT_LE_START_LOW", 0, 32)}},
    {"S_LUT_LE_START_HIGH", 0x1c, {rw("LUT_LE_START_HIGH", 0, 6)}},
    {"S_LUT_LE_END_LOW", 0x20, {rw("LUT_LE_END_LOW", 0, 32)}},
    {"S_LUT_LE_END_HIGH", 0x24, {rw("LUT_LE_END_HIGH", 0, 6)}},
    {"S_LUT_LO_START_LOW", 0x28, {rw("LUT_LO_START_LOW", 0, 32)}},
    {"S_LUT_LO_START_HIGH", 0x2c, {rw("LUT_LO_START_HIGH", 0, 6)}},
    {"S_LUT_LO_END_LOW", 0x30, {rw("LUT_LO_END_LOW", 0, 32)}},
    {"S_LUT_LO_END_HIGH", 0x34, {rw("LUT_LO_END_HIGH", 0, 6)}},
    {"S_LUT_LE_SLOPE_SCALE",
     0x38,
     {rw("LUT_LE_SLOPE_UFLOW_SCALE", 0, 16), rw("LUT_LE_SLOPE_OFLOW_SCALE", 16, 16)}},
    {"S_LUT_LE_SLOPE_SHIFT",
     0x3c,
     {rw("LUT_LE_SLOPE_UFLOW_SHIFT", 0, 5), rw("LUT_LE_SLOPE_OFLOW_SHIFT", 5, 5)}},
    {"S_LUT_LO_SLOPE_SCALE",
     0x40,
     {rw("LUT_LO_SLOPE_UFLOW_SCALE", 0, 16), rw("LUT_LO_SLOPE_OFLOW_SCALE", 16, 16)}},
    {"S_LUT_LO_SLOPE_SHIFT",
     0x44,
     {rw("LUT_LO_SLOPE_UFLOW_SHIFT", 0, 5), rw("LUT_LO_SLOPE_OFLOW_SHIFT", 5, 5)}},
    {"D_OP_ENABLE", 0x48, {rw("OP_EN", 0, 1)}},
    {"D_FUNC_BYPASS", 0x4c, {rw("SQSUM_BYPASS", 0, 1), rw("MUL_BYPASS", 1, 1)}},
    {"D_DST_BASE_ADDR_LOW", 0x50, {rw("DST_BASE_ADDR_LOW", 0, 32)}},
    {"D_DST_BASE_ADDR_HIGH", 0x54, {rw("DST_BASE_ADDR_HIGH", 0, 32)}},
    {"D_DST_LINE_STRIDE", 0x58, {rw("DST_LINE_STRIDE", 0, 32)}},
    {"D_DST_SURFACE_STRIDE", 0x5c, {rw("DST_SURFACE_STRIDE", 0, 32)}},
    {"D_DST_DMA_CFG", 0x60, {rw("DST_RAM_TYPE", 0, 1)}},
    {"D_DST_COMPRESSION_EN", 0x64, {ro("DST_COMPRESSION_EN", 0, 1)}},
    {"D_DATA_FORMAT", 0x68, {rw("INPUT_DATA_TYPE", 0, 2, 1)}},
    {"D_NAN_FLUSH_TO_ZERO", 0x6c, {rw("NAN_TO_ZERO", 0, 1)}},
    {"D_LRN_CFG", 0x70, {rw("NORMALZ_LEN", 0, 2)}},
    {"D_DATIN_OFFSET", 0x74, {rw("DATIN_OFFSET", 0, 16)}},
    {"D_DATIN_SCALE", 0x78, {rw("DATIN_SCALE", 0, 16, 1)}},
    {"D_DATIN_SHIFTER", 0x7c, {rw("DATIN_SHIFTER", 0, 5)}},
    {"D_DATOUT_OFFSET", 0x80, {rw("DATOUT_OFFSET", 0, 32)}},
    {"D_DATOUT_SCALE", 0x84, {rw("DATOUT_SCALE", 0, 16, 1)}},
    {"D_DATOUT_SHIFTER", 0x88, {rw("DATOUT_SHIFTER", 0, 6)}},
    {"D_NAN_INPUT_NUM", 0x8c, {ro("NAN_INPUT_NUM", 0, 32)}},
    {"D_INF_INPUT_NUM", 0x90, {ro("INF_INPUT_NUM", 0, 32)}},
    {"D_NAN_OUTPUT_NUM", 0x94, {ro("NAN_OUTPUT_NUM", 0, 32)}},
    {"D_OUT_SATURATION", 0x98, {ro("OUT_SATURATION", 0, 32)}},
    {"D_PERF_ENABLE", 0x9c, {rw("DMA_EN", 0, 1), rw("LUT_EN", 1, 1)}},
    {"D_PERF_WRITE_STALL", 0xa0, {ro("PERF_WRITE_STALL", 0, 32)}},
    {"D_PERF_LUT_UFLOW", 0xa4, {ro("PERF_LUT_UFLOW", 0, 32)}},
    {"D_PERF_LUT_OFLOW", 0xa8, {ro("PERF_LUT_OFLOW", 0, 32)}},
    {"D_PERF_LUT_HYBRID", 0xac, {ro("PERF_LUT_HYBRID", 0, 32)}},
    {"D_PERF_LUT_LE_HIT", 0xb0, {ro("PERF_LUT_LE_HIT", 0, 32)}},
    {"D_PERF_LUT_LO_HIT", 0xb4, {ro("PERF_LUT_LO_HIT", 0, 32)}},
    {"D_CYA", 0xb8, {rw("CYA", 0, 32)}},
};
constexpr auto cdp_table = to_rows(cdp_text);

}  // namespace

std::span<const RegisterRow> cdp_rows() { return cdp_table; }

}  // namespace npuscope
