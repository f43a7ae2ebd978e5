// SPDX-License-Identifier: Apache-2.0
// Registers of NVDLA_CSC: the convolution sequence controller.
// source: NVDLA register specification, nv_small, NVDLA_CSC.rdl
#include "models/csb/register_rows.h"

namespace npuscope {
namespace {

constexpr RegisterText csc_text[] = {
    {"S_STATUS", 0x00, {ro("STATUS_0", 0, 2), ro("STATUS_1", 16, 2)}},
    {"S_POINTER", 0x04, {rw("PRODUCER", 0, 1), ro("CONSUMER", 16, 1)}},
    {"D_OP_ENABLE", 0x08, {rw("OP_EN", 0, 1)}},
    {"D_MISC_CFG",
     0x0c,
     {rw("CONV_MODE", 0, 1), rw("IN_PRECISION", 8, 2, 1), rw("PROC_PRECISION", 12, 2, 1),
      rw("DATA_REUSE", 16, 1), rw("WEIGHT_REUSE", 20, 1), rw("SKIP_DATA_RLS", 24, 1),
      rw("SKIP_WEIGHT_RLS", 28, 1)}},
    {"D_DATAIN_FORMAT", 0x10, {rw("DATAIN_FORMAT", 0, 1)}},
    {"D_DATAIN_SIZE_EXT_0", 0x14, {rw("DATAIN_WIDTH_EXT", 0, 13), rw("DATAIN_HEIGHT_EXT", 16, 13)}},
    {"D_DATAIN_SIZE_EXT_1", 0x18, {rw("DATAIN_CHANNEL_EXT", 0, 13)}},
    {"D_BATCH_NUMBER", 0x1c, {rw("BATCHES", 0, 5)}},
    {"D_POST_Y_EXTENSION", 0x20, {rw("Y_EXTENSION", 0, 2)}},
    {"D_ENTRY_PER_SLICE", 0x24, {rw("ENTRIES", 0, 14)}},
    {"D_WEIGHT_FORMAT", 0x28, {rw("WEIGHT_FORMAT", 0, 1)}},
    {"D_WEIGHT_SIZE_EXT_0", 0x2c, {rw("WEIGHT_WIDTH_EXT", 0, 5), rw("WEIGHT_HEIGHT_EXT", 16, 5)}},
    {"D_WEIGHT_SIZE_EXT_1", 0x30, {rw("WEIGHT_CHANNEL_EXT", 0, 13), rw("WEIGHT_KERNEL", 16, 13)}},
    {"D_WEIGHT_BYTES", 0x34, {rw("WEIGHT_BYTES", 0, 32)}},
    {"D_WMB_BYTES", 0x38, {rw("WMB_BYTES", 0, 28)}},
    {"D_DATAOUT_SIZE_0", 0x3c, {rw("DATAOUT_WIDTH", 0, 13), rw("DATAOUT_HEIGHT", 16, 13)}},
    {"D_DATAOUT_SIZE_1", 0x40, {rw("DATAOUT_CHANNEL", 0, 13)}},
    {"D_ATOMICS", 0x44, {rw("ATOMICS", 0, 21, 1)}},
    {"D_RELEASE", 0x48, {rw("RLS_SLICES", 0, 12, 1)}},
    {"D_CONV_STRIDE_EXT", 0x4c, {rw("CONV_X_STRIDE_EXT", 0, 3), rw("CONV_Y_STRIDE_EXT", 16, 3)}},
    {"D_DILATION_EXT", 0x50, {rw("X_DILATION_EXT", 0, 5), rw("Y_DILATION_EXT", 16, 5)}},
    {"D_ZERO_PADDING", 0x54, {rw("PAD_LEFT", 0, 5), rw("PAD_TOP", 16, 5)}},
    {"D_ZERO_PADDING_VALUE", 0x58, {rw("PAD_VALUE", 0, 16)}},
    {"D_BANK", 0x5c, {rw("DATA_BANK", 0, 5), rw("WEIGHT_BANK", 16, 5)}},
    {"D_PRA_CFG", 0x60, {rw("PRA_TRUNCATE", 0, 2)}},
    {"D_CYA", 0x64, {rw("CYA", 0, 32)}},
};
constexpr auto csc_table = to_rows(csc_text);

}  // namespace

std::span<const RegisterRow> csc_rows() { return csc_table; }

}  // namespace npuscope
