// SPDX-License-Identifier: Apache-2.0
#include "models/link/surface_port.h"

#include <algorithm>

namespace npuscope {

std::span<const std::uint8_t> CubeWriter::packed(const PixelRun& run) {
    const std::uint64_t atom = cube_.atom.value;
    if (!values_) {
        bytes_.resize(std::max<std::size_t>(bytes_.size(), run.count * atom));
        return {bytes_.data(), run.count * atom};
    }
    const std::uint64_t pixels = std::uint64_t{cube_.shape.width} * cube_.shape.height;
    return {bytes_.data() + (pixels * run.surface + run.first) * atom, run.count * atom};
}

Cycles CubeWriter::write(Activity& writer, DmaPort& port, const PixelRun& run,
                         const Purpose& purpose) {
    const std::uint32_t width = cube_.shape.width;
    const std::uint64_t atom = cube_.atom.value;
    Cycles response = now();
    std::uint64_t pixel = run.first;
    const std::uint64_t end = run.first + run.count;
    while (pixel < end) {
        const std::uint64_t x = pixel % width;
        const std::uint64_t count =
            cube_.line_packed() ? end - pixel : std::min(end - pixel, width - x);
        const Address address =
            cube_.line_address(run.surface, static_cast<std::uint32_t>(pixel / width)) +
            Bytes(x * atom);
        const std::span<const std::uint8_t> bytes = packed({run.surface, pixel, count});
        const Cycles leaves = run.leaves + run.interval * (pixel - run.first);
        response = port.write(writer, {address, bytes, leaves, run.interval}, purpose);
        pixel += count;
    }
    return response;
}

}  // namespace npuscope
