// SPDX-License-Identifier: Apache-2.0
#include "sim/surface/surface_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/base/check.h"
#include "models/base/error.h"
#include "models/data/relayout.h"
#include "sim/config/nearest_name.h"
#include "sim/convert/layout_spec.h"
#include "sim/convert/mapped_file.h"
#include "sim/convert/npy_file.h"
#include "sim/report/atomic_file.h"

namespace npuscope {

namespace {

namespace fs = std::filesystem;

LogicalShape logical(const Shape& shape) {
    return {{{'N', 1}, {'C', shape.channels}, {'H', shape.height}, {'W', shape.width}}};
}

/// Pixels as the machine holds them; channels that the shape does not have are left out.
Layout pixel_layout(const PixelSurface& pixels, const Shape& shape) {
    const PixelFormat& format = *pixels.format;
    const std::string plane =
        format.planes == 1
            ? ""
            : fmt::format(",line_stride_1={},plane_1={}", pixels.line_stride[1].value,
                          (pixels.base[1] - pixels.base[0]).value);
    const LayoutSpec spec = parse_layout_spec(
        fmt::format("{}:line_stride={}{}", format.name, pixels.line_stride[0].value, plane));
    return spec.bind_to(logical(shape), 1);
}

/// A cube or an image as the machine holds it; `lanes` channels of an atom are in use.
Layout memory_layout(const StoredCube& stored, const Shape& shape) {
    if (stored.pixels) {
        return pixel_layout(*stored.pixels, shape);
    }
    const FeatureCube& cube = stored.cube;
    const std::string sentence =
        fmt::format("C/{0}:{1} H:{2} W:{3} C%{0}", stored.lanes, cube.surface_stride.value,
                    cube.line_stride.value, cube.atom.value);
    return bind(parse_sentence("N " + sentence), logical(shape), {.name = "feature", .element = 1});
}

struct Wanted {
    const char* which;
    std::string declared;  ///< by the network; empty: not
    const std::vector<std::string>& offered;
    Bytes entry;
};

std::string_view row_name(const std::string& spec) {
    return std::string_view(spec).substr(0, spec.find(':'));
}

/// The NPU's own text for the layout, which may say more than the network's.
std::string offered_as(const Wanted& wanted) {
    if (wanted.offered.empty()) {
        return wanted.declared;
    }
    for (const std::string& offer : wanted.offered) {
        const bool same = find_layout(row_name(offer)) != nullptr &&
                          find_layout(row_name(offer)) == find_layout(row_name(wanted.declared));
        if (same) {
            return wanted.declared.find(':') == std::string::npos ? offer : wanted.declared;
        }
    }
    throw ConfigError(
        fmt::format("layout '{}' of the {} is not one of the NPU's", wanted.declared, wanted.which),
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
        const LayoutSpec spec = parse_layout_spec(offered_as(wanted));
        return whole_entries(spec.bind_to(logical(shape), 1), wanted.entry);
    }
    std::string why;
    for (const std::string& offer : wanted.offered) {
        const LayoutSpec spec = parse_layout_spec(offer);
        try {
            return whole_entries(spec.bind_to(logical(shape), 1), wanted.entry);
        } catch (const ConfigError& error) {
            why = error.sentence();
        }
    }
    if (!wanted.offered.empty()) {
        throw ConfigError(fmt::format("no layout of the NPU holds the {}: {}", wanted.which, why));
    }
    return plain_layout(logical(shape), 1);
}

/// Bytes of a file in row-major order or in the declared layout.
void convert_input(const NetworkSurfaces& surfaces, const fs::path& path, bool array,
                   std::span<std::uint8_t> image) {
    const MappedInput file(path);
    std::span<const std::uint8_t> bytes = file.bytes();
    Layout layout = surfaces.input_file;
    if (array) {
        const NpyHeader header = read_npy_header(bytes, path.string());
        layout = plain_layout(surfaces.input_file.shape, 1);
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
        if (header.type->name != surfaces.input_type || header.fortran_order || extents != wanted) {
            throw ConfigError(fmt::format("'{}' is no {} array of {}", path.string(),
                                          surfaces.input_type, to_string(layout.shape)));
        }
        bytes = bytes.subspan(header.data_begin);
    }
    if (bytes.size() < layout.used || bytes.size() > layout.bytes) {
        throw ConfigError(fmt::format("'{}' has {} bytes, {} ({}) of {} takes {}", path.string(),
                                      bytes.size(), layout.name, layout.sentence,
                                      to_string(layout.shape), layout.bytes));
    }
    relayout(layout, bytes, surfaces.input_memory, image);
}

std::string as_text(std::span<const std::uint8_t> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

NetworkSurfaces network_surfaces(const Network& network, const Plan& plan,
                                 const SurfaceConfig& config) {
    const auto found =
        std::ranges::find(plan.layers, network.layers.back().name, &PlannedLayer::name);
    NPU_CHECK(found != plan.layers.end(), "the last layer's result is planned");
    const PlannedLayer& last = *found;
    NetworkSurfaces surfaces;
    const Shape input = network.input.shape();
    surfaces.input_file =
        choose({"input", network.input.layout, config.inputs, config.entry}, input);
    surfaces.input_memory = memory_layout(plan.input, input);
    surfaces.input_type = enum_name(network.input.type);
    surfaces.output_file =
        choose({"output", network.output_layout, config.outputs, config.entry}, last.shape);
    surfaces.output_memory = memory_layout(last.stored, last.shape);
    surfaces.output = {last.stored.cube.base, Bytes(surfaces.output_memory.bytes)};
    surfaces.output_name = last.name;
    return surfaces;
}

void load_input(const NetworkSurfaces& surfaces, const fs::path& folder, Plan& plan) {
    const std::string& name = surfaces.input_name;
    const fs::path raw = folder / (name + ".bin"), array = folder / (name + ".npy");
    if (fs::exists(raw) == fs::exists(array)) {
        throw ConfigError(fmt::format("'{}' holds {} of {}.bin and {}.npy", folder.string(),
                                      fs::exists(raw) ? "both" : "none", name, name),
                          "one of the two is the network's input");
    }
    const auto image = std::ranges::find(plan.images, "input", &PlannedImage::name);
    NPU_CHECK(image != plan.images.end(), "the plan has an image of the input");
    if (image->image.bytes.empty()) {
        return;  // time alone
    }
    NPU_CHECK(image->image.bytes.size() >= surfaces.input_memory.bytes, "the image is whole");
    std::ranges::fill(image->image.bytes, std::uint8_t{0});
    convert_input(surfaces, fs::exists(raw) ? raw : array, fs::exists(array), image->image.bytes);
}

void save_output(const NetworkSurfaces& surfaces, std::span<const std::uint8_t> memory,
                 const fs::path& folder) {
    const Layout plain = plain_layout(surfaces.output_file.shape, 1);
    std::vector<std::uint8_t> values(plain.bytes), image(surfaces.output_file.bytes);
    relayout(surfaces.output_memory, memory, plain, values);
    relayout(surfaces.output_memory, memory, surfaces.output_file, image);
    std::vector<std::uint64_t> extents = surfaces.output_extents;
    for (const AxisExtent& axis : plain.shape.axes) {
        if (surfaces.output_extents.empty()) {
            extents.push_back(axis.extent);
        }
    }
    const std::string head = npy_header(find_stored_type("int8"), extents);
    write_atomically(folder / (surfaces.output_name + ".npy"), head + as_text(values));
    write_atomically(folder / (surfaces.output_name + ".bin"), as_text(image));
}

}  // namespace npuscope
