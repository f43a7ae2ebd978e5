// SPDX-License-Identifier: Apache-2.0
// The stages of the SDP on a run of values of one channel, bit-exact to the RTL. X stages (BS, BN):
// values are integers of at most 49 bits held in doubles: every step is exact there, and the
// rounding shift becomes a scaling that compilers vectorise on any machine.
// source: nv_small RTL, NV_NVDLA_SDP_HLS_X_int_{alu,mul,trt,relu}.v, NV_NVDLA_HLS_shiftrightsu.v
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include "models/sdp/sdp_stages.h"

namespace npuscope {

/// Operand of a run: one value for all of it, or one per element (as long as the run).
struct OperandRun {
    std::span<const std::int16_t> per_element;
    std::int16_t constant = 0;
};

/// Factor of a rounding right shift for scale_round: 2^-shift, slightly larger. The excess lifts an
/// exact tie over the edge, away from zero, and is too small to lift anything else: integers below
/// 2^48 that are shifted by s are 2^-s apart, and it moves them by less than 2^-s / 4. A shift
/// beyond the wires yields a factor that maps every value to 0, as in the RTL.
inline double rounding_factor(unsigned shift) {
    return std::ldexp(1.0 + 0x1p-50, -static_cast<int>(shift));
}

/// An integer below 2^48 times a rounding_factor: ties away from zero, saturated to [low, high].
/// Adding and subtracting 1.5 * 2^52 leaves the nearest integer, without a conversion.
inline double scale_round(double value, double factor, double low, double high) {
    const double scaled = value * factor;
    const double floored = scaled < low ? low : scaled;
    const double clamped = floored > high ? high : floored;
    return (clamped + 0x1.8p52) - 0x1.8p52;
}

/// 32-bit values in and out.
void run_x_stage(const SdpXStage& stage, const OperandRun& alu, const OperandRun& mul,
                 std::span<double> values);

// The Y stage of the SDP (EW) on a run of 32-bit values of one channel, without its lookup tables.
// source: nv_small RTL, NV_NVDLA_SDP_HLS_Y_int_{cvt,mul,alu}.v

/// Converts one operand from memory as the operand convertor does.
std::int32_t convert_operand(const SdpOperandConvertor& convertor, std::int16_t operand);

/// MUL, then ALU, in place; the caller does the table lookup. Operand runs are used where the
/// stage's source is memory.
void run_y_stage(const SdpYStage& stage, const OperandRun& alu, const OperandRun& mul,
                 std::span<std::int32_t> values);

// The arithmetic of the SDP in fp16: elements are widened to fp32 and stay so through the stages;
// only the lookup works in fp17. Operands are fp16 from X registers and from memory, fp32 from Y
// registers. Shifters, operand convertors and the output convertor's offset and scale do nothing;
// the output is fp16, or int16 converted from it. source: NVDLA doc v1/ias/precision.rst; nv_full C
// model, compared by running

/// This run's part of a stage's operands.
struct StageRuns {
    OperandRun alu, mul;
};

/// All stages in place; NaNs among values and operands become 0 first if the stages ask for it.
void run_sdp_float(const SdpStages& stages, const PerStage<StageRuns>& operands,
                   const LookupTables& tables, std::span<float> values, LookupCounters& counters);

}  // namespace npuscope
