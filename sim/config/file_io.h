// SPDX-License-Identifier: Apache-2.0
// Files as a whole: inputs are regular files of a reasonable size and are read in one piece,
// outputs appear under their names only when complete.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/error.h"
#include "models/base/quantity.h"

namespace npuscope {

/// Size limits for files of each kind: far more than any reasonable file, far less than memory.
inline constexpr Bytes largest_config{std::uint64_t{64} << 20U};    ///< YAML, settings
inline constexpr Bytes largest_program{std::uint64_t{512} << 20U};  ///< a register trace
inline constexpr Bytes largest_file{std::uint64_t{2} << 30U};       ///< images, arrays, models

/// ConfigError at `asked_at` if the file cannot be read, is not a regular file (a folder, a device,
/// a pipe, which may have no end) or is larger than `most`; the message names the path.
std::string read_whole_file(const std::filesystem::path& path, const Place& asked_at = {},
                            Bytes most = largest_file);
std::vector<std::uint8_t> read_whole_bytes(const std::filesystem::path& path,
                                           const Place& asked_at = {}, Bytes most = largest_file);

/// Whether anything of that name exists. ConfigError if that cannot be determined.
bool file_exists(const std::filesystem::path& path);

/// Whether the name denotes a device, a pipe or an open descriptor (/dev/stdout), which is written
/// directly and never replaced by a file.
bool is_stream(const std::filesystem::path& path);

/// Writes to a temporary file next to `path` and renames it; creates missing folders. ConfigError
/// if that is impossible; then no temporary file remains. A stream is written directly.
/// Messages name `for_path` if it is given: what `path` will become.
void write_atomically(const std::filesystem::path& path, std::string_view text,
                      const std::filesystem::path& for_path = {});

/// ConfigError, which names `path`, if not all of `text` could be written.
void write_to(int descriptor, std::string_view text, const std::filesystem::path& path);

/// Creates the folder that contains `path`, and returns it.
std::filesystem::path make_folder_of(const std::filesystem::path& path);

}  // namespace npuscope
