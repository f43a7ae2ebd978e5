// SPDX-License-Identifier: Apache-2.0
#include "tests/support/generate_full_layer.h"

#include <algorithm>

namespace npuscope {

namespace {

using oracle::FullLayer;
using oracle::Mode;
using oracle::Type;

/// Shapes whose input and weights fit the convolution buffer with room to spare.
void choose_shape(FullLayer& layer, LayerFamily family, Random& random) {
    layer.kernels = random.size(1, random.chance(30) ? 70 : 20);
    layer.channels = random.size(1, random.chance(30) ? 140 : 40);
    layer.height = random.size(3, 10);
    layer.width = random.size(3, 10);
    layer.rows = random.size(1, 3);
    layer.columns = random.size(1, 3);
    layer.stride_y = random.size(1, 2);
    layer.stride_x = random.size(1, 2);
    if (family == LayerFamily::Dilated) {
        layer.dilation_y = random.size(1, 3);
        layer.dilation_x = random.size(1, 3);
    }
    layer.pad_top = random.size(0, 2);
    layer.pad_left = random.size(0, 2);
    layer.batches = family == LayerFamily::Batch ? random.size(2, 4) : 1;
}

std::uint32_t span(std::uint32_t taps, std::uint32_t dilation) { return (taps - 1) * dilation + 1; }

/// The output size of the padded input; padding grows until there is one.
void choose_output(FullLayer& layer, Random& random) {
    layer.pad_bottom = random.size(0, 2);
    layer.pad_right = random.size(0, 2);
    const std::uint32_t tall = span(layer.rows, layer.dilation_y);
    const std::uint32_t broad = span(layer.columns, layer.dilation_x);
    while (layer.height + layer.pad_top + layer.pad_bottom < tall) {
        ++layer.pad_bottom;
    }
    while (layer.width + layer.pad_left + layer.pad_right < broad) {
        ++layer.pad_right;
    }
    layer.out_height =
        (layer.height + layer.pad_top + layer.pad_bottom - tall) / layer.stride_y + 1;
    layer.out_width = (layer.width + layer.pad_left + layer.pad_right - broad) / layer.stride_x + 1;
}

/// Padding up to whole patches: multiples of four times the stride.
void choose_winograd(FullLayer& layer, Random& random) {
    layer.mode = Mode::Winograd;
    layer.channels = random.size(1, 40);
    layer.stride_y = random.size(1, 2);
    layer.stride_x = random.size(1, 2);
    layer.rows = layer.stride_y == 1 ? 3 : random.size(4, 6);
    layer.columns = layer.stride_x == 1 ? 3 : random.size(4, 6);
    layer.pad_top = random.size(0, 1);
    layer.pad_left = random.size(0, 1);
    // eight, or sixteen, extended lines produce four or twelve outputs
    const std::uint32_t lines = 4 * layer.stride_y * random.one_of<std::uint32_t>({2, 4});
    const std::uint32_t columns = 4 * layer.stride_x * random.one_of<std::uint32_t>({2, 4});
    layer.pad_bottom = random.size(0, 2);
    layer.pad_right = random.size(0, 2);
    layer.height = lines - layer.pad_top - layer.pad_bottom;
    layer.width = columns - layer.pad_left - layer.pad_right;
    layer.out_height = lines / layer.stride_y - 4;
    layer.out_width = columns / layer.stride_x - 4;
}

/// What a kind's codes are before any conversion.
Type code_type(const oracle::PixelKind& kind) {
    if (kind.floating) {
        return Type::Fp16;
    }
    return kind.bytes == 1 ? Type::Int8 : Type::Int16;
}

void choose_conversion(FullLayer& layer, Random& random) {
    layer.input_type = code_type(layer.pixels);
    layer.convert = layer.input_type != layer.type || random.chance(70);
    layer.is_signed = random.chance(40);
    layer.use_mean = random.chance(50);
    const bool wide = layer.input_type == Type::Int16;
    // fp16 sums stay exact only with small numbers
    layer.truncate = layer.type == Type::Fp16 ? (wide ? 12 : 4) : random.size(0, wide ? 14 : 6);
    layer.scale = layer.type == Type::Fp16 ? 1 : random.between(-60, 60);
    layer.offset = random.between(-100, 100);
    for (std::int64_t& mean : layer.mean) {
        mean = random.between(-100, 100);
    }
    if (!layer.convert) {
        layer.is_signed = true;
    }
    // nothing subtracts a mean from what is not converted, which is reported to a driver
    layer.use_mean = layer.use_mean && layer.convert && layer.input_type != Type::Fp16;
}

void choose_image(FullLayer& layer, LayerFamily family, Random& random) {
    layer.mode = Mode::Image;
    const auto fits = [&](const oracle::PixelKind& kind) {
        return !kind.floating || layer.type == Type::Fp16;
    };
    do {
        const auto& kinds = oracle::pixel_kinds();
        layer.pixels = kinds[random.size(0, static_cast<std::uint32_t>(kinds.size()) - 1)];
    } while (!fits(layer.pixels));
    layer.channels = layer.pixels.channels;
    layer.dilation_y = layer.dilation_x = 1;
    layer.columns = random.size(1, 4);
    layer.rows = random.size(1, 5);
    if (family == LayerFamily::PostExtension) {
        layer.columns = random.size(1, layer.channels == 1 ? 8 : 4);
        layer.rows = random.size(2, 7);
        layer.row_group =
            layer.columns * layer.channels <= 16 ? random.one_of<std::uint32_t>({2, 4}) : 2;
    }
    choose_conversion(layer, random);
    const std::uint32_t pixel =
        layer.pixels.bytes == 0
            ? 4
            : layer.pixels.bytes * (layer.pixels.semi_planar ? 1 : layer.channels);
    layer.x_offset = random.size(0, 32 / pixel - 1);
}

/// fp16 numbers stay so small that no sum needs rounding: cut bits of products never show.
std::int64_t random_number(Type type, std::int64_t limit, Random& random) {
    const std::int64_t most = type == Type::Fp16 ? std::min<std::int64_t>(limit, 4) : limit;
    return random.between(-most, most);
}

/// Raw codes of a pixel component; channel 3 of a packed word has two bits.
std::int64_t random_code(const FullLayer& layer, std::uint32_t channel, Random& random) {
    if (layer.pixels.floating) {
        return random.between(-4, 4);
    }
    if (layer.pixels.bytes == 0) {
        return channel == 3 ? random.between(0, 3) << 14 : random.between(0, 1023) << 6;
    }
    return random.between(0, layer.pixels.bytes == 1 ? 255 : 65535);
}

void fill_numbers(FullLayer& layer, std::uint32_t zero_percent, Random& random) {
    const bool winograd = layer.mode == Mode::Winograd;
    const std::int64_t most = layer.type == Type::Int8 ? 127 : 32767;
    // patches of four summands stay in their type, kernels that are multiples of four stay whole
    const std::int64_t data_limit = winograd ? most / 4 : most;
    const std::int64_t weight_limit = winograd ? most / 48 : most;
    const std::int64_t unit = winograd ? 4 : 1;
    layer.data.resize(std::size_t{layer.batches} * layer.channels * layer.height * layer.width);
    const std::size_t plane = std::size_t{layer.height} * layer.width;
    for (std::size_t i = 0; i < layer.data.size(); ++i) {
        layer.data[i] = layer.mode == Mode::Image
                            ? random_code(layer, static_cast<std::uint32_t>(i / plane), random)
                            : random_number(layer.type, data_limit, random);
    }
    layer.weights.resize(std::size_t{layer.kernels} * layer.channels * layer.rows * layer.columns);
    for (std::int64_t& weight : layer.weights) {
        weight = random.chance(zero_percent)
                     ? 0
                     : unit * random_number(layer.type, weight_limit, random);
    }
    layer.pad_value = random_number(layer.type, winograd ? most / 4 : most, random);
}

}  // namespace

std::string_view layer_family_name(LayerFamily family) {
    constexpr std::array<std::string_view, 6> kNames{"direct", "dilated",        "batch",
                                                     "image",  "post_extension", "winograd"};
    return kNames[static_cast<std::size_t>(family)];
}

oracle::FullLayer random_layer(const LayerWish& wish) {
    Random random(wish.seed * 64 + static_cast<std::uint64_t>(wish.family) * 4 +
                  static_cast<std::uint64_t>(wish.type));
    FullLayer layer;
    layer.type = layer.input_type = wish.type;
    choose_shape(layer, wish.family, random);
    if (wish.family == LayerFamily::Winograd) {
        choose_winograd(layer, random);
    } else {
        if (wish.family == LayerFamily::Image || wish.family == LayerFamily::PostExtension) {
            choose_image(layer, wish.family, random);
        }
        choose_output(layer, random);
    }
    fill_numbers(layer, wish.zero_percent, random);
    if (layer.type != Type::Fp16) {
        layer.clip = random.size(0, 4);
        layer.out_offset = random.between(-50, 50);
        layer.out_scale = random.between(1, 30);
        layer.out_shift = random.size(4, layer.type == Type::Int8 ? 18 : 28);
    }
    return layer;
}

}  // namespace npuscope
