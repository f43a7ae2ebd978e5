// SPDX-License-Identifier: Apache-2.0
#include "tests/support/full_layer_weights.h"

#include <algorithm>
#include <array>

#include "tests/support/oracle_number.h"

namespace npuscope {

namespace {

using oracle::FullLayer;
using oracle::Mode;

/// Kernels as they are stored: [k][c][r][s] of extended sizes.
struct Kernels {
    std::uint32_t kernels, channels, rows, columns;
    std::vector<std::int64_t> values;

    std::int64_t& at(std::uint32_t k, std::uint32_t c, std::uint32_t r, std::uint32_t s) {
        return values[((std::size_t{k} * channels + c) * rows + r) * columns + s];
    }
};

Kernels sized(std::uint32_t k, std::uint32_t c, std::uint32_t r, std::uint32_t s) {
    return {k, c, r, s, std::vector<std::int64_t>(std::size_t{k} * c * r * s)};
}

/// Channel c of kernel k as 3 x 3 taps of one phase of the strides, transformed: G w G^T.
void put_patch(const std::array<std::int64_t, 9>& w, std::uint32_t k, std::uint32_t c,
               Kernels& result) {
    // columns of G times two; every tap is a multiple of four, so nothing is lost
    constexpr std::array<std::array<std::int64_t, 3>, 4> kTwiceG{
        {{2, 0, 0}, {1, 1, 1}, {1, -1, 1}, {0, 0, 2}}};
    for (std::uint32_t i = 0; i < 4; ++i) {
        for (std::uint32_t j = 0; j < 4; ++j) {
            std::int64_t sum = 0;
            for (std::uint32_t tap = 0; tap < 9; ++tap) {
                sum += kTwiceG[i][tap / 3] * kTwiceG[j][tap % 3] * w[tap];
            }
            result.at(k, c, i, j) = sum / 4;
        }
    }
}

Kernels winograd_kernels(const FullLayer& layer) {
    const std::uint32_t padded = oracle::round_up(layer.channels, layer.atom());
    Kernels result = sized(layer.kernels, padded * layer.stride_y * layer.stride_x, 4, 4);
    for (std::uint32_t k = 0; k < layer.kernels; ++k) {
        for (std::uint32_t c = 0; c < layer.channels; ++c) {
            for (std::uint32_t phase = 0; phase < layer.stride_y * layer.stride_x; ++phase) {
                std::array<std::int64_t, 9> taps{};
                for (std::uint32_t tap = 0; tap < 9; ++tap) {
                    const std::uint32_t r = tap / 3 * layer.stride_y + phase / layer.stride_x;
                    const std::uint32_t s = tap % 3 * layer.stride_x + phase % layer.stride_x;
                    if (r < layer.rows && s < layer.columns) {
                        taps[tap] = layer.weights[layer.weight_index(k, c, r, s)];
                    }
                }
                put_patch(taps, k, phase * padded + c, result);
            }
        }
    }
    return result;
}

Kernels stored_kernels(const FullLayer& layer) {
    if (layer.mode == Mode::Winograd) {
        return winograd_kernels(layer);
    }
    const bool image = layer.mode == Mode::Image;
    Kernels result = image ? sized(layer.kernels, layer.channels * layer.columns, layer.rows, 1)
                           : sized(layer.kernels, layer.channels, layer.rows, layer.columns);
    for (std::uint32_t k = 0; k < layer.kernels; ++k) {
        for (std::uint32_t c = 0; c < layer.channels; ++c) {
            for (std::uint32_t r = 0; r < layer.rows; ++r) {
                for (std::uint32_t s = 0; s < layer.columns; ++s) {
                    const std::int64_t value = layer.weights[layer.weight_index(k, c, r, s)];
                    (image ? result.at(k, s * layer.channels + c, r, 0) : result.at(k, c, r, s)) =
                        value;
                }
            }
        }
    }
    return result;
}

/// A kernel's element and the keys that sort it into the order of memory.
struct Placed {
    std::array<std::uint32_t, 6> keys;
    std::int64_t value;
};

std::vector<Placed> in_memory_order(const FullLayer& layer, Kernels kernels) {
    const std::uint32_t group = 32 / layer.bytes();
    std::vector<Placed> placed;
    for (std::uint32_t k = 0; k < kernels.kernels; ++k) {
        for (std::uint32_t c = 0; c < kernels.channels; ++c) {
            for (std::uint32_t r = 0; r < kernels.rows; ++r) {
                for (std::uint32_t s = 0; s < kernels.columns; ++s) {
                    const std::int64_t value = kernels.at(k, c, r, s);
                    if (layer.mode == Mode::Winograd) {
                        placed.push_back({{k / group, c / 4, k, r, s, c}, value});
                    } else if (layer.row_group > 1) {
                        placed.push_back({{k / group, r / layer.row_group, k, r, c, 0}, value});
                    } else {
                        placed.push_back({{k / group, c / 64, r, s, k, c}, value});
                    }
                }
            }
        }
    }
    std::ranges::sort(placed, {}, &Placed::keys);
    return placed;
}

void append(std::vector<std::uint8_t>& bytes, std::uint32_t value, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
        bytes.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
    }
}

void fill_up(std::vector<std::uint8_t>& bytes, std::size_t unit) {
    while (bytes.size() % unit != 0) {
        bytes.push_back(0);
    }
}

}  // namespace

StoredWeights store_weights(const oracle::FullLayer& layer, bool compressed) {
    const Kernels kernels = stored_kernels(layer);
    StoredWeights stored;
    stored.kernel_bytes = kernels.channels * kernels.rows * kernels.columns * layer.bytes();
    std::vector<std::uint32_t> sizes((layer.kernels * layer.bytes() + 31) / 32, 0);
    std::size_t bit = 0;
    for (const Placed& element : in_memory_order(layer, kernels)) {
        const std::uint16_t bits = oracle::element_bits(element.value, layer.type);
        if (compressed && bit % 8 == 0) {
            stored.mask.push_back(0);
        }
        if (!compressed || bits != 0) {
            append(stored.weights, bits, layer.bytes());
            sizes[element.keys[0]] += layer.bytes();
        }
        if (compressed && bits != 0) {
            stored.mask.back() |= static_cast<std::uint8_t>(1U << (bit % 8));
        }
        ++bit;
    }
    if (stored.weights.empty()) {
        stored.weights.push_back(0);
    }
    fill_up(stored.weights, 128);
    fill_up(stored.mask, 128);
    if (compressed) {
        for (const std::uint32_t size : sizes) {
            append(stored.sizes, size, 4);
        }
        fill_up(stored.sizes, 32);
    }
    stored.weight_register = static_cast<std::uint32_t>(stored.weights.size());
    return stored;
}

}  // namespace npuscope
