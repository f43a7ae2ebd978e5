// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/compile/nvdla/reference_network.h"

namespace npuscope::reference {

std::vector<std::uint8_t> bytes_of(const Values& result, const StoredCube& stored) {
    const std::uint64_t atom = stored.cube.atom.value;
    const std::uint64_t surfaces = (stored.cube.shape.channels + atom - 1) / atom;
    std::vector<std::uint8_t> bytes(surfaces * result.height * result.width * atom, 0);
    for (std::uint32_t c = 0; c < result.channels; ++c) {
        const std::uint64_t surface = c / stored.lanes;
        for (std::uint32_t y = 0; y < result.height; ++y) {
            for (std::uint32_t x = 0; x < result.width; ++x) {
                const std::uint64_t pixel = (surface * result.height + y) * result.width + x;
                bytes[pixel * atom + c % stored.lanes] =
                    static_cast<std::uint8_t>(result.at(c, y, x));
            }
        }
    }
    return bytes;
}

}  // namespace npuscope::reference
