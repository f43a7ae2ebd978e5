// SPDX-License-Identifier: Apache-2.0
// The arithmetic of the SDP in fp16: elements widen to fp32 and stay so through the stages; only
// the lookup works in fp17. Operands are fp16 from X registers and from memory, fp32 from Y
// registers. Shifters, operand convertors and the output convertor's offset and scale do nothing;
// the output is fp16, or from there int16. source: NVDLA doc v1/ias/precision.rst; nv_full C model,
// compared by running
#pragma once

#include <cstdint>
#include <span>

#include "models/sdp/sdp_math.h"

namespace npuscope {

/// Elements of one channel on their way through the stages, with this run's part of each operand.
struct SdpFloatOperands {
    OperandRun bs_alu, bs_mul, bn_alu, bn_mul, ew_alu, ew_mul;
};

/// All stages in place; NaNs among values and operands become 0 first where the stages ask for it.
void run_sdp_float(const SdpStages& stages, const SdpFloatOperands& operands,
                   const LookupTables& tables, std::span<float> values, SdpCounters& counters);

}  // namespace npuscope
