// SPDX-License-Identifier: Apache-2.0
// The operators after a tensor as steps of a sequence, whatever their spelling: Sub for Add, Mul by
// 2^-n for Div, Max and Min or Relu and Min for Clip; Cast, Identity and Dropout are skipped where
// they change nothing.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/model/candidate.h"
#include "sim/model/graph.h"

namespace npuscope {

/// In the order of the sequence; the three rounding modes share one position.
enum class StepKind { Bias, Multiply, Divide, Floor, Round, Ceil, Clip, Join };

struct RawStep {
    StepKind kind = StepKind::Bias;
    std::vector<std::size_t> nodes;  ///< the first is the one named in messages
    std::vector<double> numbers;     ///< constant operand, one or one per channel
    double low = 0;                  ///< for Clip
    double high = 0;
    std::string joined;  ///< for Join: the other tensor
    std::string output;  ///< tensor after it
};

/// All steps after a tensor, whose channels are along `axis`, as long as each has one reader, up to
/// the clip that ends the sequence, or to the clip after the residual if a residual follows.
std::vector<RawStep> read_steps(const GraphView& view, const std::string& tensor,
                                std::size_t axis = 1);

// Steps after a layer's operator as BNORM or BNORMRES, and what is missing from the sequence or out
// of order.

struct ParsedSequence {
    NormSequence norm;
    std::vector<std::size_t> nodes;
    std::string output;  ///< tensor after the last step; empty if there is none
    Diagnostics problems;
};

/// Messages about missing steps name `anchor`. If `with_residual` is false, steps after the first
/// clip are left alone.
ParsedSequence parse_sequence(const GraphView& view, std::size_t anchor,
                              std::span<const RawStep> steps, bool with_residual);

}  // namespace npuscope
