// SPDX-License-Identifier: Apache-2.0
// Logical values, free of any memory layout: plain row-major arrays that the math reads and writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/layout/shape.h"

namespace npuscope {

/// channels x height x width, channel slowest: element (c, y, x) is values[(c * H + y) * W + x].
template <class T>
struct Tensor {
    Shape shape;
    std::vector<T> values;

    Tensor() = default;
    explicit Tensor(const Shape& size, T fill = T{}) : shape(size), values(size.elements(), fill) {}

    std::size_t index(std::uint32_t c, std::uint32_t y, std::uint32_t x) const {
        return (static_cast<std::size_t>(c) * shape.height + y) * shape.width + x;
    }
    T& at(std::uint32_t c, std::uint32_t y, std::uint32_t x) { return values[index(c, y, x)]; }
    const T& at(std::uint32_t c, std::uint32_t y, std::uint32_t x) const {
        return values[index(c, y, x)];
    }
    bool operator==(const Tensor&) const = default;
};

/// kernels x channels x rows x columns, kernel slowest.
template <class T>
struct Kernels {
    KernelShape shape;
    std::vector<T> values;

    Kernels() = default;
    explicit Kernels(const KernelShape& size, T fill = T{})
        : shape(size), values(size.elements(), fill) {}

    std::size_t index(std::uint32_t k, std::uint32_t c, std::uint32_t r, std::uint32_t s) const {
        return ((static_cast<std::size_t>(k) * shape.channels + c) * shape.rows + r) *
                   shape.columns +
               s;
    }
    T& at(std::uint32_t k, std::uint32_t c, std::uint32_t r, std::uint32_t s) {
        return values[index(k, c, r, s)];
    }
    const T& at(std::uint32_t k, std::uint32_t c, std::uint32_t r, std::uint32_t s) const {
        return values[index(k, c, r, s)];
    }
};

}  // namespace npuscope
