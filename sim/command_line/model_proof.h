// SPDX-License-Identifier: Apache-2.0
// `check --prove --model`: the results of a program held against the layers of the model that it was
// written for. The model is planned as `plan` does it; layers and results of one name belong
// together, and the host computes what each layer must give: out of the inputs that the program
// loads, or, of a program that launches jobs, out of inputs that are drawn, from which the maps that
// the host brings follow.
#pragma once

#include <string>
#include <vector>

#include "sim/check/job_proof.h"
#include "sim/command_line/experiment.h"
#include "sim/command_line/surface_queries.h"
#include "sim/config/system_config.h"
#include "sim/program/program.h"

namespace npuscope {

struct ModelLayers {
    std::vector<LayerExpectation> expected;
    std::vector<std::string>
        without_result;                      ///< layers of the segment that the program never names
    std::vector<std::string> without_layer;  ///< results of the program that the model lacks
    HostMaps maps{};                         ///< of a program that launches jobs
};

/// ConfigError where the program names no result of a layer of the model, or does not load an input.
ModelLayers model_layers(const Program& program, const std::string& model,
                         const Experiment& experiment, const SystemConfig& system);

}  // namespace npuscope
