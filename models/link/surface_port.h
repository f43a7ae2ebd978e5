// SPDX-License-Identifier: Apache-2.0
// Whole surfaces through a memory port: functional fetch of a feature cube, and the writing of a
// result cube piece by piece in time, each piece carrying its real bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "models/layout/feature_cube.h"
#include "models/layout/tensor.h"
#include "models/link/byte_stream.h"
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

/// Fetches a cube of elements as wide as T, line by line, without time.
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

/// The same for a cube of either width.
inline ElementTensor fetch_elements(DmaPort& port, const FeatureCube& cube,
                                    const Purpose& purpose) {
    if (cube.element == Bytes(1)) {
        return fetch_cube<std::int8_t>(port, cube, purpose);
    }
    return fetch_cube<std::int16_t>(port, cube, purpose);
}

/// A result on its way to memory. The values are packed once; writes take the bytes from there.
class CubeWriter {
 public:
    /// A tensor without values (time alone) writes zeros; any other has the cube's height and
    /// width, and at least its channels. Several cubes lie one after the other in the tensor's
    /// height: `batch` is the number of the one that is written.
    template <class T>
    CubeWriter(const FeatureCube& cube, const Tensor<T>& tensor, std::uint32_t batch = 0)
        : cube_(cube), values_(!tensor.values.empty()) {
        if (!values_) {
            return;
        }
        bytes_.resize(cube.line_bytes().value * cube.surfaces() * cube.shape.height);
        FeatureCube whole = cube;  // the tensor's extent
        whole.shape = tensor.shape;
        for (std::uint32_t surface = 0; surface < cube.surfaces(); ++surface) {
            for (std::uint32_t y = 0; y < cube.shape.height; ++y) {
                const CubeLine from{surface, batch * cube.shape.height + y};
                pack_line(whole, from, tensor, line(surface, y));
            }
        }
    }
    CubeWriter(const FeatureCube& cube, const ElementTensor& tensor, std::uint32_t batch = 0)
        : CubeWriter(std::visit([&](const auto& values) { return CubeWriter(cube, values, batch); },
                                tensor)) {}

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

// Reads one run of memory after the other through a port of its own, into a buffer from which
// a unit takes the beats in order.

class RunReader {
 public:
    /// `client` and `unit` as DmaPort has them; `name` of the port where a client has several.
    RunReader(const std::string& client, const std::string& unit, const std::string& name)
        : port(client, unit, name) {}

    DmaPort port;

    /// Begins to read; the run before has been taken whole. Requests begin in the next cycle.
    void open(const ByteStreamSetup& setup, const ByteRun& run, const Purpose& purpose);

    /// When a beat that arrives at a time is taken, not before that and not in the past.
    using Pace = std::function<Cycles(Cycles arrival)>;
    /// Takes the beats that hold the first `bytes` bytes, waiting only until all are on their way;
    /// the time at which the last of them was taken, now where there was none.
    Cycles take(Activity& activity, Bytes bytes, const Pace& pace);
    /// The same for beats that are taken as they arrive.
    Cycles take(Activity& activity, Bytes bytes) {
        return take(activity, bytes, [](Cycles arrival) { return arrival; });
    }

 private:
    std::uint64_t buffer_ = 1;
    std::optional<ByteStream> stream_;
};

}  // namespace npuscope
