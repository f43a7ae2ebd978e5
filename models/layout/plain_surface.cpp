// SPDX-License-Identifier: Apache-2.0
#include "models/layout/plain_surface.h"

#include <algorithm>

namespace npuscope {

Address in_cube(const FeatureCube& cube, const SurfacePlace& place) {
    const std::uint32_t lanes = cube.channels_per_atom();
    return cube.base + cube.surface_stride * (place.channel / lanes) +
           cube.line_stride * place.row + cube.atom * place.column +
           cube.element * (place.channel % lanes);
}

ByteRun PlainSurface::extent() const {
    Address low = address({});
    Address high = low;
    for_each_place([&](const SurfacePlace& place) {
        low = std::min(low, address(place));
        high = std::max(high, address(place));
    });
    return {low, high - low + Bytes(bytes_of(precision))};
}

void PlainSurface::fill(const std::function<std::int32_t(const SurfacePlace&)>& value) {
    batches = {Tensor<std::int32_t>(shape)};
    for_each_place([&](const SurfacePlace& place) {
        batches[0].at(place.channel, place.row, place.column) = value(place);
    });
}

}  // namespace npuscope
