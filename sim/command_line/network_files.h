// SPDX-License-Identifier: Apache-2.0
// What the user names to be run or checked: a program, or a network with its inputs and outputs in
// files that are named after its tensors.
#pragma once

#include <string>

#include "sim/command_line/experiment.h"
#include "sim/command_line/surface_queries.h"
#include "sim/model/graph.h"
#include "sim/run/session.h"

namespace npuscope {

struct NetworkFiles {
    std::string inputs;   ///< folder; empty: values are synthetic
    std::string outputs;  ///< folder; empty: nothing is written
    ModelChoices model{};
    std::size_t stream = 0;                    ///< frames that are run as a stream as well; 0: none
    NetworkSplit split = NetworkSplit::Batch;  ///< over RunOptions::instances
    std::size_t threads = 0;                   ///< cores for several inputs; 0: all

    bool any() const { return !inputs.empty() || !outputs.empty(); }
};

/// Whether `path` names a shape table or a model.
bool names_network(const std::string& path);

/// What inputs of floats hold.
ValueRanges held_inputs(const Graph& graph, InputType type);

/// Plans and runs a shape table or a model; outputs are written where the run passed. Inputs are
/// DIR/<tensor>.npy of any type that holds the numbers, or DIR/<tensor>.bin in the layout of the
/// NPU's surface where a layer of the NPU reads them from one. Every output is written as
/// <tensor>.npy, and as .bin where the NPU made it and 8 bits hold it. Without inputs the host of a
/// model is simulated for its time alone, and there are no outputs. ConfigError where `network` is no
/// network's file, or values are left out. `queries`: what else is asked of memory; may be null.
Result run_network_files(const std::string& network, const NetworkFiles& files,
                         const SystemConfig& system, const PlanChoices& choices,
                         const RunOptions& options = {}, SurfaceQueries* queries = nullptr);

}  // namespace npuscope
