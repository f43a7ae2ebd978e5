// SPDX-License-Identifier: Apache-2.0
// Registers of NVDLA_RBK: the reshape engine RUBIK.
// source: NVDLA register specification, nv_small, NVDLA_RBK.rdl
#include "models/csb/register_rows.h"

namespace npuscope {
namespace {

constexpr RegisterText rbk_text[] = {
    {"S_STATUS", 0x00, {ro("STATUS_0", 0, 2), ro("STATUS_1", 16, 2)}},
    {"S_POINTER", 0x04, {rw("PRODUCER", 0, 1), ro("CONSUMER", 16, 1)}},
    {"D_OP_ENABLE", 0x08, {rw("OP_EN", 0, 1)}},
    {"D_MISC_CFG", 0x0c, {rw("RUBIK_MODE", 0, 2), rw("IN_PRECISION", 8, 2, 1)}},
    {"D_DAIN_RAM_TYPE", 0x10, {rw("DATAIN_RAM_TYPE", 0, 1)}},
    {"D_DATAIN_SIZE_0", 0x14, {rw("DATAIN_WIDTH", 0, 13), rw("DATAIN_HEIGHT", 16, 13)}},
    {"D_DATAIN_SIZE_1", 0x18, {rw("DATAIN_CHANNEL", 0, 13)}},
    {"D_DAIN_ADDR_HIGH", 0x1c, {rw("DAIN_ADDR_HIGH", 0, 32)}},
    {"D_DAIN_ADDR_LOW", 0x20, {rw("DAIN_ADDR_LOW", 5, 27)}},
    {"D_DAIN_LINE_STRIDE", 0x24, {rw("DAIN_LINE_STRIDE", 5, 27)}},
    {"D_DAIN_SURF_STRIDE", 0x28, {rw("DAIN_SURF_STRIDE", 5, 27)}},
    {"D_DAIN_PLANAR_STRIDE", 0x2c, {rw("DAIN_PLANAR_STRIDE", 5, 27)}},
    {"D_DAOUT_RAM_TYPE", 0x30, {rw("DATAOUT_RAM_TYPE", 0, 1)}},
    {"D_DATAOUT_SIZE_1", 0x34, {rw("DATAOUT_CHANNEL", 0, 13)}},
    {"D_DAOUT_ADDR_HIGH", 0x38, {rw("DAOUT_ADDR_HIGH", 0, 32)}},
    {"D_DAOUT_ADDR_LOW", 0x3c, {rw("DAOUT_ADDR_LOW", 5, 27)}},
    {"D_DAOUT_LINE_STRIDE", 0x40, {rw("DAOUT_LINE_STRIDE", 5, 27)}},
    {"D_CONTRACT_STRIDE_0", 0x44, {rw("CONTRACT_STRIDE_0", 5, 27)}},
    {"D_CONTRACT_STRIDE_1", 0x48, {rw("CONTRACT_STRIDE_1", 5, 27)}},
    {"D_DAOUT_SURF_STRIDE", 0x4c, {rw("DAOUT_SURF_STRIDE", 5, 27)}},
    {"D_DAOUT_PLANAR_STRIDE", 0x50, {rw("DAOUT_PLANAR_STRIDE", 5, 27)}},
    {"D_DECONV_STRIDE", 0x54, {rw("DECONV_X_STRIDE", 0, 5), rw("DECONV_Y_STRIDE", 16, 5)}},
    {"D_PERF_ENABLE", 0x58, {rw("PERF_EN", 0, 1)}},
    {"D_PERF_READ_STALL", 0x5c, {ro("RD_STALL_CNT", 0, 32)}},
    {"D_PERF_WRITE_STALL", 0x60, {ro("WR_STALL_CNT", 0, 32)}},
};
constexpr auto rbk_table = to_rows(rbk_text);

}  // namespace

std::span<const RegisterRow> rbk_rows() { return rbk_table; }

}  // namespace npuscope
