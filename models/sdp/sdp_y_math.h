// SPDX-License-Identifier: Apache-2.0
// The Y stage of the SDP (EW) on a run of 32-bit values of one channel, without its lookup tables.
// source: nv_small RTL, NV_NVDLA_SDP_HLS_Y_int_{cvt,mul,alu}.v
#pragma once

#include <cstdint>
#include <span>

#include "models/sdp/sdp_stages.h"
#include "models/sdp/sdp_x_math.h"

namespace npuscope {

/// What the operand convertor makes of one operand from memory.
std::int32_t convert_operand(const SdpOperandConvertor& convertor, std::int16_t operand);

/// MUL, then ALU, in place; the caller does the table lookup. Operand runs are used where the
/// stage's source is memory.
void run_y_stage(const SdpYStage& stage, const OperandRun& alu, const OperandRun& mul,
                 std::span<std::int32_t> values);

}  // namespace npuscope
