// SPDX-License-Identifier: Apache-2.0
// `check --prove`: runs a program on the machine and holds each result against the tensor operation
// that its registers, or the descriptors of its jobs, describe.
#pragma once

#include <optional>
#include <string>

#include "sim/check/check_report.h"
#include "sim/command_line/model_proof.h"
#include "sim/config/system_config.h"
#include "sim/program/program.h"

namespace npuscope {

/// Adds a line for each result, and findings. `folder`: gets the inputs, weights and results of the
/// operations as arrays (.npy); empty: nothing is written. `layers`: what the model says of them.
/// Throws as run_program() does, and ConfigError for an NPU whose jobs have no known meaning.
void prove(const Program& written, const SystemConfig& system, const std::string& folder,
           const std::optional<ModelLayers>& layers, CheckReport& report);

}  // namespace npuscope
