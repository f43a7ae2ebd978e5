// SPDX-License-Identifier: Apache-2.0
// Synthetic weights and biases of a shape table's layers. A value depends only on the table's seed,
// the layer and its position in the layer, whichever NPU the table runs on.
#pragma once

#include <cstdint>
#include <span>

namespace npuscope {

/// One sequence of random numbers: a network's seed, and what the numbers are for.
struct RandomStream {
    std::uint64_t seed = 1;
    std::uint64_t stream = 0;
};

/// SplitMix64 with random access.
/// source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014
class RandomNumbers {
 public:
    explicit RandomNumbers(RandomStream stream)
        : start_(mixed(stream.seed * step + stream.stream * 0xd1342543de82ef95U)) {}

    std::uint64_t at(std::uint64_t index) const { return mixed(start_ + (index + 1) * step); }

 private:
    static constexpr std::uint64_t step = 0x9e3779b97f4a7c15U;
    static std::uint64_t mixed(std::uint64_t z) {
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31U);
    }

    std::uint64_t start_;
};

/// Weights and biases of the layer at index `layer` of the table.
class SyntheticLayer {
 public:
    /// `zeros`: percent of the weights that are forced to zero.
    SyntheticLayer(std::uint64_t seed, std::size_t layer, std::uint32_t zeros)
        : weights_({seed, 2 * layer + 1}), biases_({seed, 2 * layer + 2}), zeros_(zeros) {}

    /// Uniform over int8, except those forced to zero; `index` counts kernel, channel within its
    /// group, row and column, the last one fastest.
    std::int8_t weight(std::uint64_t index) const {
        const std::uint64_t number = weights_.at(index);
        return zeros_ > 0 && (number >> 32U) % 100 < zeros_
                   ? std::int8_t{0}
                   : static_cast<std::int8_t>(number & 0xffU);
    }
    /// The weights from `index` on.
    void weights(std::uint64_t index, std::span<std::int8_t> to) const;
    /// Uniform in [-limit, limit].
    std::int16_t bias(std::uint64_t kernel, std::int16_t limit) const {
        const std::uint64_t count = 2 * static_cast<std::uint64_t>(limit) + 1;
        return static_cast<std::int16_t>(static_cast<std::int64_t>(biases_.at(kernel) % count) -
                                         limit);
    }
    std::uint32_t zeros() const { return zeros_; }

 private:
    RandomNumbers weights_;
    RandomNumbers biases_;
    std::uint32_t zeros_;
};

}  // namespace npuscope
