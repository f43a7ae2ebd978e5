// SPDX-License-Identifier: Apache-2.0
// A layer's integer sequence in the stages of the SDP, exactly:
//
//     clip(floor((sum + bias) * scale / 2^shift) + residual)
//
// floor(z / 2^n) is the rounded (2 z + 1 - 2^n) / 2^(n + 1), whose halves never occur. Operands
// have 16 bits, values between the stages 32. source: NVDLA_SDP.rdl; NVDLA doc v1/ias/precision.rst
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/base/diagnostic.h"
#include "sim/model/graph.h"
#include "sim/model/network.h"

namespace npuscope {

// Feature maps lie in memory as int8, each value less the map's zero point, which makes the largest
// one 127. So the convertor's saturation is the upper clip of every map, and the lower one of those
// that use all 256 codes.

inline bool uses_all_codes(const NumberRange& range) { return range.high - range.low == 255; }

/// Of a map whose numbers fit 8 bits, signed or unsigned.
inline std::int32_t stored_zero(const NumberRange& range) {
    return static_cast<std::int32_t>(range.high) - 127;
}

/// Of products of one kernel, whole numbers.
struct IntegerSequence {
    std::vector<std::int8_t> weights;  ///< kernel, channel of its group, row, column
    std::vector<std::int64_t> bias;    ///< per kernel
    std::vector<std::int64_t> scale;   ///< per kernel, 0 or more
    unsigned shift = 0;
    NumberRange input;                      ///< its values, of 8 bits
    std::optional<NumberRange> residual{};  ///< likewise
    NumberRange result;                     ///< after the clip, likewise
};

inline constexpr std::int64_t largest_factor = 16383;
inline constexpr std::int64_t largest_sum = 2147483647;

struct StagedSequence {
    LayerNumbers numbers;
    bool relu = false;  ///< of the last stage that has work
};

/// What a diagnostic of a sequence names as its field; another one is about the sums.
inline constexpr std::string_view bias_field = "bias";
inline constexpr std::string_view scale_field = "scale";

/// The stages, or why they cannot compute the sequence.
std::variant<StagedSequence, Diagnostic> stage_sequence(IntegerSequence sequence);

/// clip(a + b) of stored values.
StagedSequence stage_sum(const NumberRange& a, const NumberRange& b, const NumberRange& result);

}  // namespace npuscope
