// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/surface_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/base/check.h"
#include "models/base/error.h"
#include "models/layout/relayout.h"
#include "sim/config/file_io.h"
#include "sim/config/file_name.h"
#include "sim/config/nearest_name.h"
#include "sim/config/npy_file.h"
#include "sim/config/output_folder.h"
#include "sim/config/text_table.h"
#include "sim/convert/conversion.h"
#include "sim/convert/mapped_file.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;

LogicalShape logical(const Shape& shape) {
    return {{{'N', 1}, {'C', shape.channels}, {'H', shape.height}, {'W', shape.width}}};
}

/// Pixels as the machine holds them; channels that a shape does not have are left out.
std::string pixel_layout_text(const PixelSurface& pixels) {
    const PixelFormat& format = *pixels.format;
    const std::string plane =
        format.planes == 1
            ? ""
            : fmt::format(",line_stride_1={},plane_1={}", pixels.line_stride[1].value,
                          (pixels.base[1] - pixels.base[0]).value);
    return fmt::format("{}:line_stride={}{}", format.name, pixels.line_stride[0].value, plane);
}

struct Wanted {
    std::string which;
    std::string declared;  ///< by the network; empty: none
    const std::vector<std::string>& offered;
    Bytes entry;
};

std::string_view row_name(const std::string& spec) {
    return std::string_view(spec).substr(0, spec.find(':'));
}

/// Whether the NPU's layout is the declared one: of the same name and, where both state a parameter,
/// with the same value. Chips may have different layouts of one name.
bool is_offered(const LayoutSpec& declared, const LayoutSpec& offer) {
    return offer.row == declared.row &&
           std::ranges::all_of(offer.parameters, [&](const auto& parameter) {
               const auto own = declared.parameters.find(parameter.first);
               return own == declared.parameters.end() || own->second == parameter.second;
           });
}

/// The declared layout, with the parameters that the NPU's own text states beyond the network's.
LayoutSpec offered_as(const Wanted& wanted) {
    if (wanted.offered.empty()) {
        return parse_layout_spec(wanted.declared);
    }
    if (find_layout(row_name(wanted.declared)) != nullptr) {
        LayoutSpec declared = parse_layout_spec(wanted.declared);
        for (const std::string& text : wanted.offered) {
            const LayoutSpec offer = parse_layout_spec(text);
            if (is_offered(declared, offer)) {
                declared.parameters.insert(offer.parameters.begin(), offer.parameters.end());
                return declared;
            }
        }
    }
    throw ConfigError(fmt::format("the NPU does not support layout '{}' of the {}", wanted.declared,
                                  wanted.which),
                      name_remedy(wanted.declared, wanted.offered));
}

Layout whole_entries(Layout layout, Bytes entry) {
    if (entry.value > 1) {
        layout.bytes = round_up(layout.bytes, entry.value);
    }
    return layout;
}

Layout choose(const Wanted& wanted, const Shape& shape) {
    if (!wanted.declared.empty()) {
        return whole_entries(offered_as(wanted).bind_to(logical(shape), 1), wanted.entry);
    }
    std::string why;
    for (const std::string& offer : wanted.offered) {
        auto bound = parse_layout_spec(offer).try_bind(logical(shape), 1);
        if (auto* layout = std::get_if<Layout>(&bound)) {
            return whole_entries(std::move(*layout), wanted.entry);
        }
        why = std::get<Diagnostic>(bound).sentence;
    }
    if (!wanted.offered.empty()) {
        throw ConfigError(fmt::format("no layout of the NPU holds the {}: {}", wanted.which, why));
    }
    return plain_layout(logical(shape), 1);
}

/// Bytes of a file in row-major order or in the declared layout.
void convert_input(const InputSurface& surface, const fs::path& path,
                   std::span<std::uint8_t> image) {
    const MappedInput file(path);
    std::span<const std::uint8_t> bytes = file.bytes();
    Layout layout = surface.file;
    std::vector<std::uint8_t> ordered;
    if (names_npy(path)) {
        const NpyHeader header = read_npy_header(bytes, path.string());
        layout = plain_layout(surface.file.shape, 1);
        std::vector<std::uint64_t> extents = header.shape;
        std::vector<std::uint64_t> wanted;
        for (const AxisExtent& axis : layout.shape.axes) {
            wanted.push_back(axis.extent);
        }
        if (extents.size() == 3) {
            extents.insert(extents.begin(), 1);
        } else if (extents.size() == 2) {
            extents.resize(4, 1);
        }
        if (header.type->name != surface.type || extents != wanted) {
            throw ConfigError(fmt::format("'{}' holds {}, but the input has {} {}", path.string(),
                                          to_string(header), surface.type, to_string(layout.shape)),
                              "give an array of this type and shape");
        }
        bytes = bytes.subspan(header.data_begin);
        if (header.is_transposed()) {
            ordered = in_c_order(header, bytes);
            bytes = ordered;
        }
    }
    if (bytes.size() < layout.used || bytes.size() > layout.bytes) {
        throw ConfigError(fmt::format("'{}' has {}, but {} ({}) of {} takes {}", path.string(),
                                      counted(bytes.size(), "byte"), layout.name, layout.sentence,
                                      to_string(layout.shape), with_separators(layout.bytes)),
                          "give all bytes of the input");
    }
    if (surface.zero == 0) {
        relayout(layout, bytes, surface.memory, image);
        return;
    }
    std::vector<std::uint8_t> stored(bytes.begin(), bytes.end());
    for (std::uint8_t& byte : stored) {
        byte = static_cast<std::uint8_t>(byte - surface.zero);
    }
    relayout(layout, stored, surface.memory, image);
}

std::string as_text(std::span<const std::uint8_t> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The file that holds an input: raw bytes or an array.
fs::path file_of(const InputSurface& surface, const fs::path& folder) {
    const std::string& name = surface.name;
    const fs::path raw = folder / file_name(name, ".bin");
    const fs::path array = folder / file_name(name, ".npy");
    const bool is_raw = file_exists(raw);
    if (!fs::is_directory(folder)) {
        throw ConfigError(file_exists(folder)
                              ? fmt::format("'{}' is not a folder", folder.string())
                              : fmt::format("there is no folder '{}'", folder.string()),
                          fmt::format("name a folder that holds {}", array.filename().string()));
    }
    if (is_raw == file_exists(array)) {
        throw ConfigError(
            fmt::format("'{}' holds {} {} {} {}", folder.string(), is_raw ? "both" : "neither",
                        raw.filename().string(), is_raw ? "and" : "nor", array.filename().string()),
            is_raw ? "remove one of them" : "add one of them");
    }
    return is_raw ? raw : array;
}

OutputSurface output_surface(const Network& network, const PlannedLayer& layer,
                             const SurfaceConfig& config) {
    OutputSurface surface;
    surface.name = layer.name;
    surface.file =
        choose({"output", network.output_layout, config.outputs, config.entry}, layer.shape);
    surface.memory = memory_layout(layer.stored, layer.shape);
    surface.bytes = {layer.stored.cube.base, Bytes(surface.memory.bytes)};
    return surface;
}

}  // namespace

// `lanes` channels of an atom are in use.
std::string memory_layout_text(const StoredCube& stored) {
    if (stored.pixels) {
        return pixel_layout_text(*stored.pixels);
    }
    const FeatureCube& cube = stored.cube;
    return fmt::format("N C/{0}:{1} H:{2} W:{3} C%{0}", stored.lanes, cube.surface_stride.value,
                       cube.line_stride.value, cube.atom.value);
}

Layout memory_layout(const StoredCube& stored, const Shape& shape) {
    const std::string text = memory_layout_text(stored);
    if (stored.pixels) {
        return parse_layout_spec(text).bind_to(logical(shape), 1);
    }
    return bind(
        parse_sentence(text), logical(shape),
        {.name = "feature", .element = static_cast<std::uint32_t>(stored.cube.element.value)});
}

std::vector<ByteRun> NetworkSurfaces::output_bytes() const {
    std::vector<ByteRun> runs;
    for (const OutputSurface& output : outputs) {
        runs.push_back(output.bytes);
    }
    return runs;
}

NetworkSurfaces network_surfaces(const Network& network, const Plan& plan,
                                 const SurfaceConfig& config) {
    return {input_surfaces(network, plan, config), output_surfaces(network, plan, config)};
}

std::vector<InputSurface> input_surfaces(const Network& network, const Plan& plan,
                                         const SurfaceConfig& config) {
    std::vector<InputSurface> surfaces;
    const Shape input = network.input.shape();
    surfaces.push_back({"input", "input",
                        choose({"input", network.input.layout, config.inputs, config.entry}, input),
                        memory_layout(plan.input, input),
                        std::string(enum_name(network.input.type)),
                        network.input.type == InputType::Uint8 && !plan.input.pixels ? 128 : 0});
    for (const PlannedInput& more : plan.more_inputs) {
        surfaces.push_back(
            {more.name, more.image(),
             choose({"input '" + more.name + "'", "", config.inputs, config.entry}, more.shape),
             memory_layout(more.stored, more.shape), std::string(enum_name(InputType::Int8))});
    }
    return surfaces;
}

std::vector<OutputSurface> output_surfaces(const Network& network, const Plan& plan,
                                           const SurfaceConfig& config) {
    std::vector<OutputSurface> surfaces;
    for (const PlannedLayer& layer : plan.layers) {
        if (layer.output) {
            surfaces.push_back(output_surface(network, layer, config));
        }
    }
    return surfaces;
}

void load_inputs(const NetworkSurfaces& surfaces, const fs::path& folder, Plan& plan) {
    for (const InputSurface& surface : surfaces.inputs) {
        const auto image = std::ranges::find(plan.images, surface.image, &PlannedImage::name);
        NPU_CHECK(image != plan.images.end(), "the plan has an image of every input");
        std::vector<std::uint8_t>& bytes = image->image.bytes;
        if (!bytes.empty()) {  // otherwise timing only
            read_input(surface, folder, bytes);
        }
    }
}

void read_input(const InputSurface& surface, const fs::path& folder,
                std::span<std::uint8_t> image) {
    NPU_CHECK(image.size() >= surface.memory.bytes, "the image is whole");
    const fs::path file = file_of(surface, folder);
    std::ranges::fill(image, std::uint8_t{0});
    convert_input(surface, file, image);
}

void save_outputs(const NetworkSurfaces& surfaces,
                  const std::vector<std::vector<std::uint8_t>>& memory, const fs::path& folder) {
    NPU_CHECK(memory.size() == surfaces.outputs.size(), "every output was kept");
    OutputFolder out(folder);
    for (std::size_t i = 0; i < memory.size(); ++i) {
        const OutputSurface& surface = surfaces.outputs[i];
        const Layout plain = plain_layout(surface.file.shape, 1);
        std::vector<std::uint8_t> values(plain.bytes), image(surface.file.bytes);
        relayout(surface.memory, memory[i], plain, values);
        relayout(surface.memory, memory[i], surface.file, image);
        std::vector<std::uint64_t> extents;
        for (const AxisExtent& axis : plain.shape.axes) {
            extents.push_back(axis.extent);
        }
        const std::string head = npy_header(find_element("int8"), extents);
        out.write(file_name(surface.name, ".npy"), head + as_text(values));
        out.write(file_name(surface.name, ".bin"), as_text(image));
    }
    out.commit();
}

MapCodes stored_codes(std::int32_t zero) { return {{zero - 128.0, zero + 127.0}, zero}; }

MapCodes plain_codes(bool is_signed) {
    return {range_of(is_signed ? ElementType::Int8 : ElementType::Uint8), 0};
}

ElementType map_element(Precision precision) {
    return precision == Precision::Int8    ? ElementType::Int8
           : precision == Precision::Int16 ? ElementType::Int16
                                           : ElementType::Float16;
}

MapCodes wide_codes(Precision precision) {
    const ElementType element = map_element(precision);
    return {range_of(element), 0, element};
}

namespace {

bool is_wide(const MapCodes& codes) { return element_row(codes.element).bytes > 1; }

}  // namespace

void store_map(const GraphValue& value, const MemoryMapOf& map, std::span<std::uint8_t> memory) {
    const std::uint32_t element = element_row(map.codes.element).bytes;
    const Layout plain = plain_layout(map.layout.shape, element);
    NPU_CHECK(plain.bytes == value.numbers.size() * element, "the map has the tensor's elements");
    if (is_wide(map.codes)) {
        std::string bytes;
        append_elements(map.codes.element, value.numbers, bytes);
        std::ranges::fill(memory, std::uint8_t{0});
        relayout(plain, {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()},
                 map.layout, memory);
        return;
    }
    std::vector<std::uint8_t> bytes(plain.bytes);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const double number = value.numbers[i];
        const NumberRange& range = map.codes.range;
        if (number != std::trunc(number) || number < range.low || number > range.high) {
            throw ConfigError(
                fmt::format("its input '{}' holds {}, which is not an integer from {} "
                            "to {}",
                            map.tensor, number, range.low, range.high),
                "give values in the range the model was planned for");
        }
        bytes[i] = static_cast<std::uint8_t>(static_cast<std::int32_t>(number) - map.codes.zero);
    }
    std::ranges::fill(memory, std::uint8_t{0});
    relayout(plain, bytes, map.layout, memory);
}

std::string map_images(const GraphValue& value, std::size_t tensors, const MemoryMapOf& map) {
    const std::size_t elements = value.numbers.size() / tensors;
    std::string images(tensors * map.layout.bytes, '\0');
    for (std::size_t i = 0; i < tensors; ++i) {
        const auto from = value.numbers.begin() + static_cast<std::ptrdiff_t>(i * elements);
        const GraphValue one{value.type, {from, from + static_cast<std::ptrdiff_t>(elements)}};
        auto* bytes = reinterpret_cast<std::uint8_t*>(&images[i * map.layout.bytes]);
        store_map(one, map, {bytes, map.layout.bytes});
    }
    return images;
}

GraphValue load_map(const TensorType& type, const MemoryMapOf& map,
                    std::span<const std::uint8_t> memory) {
    const Layout plain = plain_layout(map.layout.shape, element_row(map.codes.element).bytes);
    std::vector<std::uint8_t> bytes(plain.bytes);
    relayout(map.layout, memory, plain, bytes);
    if (is_wide(map.codes)) {
        return {type, read_elements(map.codes.element, bytes)};
    }
    GraphValue value{type, {}};
    for (const std::uint8_t byte : bytes) {
        const double number = static_cast<std::int8_t>(byte) + map.codes.zero;
        value.numbers.push_back(number < map.codes.range.low ? number + 256 : number);
    }
    return value;
}

}  // namespace npuscope
