// SPDX-License-Identifier: Apache-2.0
// Files as a whole: inputs are regular files of a size that makes sense and are read in one piece,
// outputs appear under their names when all of them is there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/error.h"
#include "models/base/quantity.h"

namespace npuscope {

/// What a file of one kind may take: far more than any that makes sense, far less than memory.
inline constexpr Bytes largest_config{std::uint64_t{64} << 20U};    ///< YAML, settings
inline constexpr Bytes largest_program{std::uint64_t{512} << 20U};  ///< a register trace
inline constexpr Bytes largest_file{std::uint64_t{2} << 30U};       ///< images, arrays, models

/// ConfigError at `asked_at` where the file cannot be read, is no regular file (a folder, a device, a
/// pipe, which may have no end) or is larger than `most`; the sentence names the path.
std::string read_whole_file(const std::filesystem::path& path, const Place& asked_at = {},
                            Bytes most = largest_file);
std::vector<std::uint8_t> read_whole_bytes(const std::filesystem::path& path,
                                           const Place& asked_at = {}, Bytes most = largest_file);

/// Whether there is something of that name. ConfigError where that cannot be known.
bool file_exists(const std::filesystem::path& path);

/// Writes to a temporary file beside `path` and renames it; makes missing folders. ConfigError where
/// that is impossible; then no temporary file remains. A device, a pipe or an open descriptor
/// (/dev/stdout) is written as it is.
void write_atomically(const std::filesystem::path& path, std::string_view text);

/// ConfigError, which names `path`, where not all of `text` could be written.
void write_to(int descriptor, std::string_view text, const std::filesystem::path& path);

/// Makes the folder that `path` lies in, and gives it.
std::filesystem::path make_folder_of(const std::filesystem::path& path);

}  // namespace npuscope
