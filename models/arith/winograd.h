// SPDX-License-Identifier: Apache-2.0
// Winograd convolution F(2x2, 3x3) as the hardware splits it: the sequence controller transforms
// every 4 x 4 patch of the input (C^T D C, then a truncation), the MAC cells multiply it with
// kernels that software transformed beforehand (also 4 x 4) and transform the sums back (A^T M A),
// the accumulator adds the results up. Patches overlap by two; each yields 2 x 2 outputs.
//
//     C^T = | 1  0 -1  0 |      A^T = | 1  1  1  0 |
//           | 0  1  1  0 |            | 0  1 -1 -1 |
//           | 0 -1  1  0 |
//           | 0  1  0 -1 |
//
// source: nv_full C model, csc_libs/csc_cvt.cpp, NV_NVDLA_cmac.h
#pragma once

#include <array>
#include <cstdint>

#include "models/layout/tensor.h"

namespace npuscope {

/// Patches that an output needs.
struct WinogradGrid {
    std::uint32_t rows = 0;
    std::uint32_t columns = 0;

    std::uint32_t patches() const { return rows * columns; }
};

/// Two outputs per patch in each direction.
constexpr WinogradGrid winograd_grid(const Convolution& geometry) {
    return {(geometry.out_height + 1) / 2, (geometry.out_width + 1) / 2};
}

/// One tensor per element of a patch, row by row: channels x 1 x patches.
template <class T>
using WinogradPatches = std::array<Tensor<T>, 16>;

/// Exact, then shifted right by `truncate` with rounding half away from zero, saturated to T.
/// Patch elements outside the input are 0. T: std::int8_t or std::int16_t.
template <class T>
WinogradPatches<T> transform_patches(const Tensor<T>& input, const WinogradGrid& grid,
                                     unsigned truncate);
/// Bit patterns of fp16, every sum rounded to fp17. No truncation.
WinogradPatches<std::int16_t> transform_fp16_patches(const Tensor<std::int16_t>& input,
                                                     const WinogradGrid& grid);

/// Exact sums, [kernel][y][x]; kernels are channels x 4 x 4.
template <class T>
Tensor<std::int64_t> convolve_winograd(const Tensor<T>& input, const Kernels<T>& kernels,
                                       const Convolution& geometry, unsigned truncate);
/// Bit patterns of fp32, with blocks of four channels as the MAC cells process them.
Tensor<std::int32_t> convolve_winograd_fp16(const Tensor<std::int16_t>& input,
                                            const Kernels<std::int16_t>& kernels,
                                            const Convolution& geometry);

/// A^T M A: from 16 sums of a patch to its outputs (0, 0), (0, 1), (1, 0), (1, 1).
constexpr void transform_back(const std::int64_t* sums, std::int64_t* outputs) {
    std::array<std::int64_t, 8> half{};
    for (std::size_t i = 0; i < 4; ++i) {
        half[i] = sums[i] + sums[i + 4] + sums[i + 8];
        half[i + 4] = sums[i + 4] - sums[i + 8] - sums[i + 12];
    }
    for (std::size_t i = 0; i < 2; ++i) {
        outputs[2 * i] = half[4 * i] + half[4 * i + 1] + half[4 * i + 2];
        outputs[2 * i + 1] = half[4 * i + 1] - half[4 * i + 2] - half[4 * i + 3];
    }
}

/// The kernels of a Winograd convolution before they are laid out: channels of strided kernels are
/// extended until the kernel is 3x3, then every channel becomes U = G w G^T, 4x4.
///
///     G = |  1    0    0  |      c' = (sy * stride_x + sx) * channels + c takes the weight
///         | 1/2  1/2  1/2 |           (r * stride_y + sy, s * stride_x + sx), 0 if there is none
///         | 1/2 -1/2  1/2 |
///         |  0    0    1  |
///
/// Values are doubles; storing them as integers truncates fractions. source: NVDLA format page,
/// "Weight for Winograd Convolution"; order of steps: NVDLA compiler, run
struct WinogradExtension {
    std::uint32_t stride_y = 1;
    std::uint32_t stride_x = 1;
    std::uint32_t channels = 0;  ///< of the source, zero-padded: 32 bytes of elements
};

/// K x C x R x S to K x (stride_y * stride_x * channels) x 3 x 3.
Kernels<double> extend_for_winograd(const Kernels<double>& kernels,
                                    const WinogradExtension& extension);
/// K x C x 3 x 3 to K x C x 4 x 4.
Kernels<double> to_winograd(const Kernels<double>& kernels);
/// The inverse, exact where to_winograd() lost no fraction.
Kernels<double> from_winograd(const Kernels<double>& transformed);

}  // namespace npuscope
