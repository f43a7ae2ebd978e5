// SPDX-License-Identifier: Apache-2.0
// Runs an experiment; what it says at `write` is left to the caller.
#pragma once

#include "sim/command_line/experiment.h"
#include "sim/run/result.h"

namespace npuscope {

/// A network is planned for the machine at hand; anything else is a program already. Outputs and
/// surfaces that were asked for are written. ConfigError and MachineStopped as run_program() throws.
Result run_experiment(const Experiment& experiment, const SystemConfig& system);

}  // namespace npuscope
