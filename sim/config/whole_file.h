// SPDX-License-Identifier: Apache-2.0
// Input files are read in one piece.
#pragma once

#include <filesystem>
#include <string>

#include "models/base/error.h"

namespace npuscope {

/// ConfigError at `asked_at` where the file cannot be read; the sentence names the path.
std::string read_whole_file(const std::filesystem::path& path, const Place& asked_at = {});

}  // namespace npuscope
