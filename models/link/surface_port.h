// SPDX-License-Identifier: Apache-2.0
// Whole surfaces through a memory port: functional fetch of a feature cube, and the writing of a
// result cube piece by piece in time, each piece carrying its real bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "models/data/feature_cube.h"
#include "models/link/dma_port.h"

namespace npuscope {

/// A run of pixels of one surface in raster order; pixel i leaves the unit at `leaves` + i *
/// `interval`.
struct PixelRun {
    std::uint32_t surface = 0;
    std::uint64_t first = 0;  ///< y * width + x
    std::uint64_t count = 0;
    Cycles leaves{};
    Cycles interval{};
};

/// Fetches a cube of one-byte elements, line by line, without time.
template <class T>
Tensor<T> fetch_cube(DmaPort& port, const FeatureCube& cube, const Purpose& purpose) {
    if (!purpose.values) {
        return {};
    }
    Tensor<T> tensor(cube.shape);
    std::vector<std::uint8_t> line(cube.line_bytes().value);
    for (std::uint32_t surface = 0; surface < cube.surfaces(); ++surface) {
        for (std::uint32_t y = 0; y < cube.shape.height; ++y) {
            port.fetch(cube.line_address(surface, y), line, purpose);
            unpack_line(cube, CubeLine{surface, y}, line, tensor);
        }
    }
    return tensor;
}

/// A result on its way to memory. The values are packed once; writes take the bytes from there.
class CubeWriter {
 public:
    /// A tensor without values (time alone) writes zeros; any other has the cube's shape, channels
    /// rounded up to whole atoms or not.
    template <class T>
    CubeWriter(const FeatureCube& cube, const Tensor<T>& tensor)
        : cube_(cube), values_(!tensor.values.empty()) {
        if (!values_) {
            return;
        }
        bytes_.resize(cube.line_bytes().value * cube.surfaces() * cube.shape.height);
        for (std::uint32_t surface = 0; surface < cube.surfaces(); ++surface) {
            for (std::uint32_t y = 0; y < cube.shape.height; ++y) {
                pack_line(cube, CubeLine{surface, y}, tensor, line(surface, y));
            }
        }
    }

    /// Writes the pixels of a run, one request for lines without a gap between them; returns the
    /// time of the last response.
    Cycles write(Activity& writer, DmaPort& port, const PixelRun& run, const Purpose& purpose);

 private:
    std::span<std::uint8_t> line(std::uint32_t surface, std::uint32_t y) {
        const std::size_t length = cube_.line_bytes().value;
        return {bytes_.data() + length * (std::size_t{surface} * cube_.shape.height + y), length};
    }
    /// The bytes of a run; its times do not matter here.
    std::span<const std::uint8_t> packed(const PixelRun& run);

    FeatureCube cube_;
    bool values_;
    std::vector<std::uint8_t> bytes_;
};

}  // namespace npuscope
