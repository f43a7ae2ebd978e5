// SPDX-License-Identifier: Apache-2.0
// The operators after a tensor as steps of a sequence, whatever their spelling: Sub for Add, Mul
// by 2^-n for Div, Max and Min or Relu and Min for Clip; Cast, Identity and Dropout are looked
// through where they change nothing.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/model/candidate.h"
#include "sim/model/graph.h"

namespace npuscope {

/// In the order of the sequence; the three ways to round stand at the same place.
enum class StepKind { Bias, Multiply, Divide, Floor, Round, Ceil, Clip, Join };

struct RawStep {
    StepKind kind = StepKind::Bias;
    std::vector<std::size_t> nodes;  ///< the first is the one that messages name
    std::vector<double> numbers;     ///< constant operand, one or one per channel
    double low = 0;                  ///< of Clip
    double high = 0;
    std::string joined;  ///< of Join: the other tensor
    std::string output;  ///< tensor after it
};

/// All steps after a tensor, whose channels lie along `axis`, as far as each has one reader, up to the clip that ends the sequence,
/// or to the clip after the residual where a residual follows.
std::vector<RawStep> read_steps(const GraphView& view, const std::string& tensor,
                                std::size_t axis = 1);

// Steps after a layer's operator as BNORM or BNORMRES, and what of the sequence is missing or out
// of order.

struct ParsedSequence {
    NormSequence norm;
    std::vector<std::size_t> nodes;
    std::string output;  ///< tensor after the last step; empty where there is none
    Diagnostics problems;
};

/// `anchor` is blamed for what is missing altogether. With `with_residual` false, steps after the
/// first clip are left alone.
ParsedSequence parse_sequence(const GraphView& view, std::size_t anchor,
                              std::span<const RawStep> steps, bool with_residual);

}  // namespace npuscope
