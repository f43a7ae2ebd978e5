// SPDX-License-Identifier: Apache-2.0
// Sizes of logical tensors, in elements. Where the elements lie in memory is a layout, not a shape.
#pragma once

#include <cstddef>
#include <cstdint>

namespace npuscope {

/// A feature cube: channels x height x width.
struct Shape {
    std::uint32_t channels = 0;
    std::uint32_t height = 0;
    std::uint32_t width = 0;

    bool operator==(const Shape&) const = default;
    std::size_t elements() const { return static_cast<std::size_t>(channels) * height * width; }
};

/// A set of kernels: K kernels x channels x rows R x columns S.
struct KernelShape {
    std::uint32_t kernels = 0;
    std::uint32_t channels = 0;
    std::uint32_t rows = 0;
    std::uint32_t columns = 0;

    bool operator==(const KernelShape&) const = default;
    std::size_t elements() const {
        return static_cast<std::size_t>(kernels) * channels * rows * columns;
    }
};

}  // namespace npuscope
