// SPDX-License-Identifier: Apache-2.0
// Logical tensors: their sizes, their values as plain row-major arrays that the math reads and
// writes, and which of their elements a convolution combines. Where the elements are in memory is a
// layout, not a shape.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <variant>
#include <vector>

#include "models/layout/precision.h"

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

/// A part of a tensor: its first element and its size.
struct TensorPart {
    std::uint32_t channel = 0;
    std::uint32_t line = 0;
    std::uint32_t column = 0;
    Shape shape;
};

/// The part as a separate tensor; it must be inside.
template <class T>
Tensor<T> cut(const Tensor<T>& from, const TensorPart& part) {
    Tensor<T> piece(part.shape);
    for (std::uint32_t c = 0; c < part.shape.channels; ++c) {
        for (std::uint32_t y = 0; y < part.shape.height; ++y) {
            std::copy_n(&from.at(part.channel + c, part.line + y, part.column), part.shape.width,
                        &piece.at(c, y, 0));
        }
    }
    return piece;
}

/// The reverse: writes the elements of `piece` back.
template <class T>
void paste(const Tensor<T>& piece, const TensorPart& place, Tensor<T>& to) {
    for (std::uint32_t c = 0; c < place.shape.channels; ++c) {
        for (std::uint32_t y = 0; y < place.shape.height; ++y) {
            std::copy_n(&piece.at(c, y, 0), place.shape.width,
                        &to.at(place.channel + c, place.line + y, place.column));
        }
    }
}

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

// The elements of feature cubes and weights: one byte (int8), or two (int16, or the bit patterns of
// fp16). The operation defines which of the two-byte types it is.

using ElementTensor = std::variant<Tensor<std::int8_t>, Tensor<std::int16_t>>;
using WeightKernels = std::variant<Kernels<std::int8_t>, Kernels<std::int16_t>>;

inline ElementTensor cut(const ElementTensor& from, const TensorPart& part) {
    return std::visit([&](const auto& values) -> ElementTensor { return cut(values, part); }, from);
}

/// Afterwards `to` has the shape `whole` and the element type of `piece`.
inline void paste(const ElementTensor& piece, const TensorPart& place, const Shape& whole,
                  ElementTensor& to) {
    std::visit(
        [&](const auto& values) {
            using Kind = std::decay_t<decltype(values)>;
            if (!std::holds_alternative<Kind>(to) || std::get<Kind>(to).shape != whole) {
                to = Kind(whole);
            }
            paste(values, place, std::get<Kind>(to));
        },
        piece);
}

/// Kernels `first` to `first + count`.
inline WeightKernels cut(const WeightKernels& from, std::uint32_t first, std::uint32_t count) {
    return std::visit(
        [&](const auto& kernels) -> WeightKernels {
            KernelShape shape = kernels.shape;
            shape.kernels = count;
            auto piece = std::decay_t<decltype(kernels)>(shape);
            std::copy_n(kernels.values.data() + kernels.index(first, 0, 0, 0), shape.elements(),
                        piece.values.data());
            return piece;
        },
        from);
}

inline bool is_empty(const ElementTensor& tensor) {
    return std::visit([](const auto& values) { return values.values.empty(); }, tensor);
}

inline const Shape& shape_of(const ElementTensor& tensor) {
    return std::visit([](const auto& values) -> const Shape& { return values.shape; }, tensor);
}

/// NaNs and infinities among fp16 elements, as the status registers of units count them.
struct SpecialCount {
    std::uint64_t nans = 0;
    std::uint64_t infs = 0;

    bool operator==(const SpecialCount&) const = default;
};

/// For an fp16 tensor, including pad lanes; zero for a tensor of bytes.
/// source: nv_full C model, status registers; NVDLA doc v1/ias/precision.rst, fp16
inline SpecialCount count_specials(const ElementTensor& tensor) {
    SpecialCount count;
    if (const auto* words = std::get_if<Tensor<std::int16_t>>(&tensor)) {
        for (const std::int16_t element : words->values) {
            const int magnitude = element & 0x7FFF;
            count.nans += magnitude > 0x7C00 ? 1U : 0U;
            count.infs += magnitude == 0x7C00 ? 1U : 0U;
        }
    }
    return count;
}

/// The geometry of a convolution: which input element is multiplied with which tap. Output (y, x)
/// and tap (r, s) use input row y * stride_y + r * dilation_y - pad_top, and the same for columns;
/// outside the input it is the padding value. Right and bottom padding follow from the output's
/// size.
struct Convolution {
    std::uint32_t out_height = 1;
    std::uint32_t out_width = 1;
    std::uint32_t stride_y = 1;
    std::uint32_t stride_x = 1;
    std::uint32_t dilation_y = 1;  ///< 1: taps are adjacent
    std::uint32_t dilation_x = 1;
    std::uint32_t pad_top = 0;
    std::uint32_t pad_left = 0;
    std::int32_t pad_value = 0;

    bool operator==(const Convolution&) const = default;
};

/// Rows (or columns) of input that `out` outputs cover, padding included.
constexpr std::uint32_t reach(std::uint32_t out, std::uint32_t stride, std::uint32_t span) {
    return (out - 1) * stride + span;
}
/// Rows (or columns) that a kernel spans.
constexpr std::uint32_t dilated_span(std::uint32_t taps, std::uint32_t dilation) {
    return (taps - 1) * dilation + 1;
}

}  // namespace npuscope
