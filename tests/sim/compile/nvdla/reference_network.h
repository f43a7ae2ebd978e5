// SPDX-License-Identifier: Apache-2.0
// What the reference computation of a network (sim/compile/nvdla/plain_network.h) must leave in
// memory.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/compile/nvdla/plain_network.h"

namespace npuscope::reference {

using plain::Results;
using plain::run_network;
using plain::Values;

/// A result as it must lie in memory, lanes not in use zero.
std::vector<std::uint8_t> bytes_of(const Values& result, const StoredCube& stored);

}  // namespace npuscope::reference
