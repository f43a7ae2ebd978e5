// SPDX-License-Identifier: Apache-2.0
// Channels between two layers are scaled to one range: a kernel's weights are divided by the factor
// that the next layer's weights of that channel are multiplied by, so that one scale serves all
// channels of the map. ReLU preserves a positive factor. source: Nagel et al., Data-Free
// Quantization Through Weight Equalization and Bias Correction, 2019
#pragma once

#include "sim/model/graph.h"

namespace npuscope {

/// `graph` comes from ready_for_quantisation(); it computes the same afterwards, except for float
/// rounding. False if no two layers follow each other directly.
bool equalise_channels(Graph& graph);

}  // namespace npuscope
