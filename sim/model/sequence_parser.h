// SPDX-License-Identifier: Apache-2.0
// Steps behind a layer's operator as BNORM or BNORMRES, and what of the sequence is missing or out
// of order.
#pragma once

#include <span>
#include <vector>

#include "sim/model/candidate.h"
#include "sim/model/step_reader.h"

namespace npuscope {

struct ParsedSequence {
    NormSequence norm;
    std::vector<std::size_t> nodes;
    std::string output;  ///< tensor behind the last step; empty where there is none
    Diagnostics problems;
};

/// `anchor` is blamed for what is missing altogether. With `with_residual` false, steps behind the
/// first clip are left alone.
ParsedSequence parse_sequence(const GraphView& view, std::size_t anchor,
                              std::span<const RawStep> steps, bool with_residual);

}  // namespace npuscope
