// SPDX-License-Identifier: Apache-2.0
// Runs an experiment, a network or a program that the user names; its `write` settings are left to
// the caller.
#pragma once

#include <string>

#include "sim/command_line/experiment.h"
#include "sim/config/system_config.h"
#include "sim/program/read_program.h"
#include "sim/run/result.h"

namespace npuscope {

/// A network is planned for the configured machine; anything else is a program already. Requested
/// outputs and surfaces are written. Throws ConfigError and MachineStopped as run_program() does.
Result run_experiment(const Experiment& experiment, const SystemConfig& system);

/// A program of registers or jobs, for the configured NPU: jobs become those of its family.
/// ConfigError with the place of what is wrong.
Program read_any_program(const std::string& path, const SystemConfig& system, Images images);

}  // namespace npuscope
