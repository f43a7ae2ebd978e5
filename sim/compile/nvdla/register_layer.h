// SPDX-License-Identifier: Apache-2.0
// One layer of a model as an NVDLA computes it: sums of stored int8, and its integer sequence in
// the stages of the SDP (integer_sequence.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/compile/nvdla/integer_sequence.h"
#include "sim/compile/partition.h"
#include "sim/model/network.h"

namespace npuscope {

struct LoweredLayer {
    Layer layer;  ///< without its name and its sources
    LayerNumbers numbers;
    bool relu_after_residual = false;
};
/// What stands against it goes to `problems`; the result is then not to be used.
LoweredLayer lower_layer(const GraphView& model, const Candidate& candidate, Diagnostics& problems);

/// An addition of two feature maps and the clip after it.
struct Sum {
    std::size_t node = 0;
    std::vector<std::size_t> nodes;
    std::vector<std::string> terms;
    std::string output;
    ClipStep clip;
};
std::optional<Sum> read_sum(const GraphView& view, std::size_t node);

/// Numbers and ReLU of an addition.
StagedSequence lower_sum(const GraphView& model, const Sum& sum, Diagnostics& problems);

/// Whether the residual of a convolution can be added before the convolution's result is clipped:
/// the clip between them is so wide that results of 8 bits do not show it.
bool can_join(const Candidate& candidate);

}  // namespace npuscope
