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
#include <variant>
#include <vector>

#include "sim/model/graph.h"
#include "sim/model/layer_numbers.h"

namespace npuscope {

/// Of products of one kernel, whole numbers.
struct IntegerSequence {
    std::vector<std::int8_t> weights;  ///< kernel, channel of its group, row, column
    std::vector<std::int64_t> bias;    ///< per kernel
    std::vector<std::int64_t> scale;   ///< per kernel, 0 or more
    unsigned shift = 0;
    NumberRange input;                      ///< its values, of 8 bits
    std::optional<NumberRange> residual{};  ///< likewise
    NumberRange result;                     ///< behind the clip, likewise
};

inline constexpr std::int64_t largest_factor = 16383;
inline constexpr std::int64_t largest_sum = 2147483647;

struct StagedSequence {
    LayerNumbers numbers;
    bool relu = false;  ///< of the last stage that has work
};

/// Why the stages cannot compute a sequence.
struct SequenceProblem {
    enum class Part { Bias, Scale, Sum } part = Part::Sum;
    std::string sentence;
    std::string remedy;
};

std::variant<StagedSequence, SequenceProblem> stage_sequence(IntegerSequence sequence);

/// clip(a + b) of stored values.
StagedSequence stage_sum(const NumberRange& a, const NumberRange& b, const NumberRange& result);

}  // namespace npuscope
