// SPDX-License-Identifier: Apache-2.0
// Inputs of a model from files: arrays named after its inputs, and folders of them, one for each
// case.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/command_line/model_source.h"
#include "sim/model/graph.h"
#include "sim/quantise/calibration.h"

namespace npuscope {

/// The cases that `path` holds: a folder for each, with a file for each input; or, for a model with
/// one input, a file for each; or one file. An array with more pictures than the model takes at a time
/// is as many cases. In the order of their names. ConfigError where there is none, or one does not fit.
std::vector<Case> read_cases(const Graph& graph, const std::filesystem::path& path);

}  // namespace npuscope
