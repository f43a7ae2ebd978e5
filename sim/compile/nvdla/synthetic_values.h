// SPDX-License-Identifier: Apache-2.0
// Synthetic weights, biases and inputs, or the weights and biases of a model, and the scales of
// their sums. A synthetic value depends only on the network's seed, the layer and its position in
// the layer: however a layer is cut, ordered or compressed, its values stay, and so do the results.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "models/arith/fixed_point.h"
#include "models/base/check.h"
#include "models/layout/tensor.h"
#include "models/layout/weight_layout.h"
#include "sim/model/network.h"
#include "sim/model/synthetic_numbers.h"

namespace npuscope {

/// A network's input, uniform over int8.
class InputValues {
 public:
    InputValues(std::uint64_t seed, const Shape& shape) : numbers_({seed, 0}), shape_(shape) {}
    /// For the input that is the network's layer of this number.
    InputValues(std::uint64_t seed, const Shape& shape, std::size_t layer)
        : numbers_({seed, 2 * layer + 1}), shape_(shape) {}

    std::int8_t at(std::uint32_t c, std::uint32_t y, std::uint32_t x) const {
        const std::uint64_t index = (std::uint64_t{c} * shape_.height + y) * shape_.width + x;
        return static_cast<std::int8_t>(numbers_.at(index) & 0xffU);
    }

 private:
    RandomNumbers numbers_;
    Shape shape_;
};

/// How the SDP brings sums of synthetic values back to int8: weights and inputs are uniform over
/// int8, and the spread of each layer's results neither saturates nor vanishes; it depends only on
/// the number of products in a sum.
struct Rescale {
    Conversion convertor;         ///< accumulator to int8
    unsigned residual_shift = 0;  ///< brings an int8 residual to the accumulator's scale
    std::int16_t bias_limit = 0;  ///< largest bias, before its shift
    unsigned bias_shift = 0;      ///< of the bias, to the accumulator's scale
};

/// For sums of this many int8 products, of which `zeros` percent have a zero weight.
Rescale rescale_sum(std::uint64_t products, std::uint32_t zeros = 0);

/// For the sum of two int8 values: three quarters of it.
Conversion rescale_add();

/// For the product of two int8 values.
Conversion rescale_mul();

/// Table of a lookup, for -128 to 127: a model's, or negative numbers divided by 8.
std::vector<std::int8_t> layer_table(const Network& network, std::size_t layer);

/// Weights and biases of one layer, synthetic unless a model provides them.
class LayerValues {
 public:
    /// `kernels`: as the layer has them, channels of one group; `zeros`: percent of the weights
    /// that are forced to zero.
    LayerValues(std::uint64_t seed, std::size_t layer, const KernelShape& kernels,
                std::uint32_t zeros)
        : synthetic_(seed, layer, zeros), kernels_(kernels), zeros_(zeros) {}
    /// Those of `numbers`, which must outlive this.
    LayerValues(const LayerNumbers& numbers, const KernelShape& kernels);

    /// Uniform over int8, except for those forced to zero; a model's may have 16 bits.
    std::int16_t weight(std::uint32_t k, std::uint32_t c, std::uint32_t r, std::uint32_t s) const {
        const std::uint64_t index =
            ((std::uint64_t{k} * kernels_.channels + c) * kernels_.rows + r) * kernels_.columns + s;
        if (given_ != nullptr) {
            const bool wide = !given_->wide_weights.empty();
            return wide ? given_->wide_weights[index] : std::int16_t{given_->weights[index]};
        }
        return synthetic_.weight(index);
    }
    /// int8 weights of one kernel from this channel on, as many as there is room for. Not for a
    /// model's 16-bit weights.
    void of_kernel(std::uint32_t k, std::uint32_t first_channel, std::span<std::int8_t> to) const {
        const std::uint64_t index = (std::uint64_t{k} * kernels_.channels + first_channel) *
                                    kernels_.rows * kernels_.columns;
        if (given_ == nullptr) {
            synthetic_.weights(index, to);
            return;
        }
        std::copy_n(given_->weights.begin() + static_cast<std::ptrdiff_t>(index), to.size(),
                    to.begin());
    }
    /// Uniform in [-limit, limit].
    std::int16_t bias(std::uint32_t k, std::int16_t limit) const {
        return synthetic_.bias(k, limit);
    }
    /// Scales and biases of synthetic sums of this many products that are this many bits smaller.
    LayerNumbers synthetic_numbers(std::uint64_t products, unsigned smaller_by) const;
    /// Percent of the weights that are zero beyond chance.
    std::uint32_t zeros() const { return zeros_; }
    /// Null where they are synthetic.
    const LayerNumbers* given() const { return given_; }

 private:
    SyntheticLayer synthetic_;
    KernelShape kernels_;
    std::uint32_t zeros_;
    const LayerNumbers* given_ = nullptr;
};

/// For the network's layer with this number, a conv or fc.
LayerValues layer_values(const Network& network, const LayerShapes& shapes, std::size_t layer);

/// Indices from `begin` up to, but excluding, `end`.
struct IndexSpan {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
};

/// Calls visit(kernel, channels, row, column) for the weights of direct or image mode in memory
/// order: those of one tap and of consecutive channels are neighbours.
template <class Visit>
void for_each_tap(const WeightLayout& layout, const Visit& visit) {
    const KernelShape& shape = layout.shape;
    NPU_CHECK(!layout.winograd && (layout.row_group == 1 || shape.columns == 1),
              "transformed kernels have an order of their own");
    const bool rows_together = layout.row_group > 1;
    const std::uint32_t cube = rows_together ? shape.channels : layout.cube_channels;
    const auto visit_kernels = [&](const IndexSpan& kernels, const IndexSpan& rows,
                                   const IndexSpan& channels, std::uint32_t column) {
        for (std::uint32_t k = kernels.begin; k < kernels.end; ++k) {
            for (std::uint32_t row = rows.begin; row < rows.end; ++row) {
                visit(k, channels, row, column);
            }
        }
    };
    for (std::uint32_t group = 0; group < layout.groups(); ++group) {
        const std::uint32_t first = group * layout.group_kernels;
        const IndexSpan kernels{first, first + layout.kernels_of_group(group)};
        for (std::uint32_t begin = 0; begin < shape.channels; begin += cube) {
            const IndexSpan channels{begin, std::min(begin + cube, shape.channels)};
            for (std::uint32_t r = 0; r < shape.rows; r += layout.row_group) {
                const IndexSpan rows{r, std::min(r + layout.row_group, shape.rows)};
                for (std::uint32_t s = 0; s < shape.columns; ++s) {
                    visit_kernels(kernels, rows, channels, s);
                }
            }
        }
    }
}

/// Calls visit(kernel, channel, row, column) for every one of them.
template <class Visit>
void for_each_weight(const WeightLayout& layout, const Visit& visit) {
    for_each_tap(layout, [&](std::uint32_t k, const IndexSpan& channels, std::uint32_t row,
                             std::uint32_t column) {
        for (std::uint32_t c = channels.begin; c < channels.end; ++c) {
            visit(k, c, row, column);
        }
    });
}

/// at(kernel, channel, row, column) of every weight in the layout's order, zeros after them.
template <class At>
void fill_weights(const WeightLayout& layout, std::span<std::uint8_t> bytes, const At& at) {
    NPU_CHECK(bytes.size() >= layout.stored_bytes().value, "the image is smaller than the weights");
    std::size_t position = 0;
    for_each_weight(layout,
                    [&](std::uint32_t k, std::uint32_t c, std::uint32_t r, std::uint32_t s) {
                        const int weight = at(k, c, r, s);
                        bytes[position++] = static_cast<std::uint8_t>(weight);
                        if (layout.element == Bytes(2)) {
                            bytes[position++] = static_cast<std::uint8_t>(weight >> 8);
                        }
                    });
    std::ranges::fill(bytes.subspan(position), std::uint8_t{0});
}

/// Operands of consecutive kernels, for channels of whole atoms.
struct BiasShape {
    std::uint32_t atoms = 0;
    std::uint32_t channels_per_atom = 8;
    std::uint32_t lanes = 8;
    std::uint32_t channels = 0;  ///< of the layer, without unused lanes
};
/// Little-endian 16-bit biases, each followed by its kernel's factor where there are any; unused
/// lanes are zero.
void fill_operands(const BiasShape& shape, std::span<std::uint8_t> bytes,
                   std::span<const std::int16_t> biases, std::span<const std::int16_t> factors);

}  // namespace npuscope
