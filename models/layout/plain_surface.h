// SPDX-License-Identifier: Apache-2.0
// What an operation leaves in memory as plain numbers: elements as sign-extended bits, and the
// address of each by the formula of its format. A proof compares these with what the machine
// leaves; a unit that runs on its own describes its result this way (`plain_result`, `meaning_of`),
// in loops that share nothing with its math.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/layout/feature_cube.h"
#include "models/layout/precision.h"
#include "models/layout/tensor.h"

namespace npuscope {

/// Position of an element of a surface.
struct SurfacePlace {
    std::uint32_t batch = 0;
    std::uint32_t channel = 0;
    std::uint32_t row = 0;
    std::uint32_t column = 0;

    bool operator==(const SurfacePlace&) const = default;
};

/// Byte of the element in a cube of one batch.
Address in_cube(const FeatureCube& cube, const SurfacePlace& place);

/// The element of `bytes` bytes in memory at an address, sign-extended.
using ElementReader = std::function<std::int32_t(Address address, Bytes bytes)>;

struct PlainSurface {
    Shape shape;  ///< of one batch, including computed lanes beyond the channels
    Precision precision = Precision::Int8;
    std::vector<Tensor<std::int32_t>> batches{};
    std::function<Address(const SurfacePlace&)> address{};
    bool is_unsigned = false;  ///< for people: bits of Int8 are those of uint8

    /// From the lowest to the highest byte.
    ByteRun extent() const;
    /// One batch, each element as the function returns it.
    void fill(const std::function<std::int32_t(const SurfacePlace&)>& value);
    /// Calls `visit` for every position, columns fastest.
    template <class Visit>
    void for_each_place(Visit visit) const {
        for (std::uint32_t n = 0; n < batches.size(); ++n) {
            for (std::uint32_t c = 0; c < shape.channels; ++c) {
                for (std::uint32_t y = 0; y < shape.height; ++y) {
                    for (std::uint32_t x = 0; x < shape.width; ++x) {
                        visit(SurfacePlace{n, c, y, x});
                    }
                }
            }
        }
    }
};

}  // namespace npuscope
