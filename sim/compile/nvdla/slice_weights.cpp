// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/slice_weights.h"

#include <algorithm>
#include <array>
#include <limits>

#include "models/arith/fixed_point.h"

namespace npuscope {
namespace {

constexpr std::uint32_t no_group = std::numeric_limits<std::uint32_t>::max();

/// Whether whole entries hold no more than what is used, up to the entry's own end.
bool fills_entries(std::uint64_t used, Bytes stored, Bytes entry) {
    return divide_up(used, entry.value) == divide_up(stored.value, entry.value);
}

/// Twice G w of three elements in a row.
std::array<int, 4> transformed(const std::array<int, 3>& w) {
    return {2 * w[0], w[0] + w[1] + w[2], w[0] - w[1] + w[2], 2 * w[2]};
}

}  // namespace

std::array<std::int8_t, 16> winograd_taps(const std::array<std::int8_t, 9>& taps) {
    std::array<std::array<int, 4>, 3> half{};  // of each row
    for (std::size_t r = 0; r < 3; ++r) {
        half[r] = transformed({taps[3 * r], taps[3 * r + 1], taps[3 * r + 2]});
    }
    std::array<std::int8_t, 16> result{};
    for (std::size_t j = 0; j < 4; ++j) {
        const std::array<int, 4> column = transformed({half[0][j], half[1][j], half[2][j]});
        for (std::size_t i = 0; i < 4; ++i) {  // four times U
            result[4 * i + j] =
                saturate_to<std::int8_t>(shift_right_round(column[i], 2 + winograd_weight_shift));
        }
    }
    return result;
}

SliceWeights::SliceWeights(const CutTask& task, const ChannelCut& cut, const ChannelSlice& slice,
                           const LayerValues& values)
    : values_(values),
      first_kernel_(slice.output_atom * cut.lanes),
      channels_(slice.channels),
      groups_(slice.kernels),
      columns_(task.shapes.window.columns),
      sparse_(values.zeros() > 0 || cut.group_channels > 0 || task.input.has_holes()) {
    const std::uint32_t per_atom = task.input.cube.channels_per_atom();
    const std::uint32_t lanes = task.input.lanes;
    for (std::uint32_t c = 0; c < slice.channels; ++c) {
        const std::uint32_t stored = slice.input_atom * per_atom + c;
        const std::uint32_t channel = stored / per_atom * lanes + stored % per_atom;
        channels_[c] = cut.group_channels == 0
                           ? Channel{0, channel}
                           : Channel{channel / cut.group_channels, channel % cut.group_channels};
        if (stored % per_atom >= lanes) {
            channels_[c].group = no_group;
        }
    }
    for (std::uint32_t k = 0; k < slice.kernels; ++k) {
        groups_[k] = cut.group_kernels == 0 ? 0 : (first_kernel_ + k) / cut.group_kernels;
    }
}

void SliceWeights::fill(const WeightLayout& weights, std::uint32_t image_channels,
                        std::span<std::uint8_t> bytes) const {
    if (image_channels == 0) {
        fill_weights(weights, bytes,
                     [this](std::uint32_t k, std::uint32_t c, std::uint32_t r, std::uint32_t s) {
                         return at(k, c, r, s);
                     });
        return;
    }
    fill_weights(weights, bytes,
                 [&](std::uint32_t k, std::uint32_t c, std::uint32_t r, std::uint32_t /*s*/) {
                     const std::uint32_t column = c / image_channels;
                     return column < columns_ ? at(k, c % image_channels, r, column)
                                              : std::int8_t{0};
                 });
}

void SliceWeights::fill_winograd(const WeightLayout& weights, std::span<std::uint8_t> bytes) const {
    Kernels<std::int8_t> kernels(weights.shape);
    for (std::uint32_t k = 0; k < weights.shape.kernels; ++k) {
        for (std::uint32_t c = 0; c < channels_.size(); ++c) {
            std::array<std::int8_t, 9> taps{};
            for (std::uint32_t tap = 0; tap < taps.size(); ++tap) {
                taps[tap] = at(k, c, tap / 3, tap % 3);
            }
            std::ranges::copy(winograd_taps(taps), &kernels.at(k, c, 0, 0));
        }
    }
    encode_weights(weights, kernels, bytes);
}

std::optional<SliceCompression> measure_compression(const SliceWeights& weights,
                                                    const WeightLayout& layout, Bytes entry) {
    std::vector<std::uint64_t> groups(layout.groups(), 0);
    for_each_weight(layout,
                    [&](std::uint32_t k, std::uint32_t c, std::uint32_t r, std::uint32_t s) {
                        groups[k / layout.group_kernels] += weights.at(k, c, r, s) != 0 ? 1U : 0U;
                    });
    std::uint64_t used = 0;
    std::uint64_t largest = 0;
    for (const std::uint64_t group : groups) {
        used += group;
        largest = std::max(largest, group);
    }
    const SliceCompression result{stored_weight_bytes(used), Bytes(largest)};
    if (used == 0 || !fills_entries(used, result.values, entry) ||
        !fills_entries(used_mask_bytes(layout).value, stored_mask_bytes(layout), entry)) {
        return std::nullopt;
    }
    return result;
}

}  // namespace npuscope
