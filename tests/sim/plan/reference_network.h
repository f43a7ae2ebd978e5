// SPDX-License-Identifier: Apache-2.0
// A network computed layer by layer on plain tensors, with weights and biases out of a plan's
// images: what any way of cutting the layers must leave in memory.
#pragma once

#include <map>
#include <string>

#include "models/data/tensor.h"
#include "sim/plan/plan.h"
#include "sim/workload/network.h"

namespace npuscope::reference {

using Results = std::map<std::string, Tensor<std::int8_t>>;

/// Results by layer, `input` included. For nv_small; a convolution that the plan joins to an add
/// has none of its own.
Results run_network(const Network& network, const Plan& plan);

/// A result as it must lie in memory, lanes not in use zero.
std::vector<std::uint8_t> bytes_of(const Tensor<std::int8_t>& result, const StoredCube& stored);

}  // namespace npuscope::reference
