// SPDX-License-Identifier: Apache-2.0
// `check --prove`: runs a program on the machine and compares each result with the tensor operation
// that its registers, or the descriptors of its jobs, describe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/check/check_report.h"
#include "sim/check/job_proof.h"
#include "sim/command_line/experiment.h"
#include "sim/command_line/surface_queries.h"
#include "sim/config/system_config.h"
#include "sim/program/program.h"

namespace npuscope {

// `check --prove --model`: the results of a program compared with the layers of the model that it
// was written for. The model is planned as `plan` does it; layers and results of one name belong
// together, and the host computes the expected result of each layer: from the inputs that the
// program loads, or, if the program launches jobs, from random inputs, from which the maps that the
// host provides follow.

struct ModelLayers {
    std::vector<LayerExpectation> expected;
    std::vector<std::string>
        without_result;                      ///< layers of the segment that the program never names
    std::vector<std::string> without_layer;  ///< results of the program that the model lacks
    HostMaps maps{};                         ///< for a program that launches jobs
};

/// ConfigError if the program names no result of a layer of the model, or does not load an input.
ModelLayers model_layers(const Program& program, const std::string& model,
                         const Experiment& experiment, const SystemConfig& system);

/// Adds a line for each result, and findings. `folder`: gets the inputs, weights and results of the
/// operations as arrays (.npy); empty: nothing is written. `layers`: the model's expectations.
/// Throws as run_program() does, and ConfigError for an NPU whose jobs have no known meaning.
void prove(const Program& written, const SystemConfig& system, const std::string& folder,
           const std::optional<ModelLayers>& layers, CheckReport& report);

}  // namespace npuscope
