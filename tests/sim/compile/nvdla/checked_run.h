// SPDX-License-Identifier: Apache-2.0
// Plans that are run with a check of every layer's result against a reference computation.
#pragma once

#include <string>
#include <vector>

#include "sim/compile/nvdla/network_planner.h"
#include "sim/run/result.h"

namespace npuscope::sample {

/// Every layer's bytes must be those of the reference computation, without any finding.
Result run_checked(const Network& network, const PlanTarget& target);

/// Whether all layers fit the target.
bool can_plan(const Network& network, const PlanTarget& target);

/// Every preset that has registers.
std::vector<PlanTarget> preset_targets();
PlanTarget preset_target(const std::string& name);

}  // namespace npuscope::sample
