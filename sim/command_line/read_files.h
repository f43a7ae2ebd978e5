// SPDX-License-Identifier: Apache-2.0
// Files that a command reads though the command line names only what leads to them: the images of
// a program or of a memory image, the files of a plan, the weights of a model, the arrays and
// pictures in a folder. Outputs must not overwrite them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace npuscope {

struct Experiment;
class Space;

/// For a register program or its folder, or the description of a memory image: the images that it
/// loads or compares with, and what `plan` wrote beside it; for a model, its weights that are not
/// in its own file. Some may not exist. Nothing for other programs, nor beyond a mistake in one,
/// which its reader reports.
std::vector<std::string> files_of_program(const std::filesystem::path& program);

/// All that an experiment reads, except for the presets of NPU and memory. A file or folder may be
/// named more than once. ConfigError if a bundled one is unknown.
std::vector<std::string> files_of_experiment(const Experiment& experiment);

/// The same for all designs of a sweep, with their presets.
std::vector<std::string> files_of_space(const Space& space);

/// The arrays, pictures and raw bytes in a folder of inputs, and in its folders. For a shape table
/// only those that are named after its inputs.
std::vector<std::string> files_of_inputs(const std::filesystem::path& folder,
                                         const std::filesystem::path& network = {});

}  // namespace npuscope
