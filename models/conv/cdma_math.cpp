// SPDX-License-Identifier: Apache-2.0
#include "models/conv/cdma_math.h"

#include <algorithm>
#include <array>

#include "models/arith/fixed_point.h"
#include "models/arith/float16.h"

namespace npuscope {

namespace {

constexpr ConvertorWidths to_float{34, 17, 17};

/// The convertor of one channel.
class Convertor {
 public:
    Convertor(const InputConversion& conversion, Precision precision, std::uint32_t channel)
        : fixed_point_{conversion.use_mean ? conversion.mean[channel % 4] : conversion.offset,
                       conversion.scale, conversion.truncate},
          precision_(precision) {}

    /// Converts a value to an element, as its bits.
    std::int16_t operator()(std::int64_t value) const {
        const ConvertorWidths widths = precision_ == Precision::Int8    ? image_convertor_int8
                                       : precision_ == Precision::Int16 ? image_convertor_int16
                                                                        : to_float;
        const auto number = static_cast<std::int32_t>(convert(value, fixed_point_, widths));
        return static_cast<std::int16_t>(precision_ == Precision::Fp16 ? fp16_from_int(number)
                                                                       : number);
    }

 private:
    Conversion fixed_point_;
    Precision precision_;
};

/// The conversion of every 8-bit code of one channel.
template <class T>
using ConversionTable = std::array<T, 256>;

template <class T>
ConversionTable<T> table_of(const CdmaJob& job, std::uint32_t channel) {
    const Convertor convertor(job.conversion, job.precision, channel);
    ConversionTable<T> table{};
    for (std::size_t code = 0; code < table.size(); ++code) {
        const auto bits = static_cast<std::int8_t>(code);
        const std::int64_t value =
            job.conversion.signed_input ? bits : static_cast<std::int64_t>(code);
        table[code] =
            job.conversion.enabled ? static_cast<T>(convertor(value)) : static_cast<T>(bits);
    }
    return table;
}

/// 16-bit codes.
template <class T>
void convert_word_codes(const std::uint16_t* from, std::size_t count, const CdmaJob& job,
                        std::uint32_t channel, T* to) {
    const Convertor convertor(job.conversion, job.precision, channel);
    const bool pass = !job.conversion.enabled || job.in_precision == Precision::Fp16;
    for (std::size_t i = 0; i < count; ++i) {
        const auto bits = static_cast<std::int16_t>(from[i]);
        const std::int64_t value = job.conversion.signed_input ? bits : std::int64_t{from[i]};
        to[i] = static_cast<T>(pass ? bits : convertor(value));
    }
}

template <class T>
Tensor<T> convert_codes(const Tensor<std::uint16_t>& codes, const CdmaJob& job) {
    Tensor<T> data(codes.shape);
    const std::size_t plane = std::size_t{codes.shape.height} * codes.shape.width;
    for (std::uint32_t c = 0; c < codes.shape.channels; ++c) {
        const std::uint16_t* from = codes.values.data() + c * plane;
        T* to = data.values.data() + c * plane;
        if (job.in_precision == Precision::Int8) {
            const ConversionTable<T> table = table_of<T>(job, c);
            std::transform(from, from + plane, to,
                           [&table](std::uint16_t code) { return table[code & 0xFFU]; });
        } else {
            convert_word_codes(from, plane, job, c, to);
        }
    }
    return data;
}

void convert_numbers(Tensor<std::int8_t>& data, const CdmaJob& job) {
    const ConversionTable<std::int8_t> table = table_of<std::int8_t>(job, 0);
    for (std::int8_t& value : data.values) {
        value = table[static_cast<std::uint8_t>(value)];
    }
}

void convert_numbers(Tensor<std::int16_t>& data, const CdmaJob& job) {
    const Convertor convertor(job.conversion, job.precision, 0);
    for (std::int16_t& value : data.values) {
        value = convertor(value);
    }
}

Fp16 element_at(std::span<const std::uint8_t> bytes, std::size_t at) {
    return static_cast<Fp16>(bytes[at] | bytes[at + 1] << 8U);
}

template <class T>
Tensor<T> extended(const Tensor<T>& data, const CdmaJob& job, std::uint32_t channels) {
    const WinogradInput& winograd = job.winograd;
    const std::uint32_t phases = winograd.stride_y * winograd.stride_x;
    Tensor<T> result({channels * phases, winograd.extended_height, winograd.extended_width},
                     static_cast<T>(job.pad_value));
    for (std::uint32_t c = 0; c < data.shape.channels; ++c) {
        for (std::uint32_t y = 0; y < data.shape.height; ++y) {
            for (std::uint32_t x = 0; x < data.shape.width; ++x) {
                const std::uint32_t row = y + winograd.pad_top;
                const std::uint32_t column = x + job.pad_left;
                const std::uint32_t phase =
                    row % winograd.stride_y * winograd.stride_x + column % winograd.stride_x;
                result.at(phase * channels + c, row / winograd.stride_y,
                          column / winograd.stride_x) = data.at(c, y, x);
            }
        }
    }
    return result;
}

}  // namespace

ElementTensor convert_pixels(const Tensor<std::uint16_t>& codes, const CdmaJob& job) {
    if (job.precision == Precision::Int8) {
        return convert_codes<std::int8_t>(codes, job);
    }
    return convert_codes<std::int16_t>(codes, job);
}

void convert_feature(ElementTensor& data, const CdmaJob& job) {
    if (job.conversion.enabled && job.in_precision != Precision::Fp16) {
        std::visit([&job](auto& tensor) { convert_numbers(tensor, job); }, data);
    }
}

SpecialCount count_special(std::span<const std::uint8_t> bytes) {
    SpecialCount count;
    for (std::size_t at = 0; at + 1 < bytes.size(); at += 2) {
        const Fp16 value = element_at(bytes, at);
        count.nans += is_nan(value) ? 1U : 0U;
        count.infs += is_inf(value) ? 1U : 0U;
    }
    return count;
}

void flush_nans(std::span<std::uint8_t> bytes) {
    for (std::size_t at = 0; at + 1 < bytes.size(); at += 2) {
        if (is_nan(element_at(bytes, at))) {
            bytes[at] = bytes[at + 1] = 0;
        }
    }
}

ElementTensor extend_winograd(const ElementTensor& data, const CdmaJob& job,
                              std::uint32_t channels_per_atom) {
    return std::visit(
        [&](const auto& tensor) -> ElementTensor {
            const std::uint64_t channels = round_up(tensor.shape.channels, channels_per_atom);
            return extended(tensor, job, static_cast<std::uint32_t>(channels));
        },
        data);
}

}  // namespace npuscope
