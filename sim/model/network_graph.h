// SPDX-License-Identifier: Apache-2.0
// A shape table as a graph of the integer sequences that a TINPU runs, for people without a model.
// Weights, biases and shifts are made up from the table's seed: 8-bit weights, and shifts that keep
// results of random inputs within 8 bits most of the time. A 1x1 convolution without relu that only
// an addition reads becomes PWCONVRES.
#pragma once

#include "sim/model/graph.h"
#include "sim/model/network.h"

namespace npuscope {

/// Not prepared yet: finish_graph does that. ConfigError as network_shapes.
Graph network_graph(const Network& network);

}  // namespace npuscope
