// SPDX-License-Identifier: Apache-2.0
// Registers of NVDLA_CDMA: the convolution DMA.
// source: NVDLA register specification, nv_small, NVDLA_CDMA.rdl
#include "models/csb/register_rows.h"

namespace npuscope {
namespace {

constexpr RegisterText cdma_text[] = {
    {"S_STATUS", 0x00, {ro("STATUS_0", 0, 2), ro("STATUS_1", 16, 2)}},
    {"S_POINTER", 0x04, {rw("PRODUCER", 0, 1), ro("CONSUMER", 16, 1)}},
    {"S_ARBITER", 0x08, {rw("ARB_WEIGHT", 0, 4, 0xf), rw("ARB_WMB", 16, 4, 3)}},
    {"S_CBUF_FLUSH_STATUS", 0x0c, {ro("FLUSH_DONE", 0, 1)}},
    {"D_OP_ENABLE", 0x10, {rw("OP_EN", 0, 1)}},
    {"D_MISC_CFG",
     0x14,
     {rw("CONV_MODE", 0, 1), rw("IN_PRECISION", 8, 2, 1), rw("PROC_PRECISION", 12, 2, 1),
      rw("DATA_REUSE", 16, 1), rw("WEIGHT_REUSE", 20, 1), rw("SKIP_DATA_RLS", 24, 1),
      rw("SKIP_WEIGHT_RLS", 28, 1)}},
    {"D_DATAIN_FORMAT",
     0x18,
     {rw("DATAIN_FORMAT", 0, 1), rw("PIXEL_FORMAT", 8, 6, 0xc), rw("PIXEL_MAPPING", 16, 1),
      rw("PIXEL_SIGN_OVERRIDE", 20, 1)}},
    {"D_DATAIN_SIZE_0", 0x1c, {rw("DATAIN_WIDTH", 0, 13), rw("DATAIN_HEIGHT", 16, 13)}},
    {"D_DATAIN_SIZE_1", 0x20, {rw("DATAIN_CHANNEL", 0, 13)}},
    {"D_DATAIN_SIZE_EXT_0", 0x24, {rw("DATAIN_WIDTH_EXT", 0, 13), rw("DATAIN_HEIGHT_EXT", 16, 13)}},
    {"D_PIXEL_OFFSET", 0x28, {rw("PIXEL_X_OFFSET", 0, 5), rw("PIXEL_Y_OFFSET", 16, 3)}},
    {"D_DAIN_RAM_TYPE", 0x2c, {rw("DATAIN_RAM_TYPE", 0, 1)}},
    {"D_DAIN_ADDR_HIGH_0", 0x30, {rw("DATAIN_ADDR_HIGH_0", 0, 32)}},
    {"D_DAIN_ADDR_LOW_0", 0x34, {rw("DATAIN_ADDR_LOW_0", 0, 32)}},
    {"D_DAIN_ADDR_HIGH_1", 0x38, {rw("DATAIN_ADDR_HIGH_1", 0, 32)}},
    {"D_DAIN_ADDR_LOW_1", 0x3c, {rw("DATAIN_ADDR_LOW_1", 0, 32)}},
    {"D_LINE_STRIDE", 0x40, {rw("LINE_STRIDE", 0, 32)}},
    {"D_LINE_UV_STRIDE", 0x44, {rw("UV_LINE_STRIDE", 0, 32)}},
    {"D_SURF_STRIDE", 0x48, {rw("SURF_STRIDE", 0, 32)}},
    {"D_DAIN_MAP", 0x4c, {rw("LINE_PACKED", 0, 1), rw("SURF_PACKED", 16, 1)}},
    {"D_RESERVED_X_CFG", 0x50, {rw("RSV_PER_LINE", 0, 10), rw("RSV_PER_UV_LINE", 16, 10)}},
    {"D_RESERVED_Y_CFG", 0x54, {rw("RSV_HEIGHT", 0, 3), rw("RSV_Y_INDEX", 16, 5)}},
    {"D_BATCH_NUMBER", 0x58, {rw("BATCHES", 0, 5)}},
    {"D_BATCH_STRIDE", 0x5c, {rw("BATCH_STRIDE", 0, 32)}},
    {"D_ENTRY_PER_SLICE", 0x60, {rw("ENTRIES", 0, 14)}},
    {"D_FETCH_GRAIN", 0x64, {rw("GRAINS", 0, 12)}},
    {"D_WEIGHT_FORMAT", 0x68, {rw("WEIGHT_FORMAT", 0, 1)}},
    {"D_WEIGHT_SIZE_0", 0x6c, {rw("BYTE_PER_KERNEL", 0, 18)}},
    {"D_WEIGHT_SIZE_1", 0x70, {rw("WEIGHT_KERNEL", 0, 13)}},
    {"D_WEIGHT_RAM_TYPE", 0x74, {rw("WEIGHT_RAM_TYPE", 0, 1)}},
    {"D_WEIGHT_ADDR_HIGH", 0x78, {rw("WEIGHT_ADDR_HIGH", 0, 32)}},
    {"D_WEIGHT_ADDR_LOW", 0x7c, {rw("WEIGHT_ADDR_LOW", 0, 32)}},
    {"D_WEIGHT_BYTES", 0x80, {rw("WEIGHT_BYTES", 0, 32)}},
    {"D_WGS_ADDR_HIGH", 0x84, {rw("WGS_ADDR_HIGH", 0, 32)}},
    {"D_WGS_ADDR_LOW", 0x88, {rw("WGS_ADDR_LOW", 0, 32)}},
    {"D_WMB_ADDR_HIGH", 0x8c, {rw("WMB_ADDR_HIGH", 0, 32)}},
    {"D_WMB_ADDR_LOW", 0x90, {rw("WMB_ADDR_LOW", 0, 32)}},
    {"D_WMB_BYTES", 0x94, {rw("WMB_BYTES", 0, 28)}},
    {"D_MEAN_FORMAT", 0x98, {rw("MEAN_FORMAT", 0, 1)}},
    {"D_MEAN_GLOBAL_0", 0x9c, {rw("MEAN_RY", 0, 16), rw("MEAN_GU", 16, 16)}},
    {"D_MEAN_GLOBAL_1", 0xa0, {rw("MEAN_BV", 0, 16), rw("MEAN_AX", 16, 16)}},
    {"D_CVT_CFG", 0xa4, {rw("CVT_EN", 0, 1), rw("CVT_TRUNCATE", 4, 6)}},
    {"D_CVT_OFFSET", 0xa8, {rw("CVT_OFFSET", 0, 16)}},
    {"D_CVT_SCALE", 0xac, {rw("CVT_SCALE", 0, 16)}},
    {"D_CONV_STRIDE", 0xb0, {rw("CONV_X_STRIDE", 0, 3), rw("CONV_Y_STRIDE", 16, 3)}},
    {"D_ZERO_PADDING",
     0xb4,
     {rw("PAD_LEFT", 0, 5), rw("PAD_RIGHT", 8, 6), rw("PAD_TOP", 16, 5), rw("PAD_BOTTOM", 24, 6)}},
    {"D_ZERO_PADDING_VALUE", 0xb8, {rw("PAD_VALUE", 0, 16)}},
    {"D_BANK", 0xbc, {rw("DATA_BANK", 0, 5), rw("WEIGHT_BANK", 16, 5)}},
    {"D_NAN_FLUSH_TO_ZERO", 0xc0, {rw("NAN_TO_ZERO", 0, 1)}},
    {"D_NAN_INPUT_DATA_NUM", 0xc4, {ro("NAN_DATA_NUM", 0, 32)}},
    {"D_NAN_INPUT_WEIGHT_NUM", 0xc8, {ro("NAN_WEIGHT_NUM", 0, 32)}},
    {"D_INF_INPUT_DATA_NUM", 0xcc, {ro("INF_DATA_NUM", 0, 32)}},
    {"D_INF_INPUT_WEIGHT_NUM", 0xd0, {ro("INF_WEIGHT_NUM", 0, 32)}},
    {"D_PERF_ENABLE", 0xd4, {rw("DMA_EN", 0, 1)}},
    {"D_PERF_DAT_READ_STALL", 0xd8, {ro("DAT_RD_STALL", 0, 32)}},
    {"D_PERF_WT_READ_STALL", 0xdc, {ro("WT_RD_STALL", 0, 32)}},
    {"D_PERF_DAT_READ_LATENCY", 0xe0, {ro("DAT_RD_LATENCY", 0, 32)}},
    {"D_PERF_WT_READ_LATENCY", 0xe4, {ro("WT_RD_LATENCY", 0, 32)}},
    {"D_CYA", 0xe8, {rw("CYA", 0, 32)}},
};
constexpr auto cdma_table = to_rows(cdma_text);

}  // namespace

std::span<const RegisterRow> cdma_rows() { return cdma_table; }

}  // namespace npuscope
