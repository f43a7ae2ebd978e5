// SPDX-License-Identifier: Apache-2.0
#include "sim/check/loaded_bytes.h"

#include <algorithm>

namespace npuscope {

void copy_loaded(const MemoryImage& image, std::uint64_t offset, std::span<std::uint8_t> bytes) {
    for (const MemoryImage::Run& run : image.runs) {
        const std::uint64_t begin = std::max(run.offset, offset);
        const std::uint64_t end = std::min(run.offset + run.size, offset + bytes.size());
        if (begin < end) {
            std::copy_n(&image.bytes[run.position + (begin - run.offset)], end - begin,
                        &bytes[begin - offset]);
        }
    }
}

}  // namespace npuscope
