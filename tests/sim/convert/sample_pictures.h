// SPDX-License-Identifier: Apache-2.0
// Small pictures as files hold them, written by the libraries that read them.
#pragma once

#include <png.h>
#include <turbojpeg.h>

#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace npuscope::sample {

/// 1, 2, 3, ..
inline std::vector<std::uint8_t> bytes(std::size_t count) {
    std::vector<std::uint8_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), std::uint8_t{1});
    return numbers;
}

inline std::string png(unsigned width, unsigned height, unsigned format,
                       const std::vector<std::uint8_t>& pixels) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = width;
    image.height = height;
    image.format = format;
    std::string text(4096, '\0');
    png_alloc_size_t size = text.size();
    if (png_image_write_to_memory(&image, text.data(), &size, 0, pixels.data(), 0, nullptr) == 0) {
        throw std::logic_error(image.message);
    }
    text.resize(size);
    return text;
}

inline std::string jpeg(int width, int height, int format,
                        const std::vector<std::uint8_t>& pixels) {
    tjhandle handle = tjInitCompress();
    unsigned char* data = nullptr;
    unsigned long size = 0;  // NOLINT: the library's own type
    const int sampling = format == TJPF_GRAY ? TJSAMP_GRAY : TJSAMP_444;
    tjCompress2(handle, pixels.data(), width, 0, height, format, &data, &size, sampling, 95, 0);
    const std::string text(reinterpret_cast<const char*>(data), size);
    tjFree(data);
    tjDestroy(handle);
    return text;
}

}  // namespace npuscope::sample
