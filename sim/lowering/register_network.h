// SPDX-License-Identifier: Apache-2.0
// A model as a network of layers that an NVDLA's registers can run, number by number: convolutions
// and their integer sequence, averages as depth-wise convolutions with weights of 1, maxima, and
// additions. There is no host in a register program, so every node must be one of them or move
// nothing. Not here: how layers are cut and where they lie (sim/plan).
#pragma once

#include <string>

#include "sim/workload/graph.h"
#include "sim/workload/network.h"

namespace npuscope {

/// The model's only input and output, for files.
struct ModelEnds {
    std::string input;
    std::string output;
    Sizes output_sizes;
    NumberRange output_range{-128, 127};  ///< stored less its zero
};

struct RegisterNetwork {
    Network network;
    ModelEnds ends;
};

/// `graph` is what finish_graph gave; an input of floats holds int8, or uint8 where
/// `unsigned_input`. ConfigError names the first node that cannot run, why, what
/// would, and how many more there are.
RegisterNetwork register_network(const Graph& graph, bool unsigned_input = false);

}  // namespace npuscope
