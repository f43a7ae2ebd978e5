// SPDX-License-Identifier: Apache-2.0
#include "models/link/surface_port.h"

#include <algorithm>

namespace npuscope {

Cycles CubeWriter::write(Activity& writer, DmaPort& port, const PixelRun& run,
                         const Purpose& purpose) {
    const std::uint32_t width = cube_.shape.width;
    const std::uint64_t atom = cube_.atom.value;
    Cycles response = now();
    std::uint64_t pixel = run.first;
    const std::uint64_t end = run.first + run.count;
    while (pixel < end) {
        const auto y = static_cast<std::uint32_t>(pixel / width);
        const std::uint64_t x = pixel % width;
        const std::uint64_t count = std::min<std::uint64_t>(end - pixel, width - x);
        const auto bytes = line(run.surface, y).subspan(x * atom, count * atom);
        const Address address = cube_.line_address(run.surface, y) + Bytes(x * atom);
        response = port.write(writer, address, bytes, purpose);
        pixel += count;
    }
    return response;
}

}  // namespace npuscope
