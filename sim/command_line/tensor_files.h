// SPDX-License-Identifier: Apache-2.0
// Files of a model's inputs and outputs: arrays, and raw bytes of those tensors that have a layout.
//
//     DIR/<tensor>.npy    every output
//     DIR/<tensor>.bin    an output that the NPU computes, in the layout of its surface
//
// Those of a shape table are named after its layers, and all of them have a layout: the one that
// the table declares, row-major by default.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "models/base/diagnostic.h"
#include "models/layout/layout.h"
#include "sim/compile/model_program.h"
#include "sim/compile/surface_files.h"
#include "sim/model/graph.h"
#include "sim/model/network.h"

namespace npuscope {

/// By tensor.
struct TensorFiles {
    std::map<std::string, InputSurface> inputs;  ///< that raw bytes are possible for
    std::map<std::string, Layout> outputs;       ///< that raw bytes are written of
    std::map<std::string, std::string> names;    ///< of an output's files; else the tensor's own
};

/// Of a table on an NPU that runs it as a model, with row-major memory. `graph`: that of the table.
/// ConfigError at the table if it declares an impossible layout.
TensorFiles table_files(const Network& network, const Graph& graph);

/// Writes all outputs, each with this number of cases along its first dimension. Raw bytes of an
/// earlier call do not stay beside an array that they do not belong to. Returns notes on the 8-bit
/// outputs of which no raw bytes are written.
Diagnostics write_outputs(const GraphInputs& outputs, const TensorFiles& files, std::size_t cases,
                          const std::filesystem::path& folder);

}  // namespace npuscope
