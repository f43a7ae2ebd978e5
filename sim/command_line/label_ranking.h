// SPDX-License-Identifier: Apache-2.0
// What a classifier's outputs say, with names: the five largest numbers of each.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/compile/model_program.h"
#include "sim/run/result.h"

namespace npuscope {

/// A name a line; blank lines at the end do not count. ConfigError for a file that is no text of
/// names.
std::vector<std::string> read_labels(const std::filesystem::path& path);

/// Of the outputs that have as many numbers as there are labels. ConfigError where there is none.
/// `input`: which of several inputs they belong to.
std::vector<Ranking> rank_outputs(const GraphInputs& outputs,
                                  const std::vector<std::string>& labels, std::size_t input);

}  // namespace npuscope
