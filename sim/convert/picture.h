// SPDX-License-Identifier: Apache-2.0
// Pictures from files, as their pixels: PNG, JPEG, and binary PGM and PPM. Never resized, nothing
// guessed: transparency and 16 bits per channel are rejected, and samples are those that are stored,
// whatever gamma or colour profile the file has. Uses libpng and libjpeg-turbo.
// source: Netpbm, pgm(5) and ppm(5); libpng manual, simplified API; TurboJPEG API 2.1
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace npuscope {

struct Picture {
    std::size_t width = 0;
    std::size_t height = 0;
    std::size_t channels = 0;          ///< 1, or 3: red, green, blue
    std::vector<std::uint8_t> pixels;  ///< height, width, channels; last dimension fastest
};

/// By file name: .png, .jpg, .jpeg, .pgm or .ppm.
bool is_picture_file(const std::filesystem::path& path);
/// Detects the format from the first bytes; `file` is the name used in messages. ConfigError if it
/// is not a picture, is incomplete, or has more than 2^26 pixels.
Picture parse_picture(std::span<const std::uint8_t> bytes, const std::string& file);
Picture read_picture(const std::filesystem::path& path);

}  // namespace npuscope
