// SPDX-License-Identifier: Apache-2.0
// Nothing is half-written: an output file appears under its name when all of it is there.
#pragma once

#include <filesystem>
#include <string_view>

namespace npuscope {

/// Writes to a temporary name beside `path` and renames; makes missing folders. ConfigError where
/// that is impossible; then no temporary file stays behind. A device or pipe is written as it is.
void write_atomically(const std::filesystem::path& path, std::string_view text);

}  // namespace npuscope
