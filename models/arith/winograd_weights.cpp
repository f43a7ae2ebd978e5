// SPDX-License-Identifier: Apache-2.0
#include "models/arith/winograd_weights.h"

#include <array>

#include "models/base/check.h"

namespace npuscope {

namespace {

/// G times a column of three.
std::array<double, 4> forward(double a, double b, double c) {
    return {a, (a + b + c) / 2, (a - b + c) / 2, c};
}

/// The column of three that forward() made.
std::array<double, 3> backward(double a, double plus, double minus, double c) {
    return {a, plus - minus, c};
}

}  // namespace

Kernels<double> extend_for_winograd(const Kernels<double>& kernels,
                                    const WinogradExtension& extension) {
    const KernelShape& shape = kernels.shape;
    const std::uint32_t sets = extension.stride_y * extension.stride_x;
    NPU_CHECK(shape.rows <= 3 * extension.stride_y && shape.columns <= 3 * extension.stride_x,
              "a kernel of Winograd has three taps for each stride");
    NPU_CHECK(extension.channels >= shape.channels, "channels are only appended");
    Kernels<double> extended({shape.kernels, sets * extension.channels, 3, 3});
    for (std::uint32_t k = 0; k < shape.kernels; ++k) {
        for (std::uint32_t c = 0; c < shape.channels; ++c) {
            for (std::uint32_t r = 0; r < shape.rows; ++r) {
                for (std::uint32_t s = 0; s < shape.columns; ++s) {
                    const std::uint32_t set =
                        r % extension.stride_y * extension.stride_x + s % extension.stride_x;
                    extended.at(k, set * extension.channels + c, r / extension.stride_y,
                                s / extension.stride_x) = kernels.at(k, c, r, s);
                }
            }
        }
    }
    return extended;
}

Kernels<double> to_winograd(const Kernels<double>& kernels) {
    const KernelShape& shape = kernels.shape;
    NPU_CHECK(shape.rows == 3 && shape.columns == 3, "the transform takes 3x3 kernels");
    Kernels<double> transformed({shape.kernels, shape.channels, 4, 4});
    for (std::uint32_t k = 0; k < shape.kernels; ++k) {
        for (std::uint32_t c = 0; c < shape.channels; ++c) {
            std::array<std::array<double, 4>, 3> columns{};
            for (std::uint32_t s = 0; s < 3; ++s) {
                columns[s] =
                    forward(kernels.at(k, c, 0, s), kernels.at(k, c, 1, s), kernels.at(k, c, 2, s));
            }
            for (std::uint32_t r = 0; r < 4; ++r) {
                const auto row = forward(columns[0][r], columns[1][r], columns[2][r]);
                for (std::uint32_t s = 0; s < 4; ++s) {
                    transformed.at(k, c, r, s) = row[s];
                }
            }
        }
    }
    return transformed;
}

Kernels<double> from_winograd(const Kernels<double>& transformed) {
    const KernelShape& shape = transformed.shape;
    NPU_CHECK(shape.rows == 4 && shape.columns == 4, "transformed kernels are 4x4");
    Kernels<double> kernels({shape.kernels, shape.channels, 3, 3});
    for (std::uint32_t k = 0; k < shape.kernels; ++k) {
        for (std::uint32_t c = 0; c < shape.channels; ++c) {
            std::array<std::array<double, 3>, 4> rows{};
            for (std::uint32_t r = 0; r < 4; ++r) {
                rows[r] = backward(transformed.at(k, c, r, 0), transformed.at(k, c, r, 1),
                                   transformed.at(k, c, r, 2), transformed.at(k, c, r, 3));
            }
            for (std::uint32_t s = 0; s < 3; ++s) {
                const auto column = backward(rows[0][s], rows[1][s], rows[2][s], rows[3][s]);
                for (std::uint32_t r = 0; r < 3; ++r) {
                    kernels.at(k, c, r, s) = column[r];
                }
            }
        }
    }
    return kernels;
}

}  // namespace npuscope
