// SPDX-License-Identifier: Apache-2.0
// Running a network whose input or output images lie in files.
#pragma once

#include <optional>
#include <string>

#include "sim/lowering/register_network.h"
#include "sim/run/session.h"

namespace npuscope {

struct NetworkFiles {
    std::string inputs;   ///< folder; empty: values are made up
    std::string outputs;  ///< folder; empty: nothing is written

    bool any() const { return !inputs.empty() || !outputs.empty(); }
};

/// A network for a register program, from a shape table or a model.
struct LoadedNetwork {
    Network network;
    std::optional<ModelEnds> ends{};  ///< of a model
};

/// Whether `path` names a shape table or a model.
bool names_network(const std::string& path);
/// `input`: what a model's input of floats holds.
LoadedNetwork load_network(const std::string& path, InputType input = InputType::Int8);

/// Plans and runs the network; outputs are written where the run passed. ConfigError where
/// `network` is no network's file, or values are left out.
Result run_network_files(const std::string& network, const NetworkFiles& files,
                         const SystemConfig& system, RunOptions options);

}  // namespace npuscope
