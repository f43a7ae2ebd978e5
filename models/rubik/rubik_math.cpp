// SPDX-License-Identifier: Apache-2.0
#include "models/rubik/rubik_math.h"

#include <cstring>

#include "models/base/check.h"

namespace npuscope {

ByteLine interleave_atoms(const std::vector<ByteLine>& lines, Bytes atom) {
    NPU_CHECK(!lines.empty(), "there are lines to interleave");
    const std::size_t length = lines.front().size();
    ByteLine mixed(length * lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
        NPU_CHECK(lines[i].size() == length, "lines of one length are interleaved");
        for (std::size_t at = 0; at < length; at += atom.value) {
            std::memcpy(mixed.data() + at * lines.size() + i * atom.value, lines[i].data() + at,
                        atom.value);
        }
    }
    return mixed;
}

std::vector<ByteLine> split_line(const ByteLine& line, const LineElements& elements,
                                 std::size_t planes, Bytes length) {
    NPU_CHECK(planes <= elements.lanes(), "a line has no more planes than lanes");
    const std::size_t width = line.size() / elements.atom.value;
    const std::size_t size = elements.element.value;
    NPU_CHECK(width * size <= length.value, "a plane's line holds the whole width");
    std::vector<ByteLine> split(planes, ByteLine(length.value));
    for (std::size_t lane = 0; lane < planes; ++lane) {
        for (std::size_t x = 0; x < width; ++x) {
            std::memcpy(split[lane].data() + x * size,
                        line.data() + x * elements.atom.value + lane * size, size);
        }
    }
    return split;
}

ByteLine merge_lines(const std::vector<ByteLine>& planes, const LineElements& elements,
                     std::size_t width) {
    NPU_CHECK(planes.size() <= elements.lanes(), "a line has no more planes than lanes");
    const std::size_t size = elements.element.value;
    ByteLine merged(width * elements.atom.value);
    for (std::size_t lane = 0; lane < planes.size(); ++lane) {
        NPU_CHECK(width * size <= planes[lane].size(), "a plane's line holds the whole width");
        for (std::size_t x = 0; x < width; ++x) {
            std::memcpy(merged.data() + x * elements.atom.value + lane * size,
                        planes[lane].data() + x * size, size);
        }
    }
    return merged;
}

}  // namespace npuscope
