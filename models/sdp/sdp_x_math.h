// SPDX-License-Identifier: Apache-2.0
// The X stages of the SDP (BS and BN) on a run of values of one channel, bit-exact to the RTL.
// Values are integers of at most 49 bits held in doubles: every step is exact there, and the
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

/// Factor of a rounding right shift for scale_round: 2^-shift, a hair larger. The hair lifts an
/// exact half over the edge, away from zero, and is too small to lift anything else: integers below
/// 2^48 that are shifted by s lie 2^-s apart, and it moves them by less than 2^-s / 4.
/// A shift beyond the wires gives a factor that takes every value to 0, as in the RTL.
inline double rounding_factor(unsigned shift) {
    return std::ldexp(1.0 + 0x1p-50, -static_cast<int>(shift));
}

/// An integer below 2^48 times a rounding_factor: half away from zero, saturated to [low, high].
/// Adding and taking away 1.5 * 2^52 leaves the nearest integer, without a conversion.
inline double scale_round(double value, double factor, double low, double high) {
    const double scaled = value * factor;
    const double floored = scaled < low ? low : scaled;
    const double clamped = floored > high ? high : floored;
    return (clamped + 0x1.8p52) - 0x1.8p52;
}

/// Values of 32 bits in, values of 32 bits out.
void run_x_stage(const SdpXStage& stage, const OperandRun& alu, const OperandRun& mul,
                 std::span<double> values);

}  // namespace npuscope
