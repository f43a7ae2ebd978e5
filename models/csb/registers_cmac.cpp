// SPDX-License-Identifier: Apache-2.0
// Registers of NVDLA_CMAC_A and NVDLA_CMAC_B: both halves of the MAC array.
// source: NVDLA register specification, nv_small, NVDLA_CMAC_A.rdl, NVDLA_CMAC_B.rdl
#include "models/csb/register_rows.h"

namespace npuscope {
namespace {

constexpr RegisterText cmac_a_text[] = {
    {"S_STATUS", 0x00, {ro("STATUS_0", 0, 2), ro("STATUS_1", 16, 2)}},
    {"S_POINTER", 0x04, {rw("PRODUCER", 0, 1), ro("CONSUMER", 16, 1)}},
    {"D_OP_ENABLE", 0x08, {rw("OP_EN", 0, 1)}},
    {"D_MISC_CFG", 0x0c, {rw("CONV_MODE", 0, 1), rw("PROC_PRECISION", 12, 2, 1)}},
};
constexpr auto cmac_a_table = to_rows(cmac_a_text);

constexpr RegisterText cmac_b_text[] = {
    {"S_STATUS", 0x00, {ro("STATUS_0", 0, 2), ro("STATUS_1", 16, 2)}},
    {"S_POINTER", 0x04, {rw("PRODUCER", 0, 1), ro("CONSUMER", 16, 1)}},
    {"D_OP_ENABLE", 0x08, {rw("OP_EN", 0, 1)}},
    {"D_MISC_CFG", 0x0c, {rw("CONV_MODE", 0, 1), rw("PROC_PRECISION", 12, 2, 1)}},
};
constexpr auto cmac_b_table = to_rows(cmac_b_text);

}  // namespace

std::span<const RegisterRow> cmac_a_rows() { return cmac_a_table; }
std::span<const RegisterRow> cmac_b_rows() { return cmac_b_table; }

}  // namespace npuscope
