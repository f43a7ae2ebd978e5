// SPDX-License-Identifier: Apache-2.0
#include "models/arith/winograd.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "models/arith/convolve.h"
#include "models/arith/fixed_point.h"
#include "models/arith/float16.h"
#include "models/arith/fp16_mac.h"
#include "models/base/check.h"

namespace npuscope {

namespace {

constexpr std::uint32_t patch_channels = 4;  // source: nv_full C model, 4 x 4 x 4 element blocks

/// C^T D C over a patch of any number type.
template <class Number, class Sum>
void transform_patch(std::array<Number, 16>& patch, Sum sum) {
    const auto lines = [&](std::size_t step, std::size_t across) {
        for (std::size_t i = 0; i < 4; ++i) {
            Number* at = &patch[i * across];
            const std::array<Number, 4> d{at[0], at[step], at[2 * step], at[3 * step]};
            at[0] = sum(d[0], -d[2]);
            at[step] = sum(d[1], d[2]);
            at[2 * step] = sum(d[2], -d[1]);
            at[3 * step] = sum(d[1], -d[3]);
        }
    };
    lines(4, 1);
    lines(1, 4);
}

/// Reads every patch of every channel as Numbers, transforms it and writes it back.
template <class T, class Number, class Widen, class Sum, class Narrow>
WinogradPatches<T> transform_all(const Tensor<T>& input, const WinogradGrid& grid, Widen widen_one,
                                 Sum sum, Narrow narrow_one) {
    WinogradPatches<T> result;
    result.fill(Tensor<T>({input.shape.channels, 1, grid.patches()}));
    std::array<Number, 16> patch{};
    for (std::uint32_t c = 0; c < input.shape.channels; ++c) {
        for (std::uint32_t p = 0; p < grid.patches(); ++p) {
            for (std::uint32_t i = 0; i < 16; ++i) {
                const std::uint32_t y = p / grid.columns * 2 + i / 4;
                const std::uint32_t x = p % grid.columns * 2 + i % 4;
                const bool inside = y < input.shape.height && x < input.shape.width;
                patch[i] = inside ? widen_one(input.at(c, y, x)) : Number{};
            }
            transform_patch(patch, sum);
            for (std::size_t i = 0; i < 16; ++i) {
                result[i].at(c, 0, p) = narrow_one(patch[i]);
            }
        }
    }
    return result;
}

/// The sum of two fp17 numbers, rounded once.
float add_fp17(float a, float b) {
    if (is_nan(a) || is_nan(b)) {
        return is_nan(a) ? a : b;
    }
    const double exact = static_cast<double>(a) + static_cast<double>(b);
    auto rounded = static_cast<float>(exact);
    if (static_cast<double>(rounded) != exact) {
        // truncated, with a sticky last bit for the next rounding
        if (std::abs(static_cast<double>(rounded)) > std::abs(exact)) {
            rounded = std::nextafter(rounded, 0.0F);
        }
        rounded = std::bit_cast<float>(std::bit_cast<std::uint32_t>(rounded) | 1U);
    }
    return narrow_to_fp17(rounded);
}

/// Element (row, column) of all 4 x 4 kernels.
template <class T>
Kernels<T> kernel_element(const Kernels<T>& kernels, std::uint32_t element) {
    const KernelShape& shape = kernels.shape;
    Kernels<T> result({shape.kernels, shape.channels, 1, 1});
    for (std::uint32_t k = 0; k < shape.kernels; ++k) {
        for (std::uint32_t c = 0; c < shape.channels; ++c) {
            result.at(k, c, 0, 0) = kernels.at(k, c, element / 4, element % 4);
        }
    }
    return result;
}

template <class T>
void require_winograd(const Kernels<T>& kernels) {
    NPU_CHECK(kernels.shape.rows == 4 && kernels.shape.columns == 4,
              "transformed kernels have 4 x 4 elements");
}

/// Position of one of a patch's outputs.
struct PatchOutput {
    std::uint32_t y;
    std::uint32_t x;
};

PatchOutput output_of(const WinogradGrid& grid, std::uint32_t patch, std::uint32_t output) {
    return {patch / grid.columns * 2 + output / 2, patch % grid.columns * 2 + output % 2};
}

}  // namespace

template <class T>
WinogradPatches<T> transform_patches(const Tensor<T>& input, const WinogradGrid& grid,
                                     unsigned truncate) {
    return transform_all<T, std::int32_t>(
        input, grid, [](T value) { return std::int32_t{value}; },
        [](std::int32_t a, std::int32_t b) { return a + b; },
        [truncate](std::int32_t value) {
            return saturate_to<T>(shift_right_round<std::int64_t>(value, truncate));
        });
}

WinogradPatches<std::int16_t> transform_fp16_patches(const Tensor<std::int16_t>& input,
                                                     const WinogradGrid& grid) {
    return transform_all<std::int16_t, float>(
        input, grid, [](std::int16_t bits) { return widen_to_fp17(static_cast<Fp16>(bits)); },
        add_fp17, [](float value) { return static_cast<std::int16_t>(narrow_from_fp17(value)); });
}

template <class T>
Tensor<std::int64_t> convolve_winograd(const Tensor<T>& input, const Kernels<T>& kernels,
                                       const Convolution& geometry, unsigned truncate) {
    require_winograd(kernels);
    const WinogradGrid grid = winograd_grid(geometry);
    const WinogradPatches<T> patches = transform_patches(input, grid, truncate);
    const Convolution flat{.out_height = 1, .out_width = grid.patches()};
    std::array<Tensor<std::int64_t>, 16> sums;
    for (std::uint32_t i = 0; i < 16; ++i) {
        sums[i] = convolve_wide(patches[i], kernel_element(kernels, i), flat);
    }
    Tensor<std::int64_t> result({kernels.shape.kernels, geometry.out_height, geometry.out_width});
    for (std::uint32_t k = 0; k < kernels.shape.kernels; ++k) {
        for (std::uint32_t p = 0; p < grid.patches(); ++p) {
            std::array<std::int64_t, 16> patch{};
            std::array<std::int64_t, 4> outputs{};
            for (std::size_t i = 0; i < 16; ++i) {
                patch[i] = sums[i].at(k, 0, p);
            }
            transform_back(patch.data(), outputs.data());
            for (std::uint32_t i = 0; i < 4; ++i) {
                const PatchOutput at = output_of(grid, p, i);
                if (at.y < geometry.out_height && at.x < geometry.out_width) {
                    result.at(k, at.y, at.x) = outputs[i];
                }
            }
        }
    }
    return result;
}

Tensor<std::int32_t> convolve_winograd_fp16(const Tensor<std::int16_t>& input,
                                            const Kernels<std::int16_t>& kernels,
                                            const Convolution& geometry) {
    require_winograd(kernels);
    const WinogradGrid grid = winograd_grid(geometry);
    const WinogradPatches<std::int16_t> patches = transform_fp16_patches(input, grid);
    const std::uint32_t channels = kernels.shape.channels;
    Fp16Columns columns;
    columns.positions = grid.patches();
    columns.kernels = kernels.shape.kernels;
    std::vector<MacElement> elements;
    for (std::uint32_t first = 0; first < channels; first += patch_channels) {
        for (std::uint32_t i = 0; i < 16; ++i) {
            for (std::uint32_t c = first; c < std::min(channels, first + patch_channels); ++c) {
                elements.push_back({c, i / 4, i % 4});
                columns.slots.push_back(static_cast<std::uint8_t>(i));
            }
        }
        columns.block_ends.push_back(elements.size());
    }
    for (std::uint32_t k = 0; k < columns.kernels; ++k) {
        for (const MacElement& element : elements) {
            columns.weights.push_back(
                static_cast<Fp16>(kernels.at(k, element.channel, element.row, element.column)));
        }
    }
    columns.gather = [&](std::size_t first, std::uint32_t* to) {
        for (const MacElement& element : elements) {
            const Tensor<std::int16_t>& part = patches[element.row * 4 + element.column];
            for (std::size_t lane = 0; lane < fp16_lanes; ++lane) {
                const std::size_t patch = std::min(first + lane, columns.positions - 1);
                *to++ = pack_fp16(static_cast<Fp16>(
                    part.at(element.channel, 0, static_cast<std::uint32_t>(patch))));
            }
        }
    };
    Tensor<std::int32_t> result({columns.kernels, geometry.out_height, geometry.out_width});
    Fp16Outputs outputs;
    outputs.results = 4;
    outputs.combine = transform_back;
    outputs.store = [&](std::uint32_t k, std::size_t patch, std::uint32_t output,
                        std::uint32_t bits) {
        const PatchOutput at = output_of(grid, static_cast<std::uint32_t>(patch), output);
        if (at.y < geometry.out_height && at.x < geometry.out_width) {
            result.at(k, at.y, at.x) = static_cast<std::int32_t>(bits);
        }
    };
    convolve_fp16_columns(columns, outputs);
    return result;
}

template WinogradPatches<std::int8_t> transform_patches(const Tensor<std::int8_t>&,
                                                        const WinogradGrid&, unsigned);
template WinogradPatches<std::int16_t> transform_patches(const Tensor<std::int16_t>&,
                                                         const WinogradGrid&, unsigned);
template Tensor<std::int64_t> convolve_winograd(const Tensor<std::int8_t>&,
                                                const Kernels<std::int8_t>&, const Convolution&,
                                                unsigned);
template Tensor<std::int64_t> convolve_winograd(const Tensor<std::int16_t>&,
                                                const Kernels<std::int16_t>&, const Convolution&,
                                                unsigned);

namespace {

/// G times a column of three values.
std::array<double, 4> forward(double a, double b, double c) {
    return {a, (a + b + c) / 2, (a - b + c) / 2, c};
}

/// Recovers the column of three from forward()'s result.
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
