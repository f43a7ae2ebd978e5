// SPDX-License-Identifier: Apache-2.0
// Files of text: inputs are read in one piece, outputs appear under their names when all of them is
// there.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "models/base/error.h"

namespace npuscope {

/// ConfigError at `asked_at` where the file cannot be read; the sentence names the path.
std::string read_whole_file(const std::filesystem::path& path, const Place& asked_at = {});

/// Writes to a temporary name beside `path` and renames; makes missing folders. ConfigError where
/// that is impossible; then no temporary file remains. A device or pipe is written as it is.
void write_atomically(const std::filesystem::path& path, std::string_view text);

}  // namespace npuscope
