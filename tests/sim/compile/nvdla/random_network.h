// SPDX-License-Identifier: Apache-2.0
// Small random networks for tests of the planner: convolutions of all kinds, pools, adds of earlier
// results, pruned layers, and fully connected ends.
#pragma once

#include <cstdint>

#include "sim/model/network.h"

namespace npuscope::sample {

/// The same seed gives the same network.
Network random_network(std::uint64_t seed);

}  // namespace npuscope::sample
