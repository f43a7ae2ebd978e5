// SPDX-License-Identifier: Apache-2.0
// Running a network whose input or output images lie in files.
#pragma once

#include <span>
#include <string>

#include "sim/command_line/model_files.h"
#include "sim/model/network.h"

namespace npuscope {

/// Whether `path` names a shape table or a model.
bool names_network(const std::string& path);

/// The registers that the program `path` may name. ConfigError where the NPU has no public ones.
std::span<const RegisterBlock> registers_of_programs(const std::string& path,
                                                     const SystemConfig& system);

/// A shape table or a model as a graph. ConfigError where it is neither.
Graph read_any_network(const std::string& network);

/// Plans and runs a shape table or a model; outputs are written where the run passed. ConfigError
/// where `network` is no network's file, or values are left out.
Result run_network_files(const std::string& network, const NetworkFiles& files,
                         const SystemConfig& system, RunOptions options);

}  // namespace npuscope
