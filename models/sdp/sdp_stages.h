// SPDX-License-Identifier: Apache-2.0
// What the stages of the SDP do to one value, as software sets them up; no addresses, no sizes.
//
//     element or accumulator -> X1 (BS) -> X2 (BN) -> Y (EW) -> LUT -> convertor -> element
//
//     X:  ALU (operand << shift) -> MUL or PReLU -> >> shift -> ReLU
//     Y:  MUL or PReLU, >> truncate -> ALU; operands from memory pass their own convertor
// source: NVDLA doc v1/ias/unit_description.rst, "Single Data Processor"
#pragma once

#include <array>
#include <cstdint>

#include "models/arith/fixed_point.h"
#include "models/arith/lookup_table.h"
#include "models/layout/precision.h"

namespace npuscope {

enum class AluAlgorithm { Max, Min, Sum, Equal };  ///< Equal: 0 when equal, else 1; Y only
enum class OperandSource { Register, Memory };

struct SdpXAlu {
    bool bypass = true;
    AluAlgorithm algorithm = AluAlgorithm::Sum;
    OperandSource source = OperandSource::Register;
    std::int16_t operand = 0;  ///< from the register
    unsigned shift_left = 0;   ///< of the operand, saturating at 32 bits

    bool operator==(const SdpXAlu&) const = default;
};

struct SdpXMul {
    bool bypass = true;
    OperandSource source = OperandSource::Register;
    std::int16_t operand = 0;
    /// Values of 0 and above skip both multiplier and shifter: a sum beyond 31 bits wraps.
    bool prelu = false;

    bool operator==(const SdpXMul&) const = default;
};

struct SdpXStage {
    bool bypass = true;
    SdpXAlu alu;
    SdpXMul mul;
    unsigned shift_right = 0;  ///< applies even when the multiplier is bypassed
    bool relu = false;

    bool operator==(const SdpXStage&) const = default;
};

/// The convertor of an element-wise operand from memory: 16 to 32 bits.
struct SdpOperandConvertor {
    bool bypass = true;
    Conversion conversion;

    bool operator==(const SdpOperandConvertor&) const = default;
};

struct SdpYAlu {
    bool bypass = true;
    AluAlgorithm algorithm = AluAlgorithm::Sum;
    OperandSource source = OperandSource::Register;
    std::int32_t operand = 0;  ///< from the register, not converted
    SdpOperandConvertor convertor;

    bool operator==(const SdpYAlu&) const = default;
};

struct SdpYMul {
    bool bypass = true;
    OperandSource source = OperandSource::Register;
    std::int32_t operand = 0;
    SdpOperandConvertor convertor;
    bool prelu = false;
    unsigned shift_right = 0;  ///< skipped together with the multiplier

    bool operator==(const SdpYMul&) const = default;
};

struct SdpYStage {
    bool bypass = true;
    SdpYMul mul;
    SdpYAlu alu;
    bool lut_bypass = true;
    LookupConfig lut;

    bool operator==(const SdpYStage&) const = default;
};

/// One per stage, in the order in which values pass them.
template <class T>
using PerStage = std::array<T, 3>;
inline constexpr std::size_t bs_stage = 0;
inline constexpr std::size_t bn_stage = 1;
inline constexpr std::size_t ew_stage = 2;

struct SdpStages {
    SdpXStage bs;
    SdpXStage bn;
    SdpYStage ew;
    Conversion convertor;
    Precision processing = Precision::Int8;  ///< int8 and int16 compute alike; fp16 does not
    Precision output = Precision::Int8;
    bool nan_to_zero = false;           ///< fp16: of values and operands
    bool count_saturated = false;       ///< D_PERF_ENABLE; lookups are counted in any case
    bool coarse_saturation = false;     ///< as DatapathConfig::coarse_saturation_count
    bool count_nan_outputs = false;     ///< the same, fp16 output
    bool count_input_specials = false;  ///< D_PERF_ENABLE of the read DMA, fp16 source

    bool operator==(const SdpStages&) const = default;

    /// The comparison mode: nothing is written, one bit says whether any element differed.
    bool compares() const {
        return !ew.bypass && !ew.alu.bypass && ew.alu.algorithm == AluAlgorithm::Equal;
    }
};

/// Calls `visit` with each stage and its number.
template <class Stages, class Visit>
void for_each_stage(Stages& stages, Visit visit) {
    visit(stages.bs, bs_stage);
    visit(stages.bn, bn_stage);
    visit(stages.ew, ew_stage);
}

}  // namespace npuscope
