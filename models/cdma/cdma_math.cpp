// SPDX-License-Identifier: Apache-2.0
#include "models/cdma/cdma_math.h"

#include <array>

#include "models/arith/fixed_point.h"

namespace npuscope {

namespace {

/// The conversion of every 8-bit code of one channel.
using ConversionTable = std::array<std::int8_t, 256>;

ConversionTable table_of(const InputConversion& conversion, std::uint32_t channel) {
    const std::int16_t subtracted =
        conversion.use_mean ? conversion.mean[channel % 4] : conversion.offset;
    const Conversion fixed_point{subtracted, conversion.scale, conversion.truncate};
    ConversionTable table{};
    for (std::size_t code = 0; code < table.size(); ++code) {
        const auto bits = static_cast<std::int8_t>(code);
        const std::int64_t value = conversion.signed_input ? bits : static_cast<std::int64_t>(code);
        table[code] =
            conversion.enabled
                ? static_cast<std::int8_t>(convert(value, fixed_point, image_convertor_int8))
                : bits;
    }
    return table;
}

}  // namespace

Tensor<std::int8_t> convert_pixels(const Tensor<std::uint16_t>& codes,
                                   const InputConversion& conversion) {
    Tensor<std::int8_t> data(codes.shape);
    const std::size_t plane = std::size_t{codes.shape.height} * codes.shape.width;
    for (std::uint32_t c = 0; c < codes.shape.channels; ++c) {
        const ConversionTable table = table_of(conversion, c);
        for (std::size_t i = c * plane; i < (c + 1) * plane; ++i) {
            data.values[i] = table[codes.values[i] & 0xFFU];
        }
    }
    return data;
}

void convert_feature(Tensor<std::int8_t>& data, const InputConversion& conversion) {
    if (!conversion.enabled) {
        return;
    }
    const ConversionTable table = table_of(conversion, 0);
    for (std::int8_t& value : data.values) {
        value = table[static_cast<std::uint8_t>(value)];
    }
}

}  // namespace npuscope
