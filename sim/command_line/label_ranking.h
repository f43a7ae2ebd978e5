// SPDX-License-Identifier: Apache-2.0
// The outputs of a classifier, with names: the five largest values of each.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/compile/model_program.h"
#include "sim/run/result.h"

namespace npuscope {

/// The names of classes, and the file that lists them.
struct Labels {
    std::string file{};
    std::vector<std::string> names{};
};

/// One name per line; blank lines at the end do not count. ConfigError for a file that is not a
/// list of names.
Labels read_labels(const std::filesystem::path& path);

/// For outputs with as many elements as there are labels. ConfigError if there is none. `input`:
/// which of several inputs they belong to.
std::vector<Ranking> rank_outputs(const GraphInputs& outputs, const Labels& labels,
                                  std::size_t input);

}  // namespace npuscope
