// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/synthetic_values.h"

#include <algorithm>
#include <cstring>

#include "models/base/check.h"

namespace npuscope {
namespace {

/// SplitMix64. source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014
class Random {
 public:
    explicit Random(RandomStream stream)
        : state_(stream.seed * 0x9e3779b97f4a7c15U + stream.stream * 0xd1342543de82ef95U) {
        next();
    }

    std::uint64_t next() {
        state_ += 0x9e3779b97f4a7c15U;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31U);
    }

 private:
    std::uint64_t state_;
};

/// Calls visit(kernel, channel) for every stored weight, in order.
template <class Visit>
void for_each_weight(const WeightLayout& layout, Visit visit) {
    const std::uint32_t taps = layout.shape.rows * layout.shape.columns;
    for (std::uint32_t group = 0; group < layout.groups(); ++group) {
        const std::uint32_t first = group * layout.group_kernels;
        for (std::uint32_t cube = 0; cube < layout.shape.channels; cube += layout.cube_channels) {
            const std::uint32_t end = std::min(cube + layout.cube_channels, layout.shape.channels);
            for (std::uint32_t tap = 0; tap < taps; ++tap) {
                for (std::uint32_t k = 0; k < layout.kernels_of_group(group); ++k) {
                    for (std::uint32_t c = cube; c < end; ++c) {
                        visit(first + k, c);
                    }
                }
            }
        }
    }
}

}  // namespace

void fill_random(std::span<std::uint8_t> bytes, RandomStream stream) {
    Random random(stream);
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
        std::uint64_t value = random.next();
        const std::size_t size = std::min(sizeof value, bytes.size() - at);
        std::memcpy(bytes.data() + at, &value, size);
    }
}

void fill_weights(const WeightLayout& layout, std::span<std::uint8_t> bytes, RandomStream stream,
                  const WeightMask& mask) {
    NPU_CHECK(bytes.size() >= layout.stored_bytes().value, "the image is smaller than the weights");
    NPU_CHECK(layout.row_group == 1 && layout.element == Bytes(1),
              "weights are made up for direct convolution of int8 alone");
    const std::span<std::uint8_t> used = bytes.first(layout.used_bytes().value);
    fill_random(used, stream);
    std::ranges::fill(bytes.subspan(used.size()), std::uint8_t{0});
    if (!mask) {
        return;
    }
    std::size_t at = 0;
    for_each_weight(layout, [&](std::uint32_t kernel, std::uint32_t channel) {
        if (!mask(kernel, channel)) {
            used[at] = 0;
        }
        ++at;
    });
}

void fill_bias(const BiasShape& shape, std::span<std::uint8_t> bytes, RandomStream stream,
               std::int16_t limit) {
    const std::size_t lanes = std::size_t{shape.atoms} * shape.channels_per_atom;
    NPU_CHECK(bytes.size() >= 2 * lanes, "the image is smaller than the biases");
    Random random(stream);
    std::uint32_t channel = 0;
    for (std::size_t i = 0; i < lanes; ++i) {
        const bool used = i % shape.channels_per_atom < shape.lanes && channel < shape.channels;
        std::int64_t value = 0;
        if (used) {
            ++channel;
            value =
                static_cast<std::int64_t>(
                    random.next() % (2 * std::uint64_t{static_cast<std::uint16_t>(limit)} + 1)) -
                limit;
        }
        bytes[2 * i] = static_cast<std::uint8_t>(value & 0xff);
        bytes[2 * i + 1] = static_cast<std::uint8_t>((value >> 8) & 0xff);
    }
}

}  // namespace npuscope
