// SPDX-License-Identifier: Apache-2.0
// A design of a sweep's space as an experiment, and its result as a point of the sweep's database.
#pragma once

#include "sim/command_line/command.h"
#include "sim/config/config_node.h"
#include "sim/sweep/space.h"
#include "sim/sweep/sweep.h"

namespace npuscope {

/// The experiment of a design: the base with the axes' values. Fields of NPU, memory and host are
/// changes under `set`.
ConfigNode design_experiment(const Space& space, const Design& design);

/// ConfigError for a mistake that concerns every design: none of them can be read, or an objective
/// is not a number. A design with a field beyond its limits can be read.
void check_space(const Space& space, NpuFamilies families);

/// How the designs of a space are run; space and families must outlive it.
SweepWork sweep_work(const Space& space, NpuFamilies families);

}  // namespace npuscope
