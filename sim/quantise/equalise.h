// SPDX-License-Identifier: Apache-2.0
// Channels between two layers are given one size: a kernel's weights are divided by what the next
// layer's weights of that channel are multiplied with, so that one scale serves all channels of the
// map. ReLU lets a positive factor pass. source: Nagel et al., Data-Free Quantization Through Weight
// Equalization and Bias Correction, 2019
#pragma once

#include "sim/model/graph.h"

namespace npuscope {

/// `graph` is what ready_for_quantisation() gave; it computes the same afterwards, but for the rounding
/// of floats. False where no two layers follow each other directly.
bool equalise_channels(Graph& graph);

}  // namespace npuscope
