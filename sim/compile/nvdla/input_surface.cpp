// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/input_surface.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/base/error.h"
#include "sim/compile/nvdla/plan_context.h"
#include "sim/compile/nvdla/synthetic_values.h"
#include "sim/config/element_type.h"
#include "sim/config/text_table.h"
#include "sim/convert/conversion.h"

namespace npuscope {
namespace {

constexpr std::int16_t middle = 128;  // of uint8

ConfigError refusal(const Network& network, const std::string& what, const std::string& remedy) {
    return {Place{network.file, 0, 0},
            fmt::format("the network's input: layout '{}' {}", network.input.layout, what), remedy};
}

/// A synthetic int8 value as an element of the precision: the upper bits of 16, or fp16 from -1 to
/// 1.
std::uint16_t element_bits(Precision precision, std::int8_t value) {
    constexpr double unit = 128;
    return precision == Precision::Fp16 ? to_float16(value / unit)
                                        : static_cast<std::uint16_t>(value * 256);
}

void fill_cube(const FeatureCube& cube, Precision precision, const InputValues& values,
               std::span<std::uint8_t> bytes) {
    for (std::uint32_t c = 0; c < cube.shape.channels; ++c) {
        for (std::uint32_t y = 0; y < cube.shape.height; ++y) {
            for (std::uint32_t x = 0; x < cube.shape.width; ++x) {
                const Bytes at = cube.address_of(c, y, x) - cube.base;
                if (precision == Precision::Int8) {
                    bytes[at.value] = static_cast<std::uint8_t>(values.at(c, y, x));
                } else {
                    const std::uint16_t bits = element_bits(precision, values.at(c, y, x));
                    bytes[at.value] = static_cast<std::uint8_t>(bits);
                    bytes[at.value + 1] = static_cast<std::uint8_t>(bits >> 8U);
                }
            }
        }
    }
}

/// Pixels in both planes; channels that the network does not have remain zero.
void fill_pixels(const PixelSurface& pixels, const Network& network,
                 std::span<std::uint8_t> bytes) {
    const InputValues values(network.seed, network.input.shape());
    const int offset = network.input.type == InputType::Uint8 ? middle : 0;
    const PixelFormat& format = *pixels.format;
    for (std::uint32_t plane = 0; plane < format.planes; ++plane) {
        for (std::uint32_t y = 0; y < pixels.height; ++y) {
            const Bytes line = pixels.line({plane, y}).address - pixels.base[0];
            for (std::uint32_t x = 0; x < pixels.width; ++x) {
                for (std::uint32_t i = 0; i < format.components(plane); ++i) {
                    const std::uint32_t c = format.order[plane + i];
                    if (c < network.input.channels) {
                        bytes[line.value + (format.pixel_bytes(plane) * x).value + i] =
                            static_cast<std::uint8_t>(values.at(c, y, x) + offset);
                    }
                }
            }
        }
    }
}

/// Parameters of the layout are those of files; the planner chooses its own in memory.
void require_file_layout(const Network& network) {
    const NetworkInput& input = network.input;
    const LogicalShape shape{
        {{'N', 1}, {'C', input.channels}, {'H', input.height}, {'W', input.width}}};
    try {
        parse_layout_spec(input.layout).bind_to(shape, 1);
    } catch (const ConfigError& error) {
        throw refusal(network, fmt::format("is not possible: {}", error.sentence()),
                      error.remedy());
    }
}

}  // namespace

const PixelFormat* declared_pixels(const Network& network, const NpuConfig& npu) {
    const NetworkInput& input = network.input;
    const LayoutRow* row = find_layout(input.layout.substr(0, input.layout.find(':')));
    const PixelFormat* format = row == nullptr ? nullptr : find_pixel_format(row->name);
    if (format == nullptr) {
        return nullptr;
    }
    if (format->code_bits != 8) {
        throw refusal(network, "does not have elements of 8 bits", "networks are planned as int8");
    }
    if (input.channels > format->channels ||
        (format->channels != 4 && input.channels != format->channels)) {
        throw refusal(network,
                      fmt::format("has {}, but the input has {}",
                                  counted(format->channels, "channel"), input.channels),
                      "T_R8 has one channel, T_A8B8G8R8 up to four");
    }
    if (!npu.surfaces.inputs.empty()) {
        throw refusal(network, fmt::format("is not one of {}'s", npu.name),
                      "leave it out, or name one of the NPU's");
    }
    require_file_layout(network);
    return format;
}

bool reads_input(const LayerShapes& layer) {
    return std::ranges::any_of(layer.sources, [](const auto& source) { return !source; });
}

std::optional<std::size_t> pixel_reader(const Network& network,
                                        const std::vector<LayerShapes>& shapes) {
    std::optional<std::size_t> reader;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        if (!reads_input(shapes[i])) {
            continue;
        }
        const Layer& layer = network.layers[i];
        const bool convolves = layer.kind == LayerKind::Conv || layer.kind == LayerKind::Fc;
        if (reader || !convolves || layer.groups > 1 || shapes[i].window.is_dilated()) {
            return std::nullopt;
        }
        reader = i;
    }
    return reader;
}

std::vector<const PixelFormat*> open_pixels(const Network& network,
                                            const std::vector<LayerShapes>& shapes,
                                            const NpuConfig& npu) {
    const NetworkInput& input = network.input;
    const std::optional<std::size_t> reader = pixel_reader(network, shapes);
    if (!input.layout.empty() || !npu.surfaces.inputs.empty() || input.channels > 4 || !reader) {
        return {};
    }
    if (input.channels == 1) {
        return {find_pixel_format("T_R8")};
    }
    std::vector<const PixelFormat*> formats{find_pixel_format("T_A8B8G8R8")};
    if (input.channels == 3) {
        formats.push_back(find_pixel_format("T_Y8___V8U8_N444"));
    }
    return formats;
}

InputConversion pixel_conversion(InputType type) {
    InputConversion conversion;
    if (type == InputType::Uint8) {
        conversion.enabled = true;
        conversion.offset = middle;
        conversion.signed_input = false;
    }
    return conversion;
}

PlannedImage more_input_image(const Network& network, std::size_t layer, const PlannedInput& input,
                              bool values) {
    const FeatureCube& cube = input.stored.cube;
    PlannedImage image{input.image(), cube.base, whole_atoms(cube).extent(), {}};
    if (values) {
        image.make_room();
        fill_cube(cube, network.precision, {network.seed, input.shape, layer}, image.image.bytes);
    }
    return image;
}

PlannedImage input_image(const Network& network, const StoredCube& stored, bool values) {
    PlannedImage image{"input", stored.cube.base, {}, {}};
    if (stored.pixels) {
        const PixelSurface& pixels = *stored.pixels;
        const std::uint32_t last = pixels.format->planes - 1U;
        const Address end = pixels.base[last] + pixels.line_stride[last] * pixels.height;
        image.bytes = end - pixels.base[0];
    } else {
        image.bytes = whole_atoms(stored.cube).extent();
    }
    if (!values) {
        return image;
    }
    image.make_room();
    if (stored.pixels) {
        fill_pixels(*stored.pixels, network, image.image.bytes);
    } else {
        fill_cube(stored.cube, network.precision, {network.seed, network.input.shape()},
                  image.image.bytes);
    }
    return image;
}

}  // namespace npuscope
