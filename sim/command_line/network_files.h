// SPDX-License-Identifier: Apache-2.0
// What the user wants to run or check: a program, or a network with its inputs and outputs in files
// that are named after its tensors.
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
    std::size_t stream = 0;                    ///< frames that are also run as a stream; 0: none
    NetworkSplit split = NetworkSplit::Batch;  ///< over RunOptions::instances
    std::size_t threads = 0;                   ///< cores for several inputs; 0: all

    bool any() const { return !inputs.empty() || !outputs.empty(); }
};

/// Whether `path` names a shape table or a model.
bool names_network(const std::string& path);

/// Value ranges of float inputs.
ValueRanges held_inputs(const Graph& graph, InputType type);
/// The same for a network on an NPU without register programs: the inputs of a shape table have the
/// types that it declares.
ValueRanges declared_inputs(const std::string& network, const Graph& graph, InputType type);

/// Plans and runs a shape table or a model; outputs are written if the run passed. Inputs are
/// DIR/<tensor>.npy of any type that holds the values, or DIR/<tensor>.bin in the layout of the
/// NPU's surface if a layer of the NPU reads them from one. Every output is written as
/// <tensor>.npy, and as .bin if the NPU computed it and it fits 8 bits. Without inputs the host of
/// a model is simulated for its timing only, and there are no outputs. ConfigError if `network` is
/// not a network file, or values are left out. `queries`: other queries of memory; may be null.
Result run_network_files(const std::string& network, const NetworkFiles& files,
                         const SystemConfig& system, const PlanChoices& choices,
                         const RunOptions& options = {}, SurfaceQueries* queries = nullptr);

}  // namespace npuscope
