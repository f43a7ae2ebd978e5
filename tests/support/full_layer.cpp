// SPDX-License-Identifier: Apache-2.0
#include "tests/support/full_layer.h"

#include <algorithm>

#include "tests/support/oracle_number.h"

namespace npuscope::oracle {

namespace {

unsigned width_of(Type type) { return type == Type::Int8 ? 8 : 16; }

/// Input after the convertor, or the padding around it.
class Input {
 public:
    explicit Input(const FullLayer& layer) : layer_(layer), values_(layer.data) {
        if (layer.mode == Mode::Image) {
            const std::size_t plane = std::size_t{layer.height} * layer.width;
            for (std::size_t i = 0; i < values_.size(); ++i) {
                values_[i] = converted(layer, values_[i], static_cast<std::uint32_t>(i / plane));
            }
        }
    }
    std::int64_t at(std::uint32_t b, std::uint32_t c, std::int64_t y, std::int64_t x) const {
        if (y < 0 || x < 0 || y >= layer_.height || x >= layer_.width) {
            return layer_.pad_value;
        }
        return values_[layer_.data_index(b, c, static_cast<std::uint32_t>(y),
                                         static_cast<std::uint32_t>(x))];
    }

 private:
    const FullLayer& layer_;
    std::vector<std::int64_t> values_;
};

struct Output {
    std::uint32_t batch, kernel, y, x;
};

Wide sum_of(const FullLayer& layer, const Input& input, const Output& out) {
    Wide sum = 0;
    for (std::uint32_t c = 0; c < layer.channels; ++c) {
        for (std::uint32_t r = 0; r < layer.rows; ++r) {
            for (std::uint32_t s = 0; s < layer.columns; ++s) {
                const std::int64_t y =
                    std::int64_t{out.y} * layer.stride_y + r * layer.dilation_y - layer.pad_top;
                const std::int64_t x =
                    std::int64_t{out.x} * layer.stride_x + s * layer.dilation_x - layer.pad_left;
                sum += Wide{input.at(out.batch, c, y, x)} *
                       layer.weights[layer.weight_index(out.kernel, c, r, s)];
            }
        }
    }
    return sum;
}

std::uint16_t result_bits(const FullLayer& layer, Wide sum) {
    if (layer.type == Type::Fp16) {
        return element_bits(static_cast<std::int64_t>(sum), Type::Fp16);
    }
    const Wide accumulated = saturate(round_shift(sum, layer.clip), 32);
    const Wide scaled = (accumulated - layer.out_offset) * layer.out_scale;
    const Wide result = saturate(round_shift(scaled, layer.out_shift), width_of(layer.type));
    return element_bits(static_cast<std::int64_t>(result), layer.type);
}

}  // namespace

const std::vector<PixelKind>& pixel_kinds() {
    static const std::vector<PixelKind> kinds{
        {0, 1, false, 1, false, {0, 0, 0, 0}},   // R8
        {12, 4, false, 1, false, {0, 1, 2, 3}},  // A8B8G8R8
        {13, 4, false, 1, false, {2, 1, 0, 3}},  // A8R8G8B8
        {14, 4, false, 1, false, {1, 2, 3, 0}},  // B8G8R8A8
        {29, 3, true, 1, false, {0, 0, 1, 0}},   // Y8___V8U8
        {28, 3, true, 1, false, {0, 1, 0, 0}},   // Y8___U8V8
        {3, 1, false, 2, false, {0, 0, 0, 0}},   // R16
        {6, 4, false, 2, false, {0, 1, 2, 3}},   // A16B16G16R16
        {10, 4, false, 2, false, {1, 2, 3, 0}},  // V16U16Y16A16
        {34, 3, true, 2, false, {0, 1, 0, 0}},   // Y16___U16V16
        {20, 4, false, 0, false, {0, 1, 2, 3}},  // A2B10G10R10
        {5, 1, false, 2, true, {0, 0, 0, 0}},    // R16_F
        {8, 4, false, 2, true, {0, 1, 2, 3}},    // A16B16G16R16_F
    };
    return kinds;
}

std::int64_t converted(const FullLayer& layer, std::int64_t code, std::uint32_t channel) {
    if (layer.pixels.floating) {
        return code;  // such codes are the numbers themselves
    }
    const unsigned bits = width_of(layer.input_type);
    if (!layer.convert) {
        return static_cast<std::int64_t>(sign_extend(code, bits));
    }
    const Wide value = layer.is_signed ? sign_extend(code, bits) : Wide{code};
    const Wide product =
        (value - (layer.use_mean ? layer.mean[channel] : layer.offset)) * layer.scale;
    const Wide wide = saturate(round_shift(product, layer.truncate), 17);
    const unsigned stored = layer.type == Type::Fp16 ? 17 : width_of(layer.type);
    return static_cast<std::int64_t>(saturate(wide, stored));
}

std::uint16_t element_bits(std::int64_t value, Type type) {
    if (type != Type::Fp16) {
        return static_cast<std::uint16_t>(value & (type == Type::Int8 ? 0xFF : 0xFFFF));
    }
    if (value == 0) {
        return 0;
    }
    const std::uint64_t sign = value < 0 ? 0x8000 : 0;
    auto magnitude = static_cast<std::uint64_t>(value < 0 ? -value : value);
    unsigned exponent = 25;  // of a number with its leading one in bit 10
    for (; magnitude < 1024; magnitude *= 2) {
        --exponent;
    }
    std::uint64_t lost = 0;
    std::uint64_t unit = 1;
    for (; magnitude >= 2048; magnitude /= 2, unit *= 2) {
        lost += (magnitude & 1U) * unit;
        ++exponent;
    }
    if (2 * lost > unit || (2 * lost == unit && (magnitude & 1U) != 0)) {
        ++magnitude;
    }
    const std::uint64_t bits = (std::uint64_t{exponent} << 10U) + magnitude - 1024;
    return static_cast<std::uint16_t>(sign | std::min<std::uint64_t>(bits, 0x7BFF));
}

std::vector<std::uint16_t> output_bits(const FullLayer& layer) {
    const Input input(layer);
    const std::uint32_t lanes = round_up(layer.kernels, layer.atom());
    std::vector<std::uint16_t> bits;
    for (std::uint32_t b = 0; b < layer.batches; ++b) {
        for (std::uint32_t k = 0; k < lanes; ++k) {
            for (std::uint32_t y = 0; y < layer.out_height; ++y) {
                for (std::uint32_t x = 0; x < layer.out_width; ++x) {
                    const Wide sum =
                        k < layer.kernels ? sum_of(layer, input, {b, k, y, x}) : Wide{0};
                    bits.push_back(result_bits(layer, sum));
                }
            }
        }
    }
    return bits;
}

}  // namespace npuscope::oracle
