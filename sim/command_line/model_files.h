// SPDX-License-Identifier: Apache-2.0
// Running a model on an NPU with registers and the host beside it, with its inputs and outputs in
// files that are named after its tensors.
#pragma once

#include <string>

#include "sim/compile/nvdla/nvdla_target.h"
#include "sim/run/session.h"

namespace npuscope {

struct NetworkFiles {
    std::string inputs;   ///< folder; empty: values are made up
    std::string outputs;  ///< folder; empty: nothing is written

    bool any() const { return !inputs.empty() || !outputs.empty(); }
};

/// Inputs are DIR/<tensor>.npy of any type that holds the numbers, or DIR/<tensor>.bin in the
/// layout of the NPU's surface where a layer of the NPU reads them. Every output is written as
/// <tensor>.npy, and as .bin where the NPU made it and 8 bits hold it. Without inputs time alone is
/// simulated on the host, and outputs cannot be written.
Result run_model_files(const std::string& model, const NetworkFiles& files,
                       const SystemConfig& system, const RunOptions& options);

}  // namespace npuscope
