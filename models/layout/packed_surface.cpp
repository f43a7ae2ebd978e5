// SPDX-License-Identifier: Apache-2.0
#include "models/layout/packed_surface.h"

#include "models/base/check.h"
#include "models/base/quantity.h"

namespace npuscope {
namespace {

/// Calls `visit(byte, element)` for every element of a map, byte by byte.
template <class Visit>
void each_element(const Shape& shape, Visit visit) {
    std::size_t byte = 0;
    const std::size_t plane = std::size_t{shape.height} * shape.width;
    for (std::size_t place = 0; place < plane; ++place) {
        for (std::size_t c = 0; c < shape.channels; ++c) {
            visit(byte++, c * plane + place);
        }
    }
}

/// Calls `visit(place, element)` for every weight in the order R S C K.
template <class Visit>
void each_weight(const KernelShape& shape, Visit visit) {
    std::size_t place = 0;
    const std::size_t taps = std::size_t{shape.rows} * shape.columns;
    for (std::size_t tap = 0; tap < taps; ++tap) {
        for (std::size_t c = 0; c < shape.channels; ++c) {
            for (std::size_t k = 0; k < shape.kernels; ++k) {
                visit(place++, (k * shape.channels + c) * taps + tap);
            }
        }
    }
}

}  // namespace

std::size_t packed_bytes(std::size_t weights, unsigned bits) {
    return divide_up(std::uint64_t{weights} * bits, 8);
}

std::vector<std::uint8_t> store_map(const Tensor<std::int32_t>& map) {
    std::vector<std::uint8_t> bytes(map.values.size());
    each_element(map.shape, [&](std::size_t byte, std::size_t element) {
        bytes[byte] = static_cast<std::uint8_t>(map.values[element] & 0xff);
    });
    return bytes;
}

Tensor<std::int32_t> load_map(std::span<const std::uint8_t> bytes, const Shape& shape,
                              bool is_signed) {
    Tensor<std::int32_t> map(shape);
    NPU_CHECK(bytes.size() == map.values.size(), "a byte for each element");
    each_element(shape, [&](std::size_t byte, std::size_t element) {
        map.values[element] =
            is_signed ? static_cast<std::int8_t>(bytes[byte]) : std::int32_t{bytes[byte]};
    });
    return map;
}

std::vector<std::uint8_t> store_weights(const Kernels<std::int8_t>& kernels, unsigned bits) {
    const std::int32_t limit = std::int32_t{1} << (bits - 1);
    const unsigned per_byte = 8 / bits;
    std::vector<std::uint8_t> bytes(packed_bytes(kernels.values.size(), bits));
    each_weight(kernels.shape, [&](std::size_t place, std::size_t element) {
        const int weight{kernels.values[element]};
        NPU_CHECK(weight >= -limit && weight < limit, "a weight exceeds its width");
        const unsigned shift = static_cast<unsigned>(place % per_byte) * bits;
        const unsigned field = static_cast<unsigned>(weight) & ((1U << bits) - 1);
        bytes[place / per_byte] =
            static_cast<std::uint8_t>(bytes[place / per_byte] | (field << shift));
    });
    return bytes;
}

Kernels<std::int8_t> load_weights(std::span<const std::uint8_t> bytes, const KernelShape& shape,
                                  unsigned bits) {
    Kernels<std::int8_t> kernels(shape);
    NPU_CHECK(bytes.size() == packed_bytes(kernels.values.size(), bits),
              "as many bytes as the weights take");
    const unsigned per_byte = 8 / bits;
    each_weight(shape, [&](std::size_t place, std::size_t element) {
        const unsigned shift = static_cast<unsigned>(place % per_byte) * bits;
        const unsigned field = (unsigned{bytes[place / per_byte]} >> shift) & ((1U << bits) - 1);
        const unsigned sign = 1U << (bits - 1);
        kernels.values[element] =
            static_cast<std::int8_t>(static_cast<int>(field ^ sign) - static_cast<int>(sign));
    });
    return kernels;
}

}  // namespace npuscope
