// SPDX-License-Identifier: Apache-2.0
// NVDLA's feature data and the SDP's operand tables as catalogue rows. Units of the machine use
// feature_cube.h, which does the same for one surface at an address.
// source: NVDLA format page, "Feature Data Format" to "Element-Wise Data Format"
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "models/base/error.h"
#include "models/layout/layout_catalog.h"
#include "models/layout/pixel_format.h"

namespace npuscope {
namespace {

// source: hardware spec files; 32 is nv_full's and nv_large's memory atom, 64 only our own NPUs'
constexpr std::array feature_parameters{
    LayoutParameter{"atom", 32, "bytes of the memory atom: 8, 16, 32 or 64"},
    LayoutParameter{"line_stride", 0, "bytes from line to line; 0: packed"},
    LayoutParameter{"surface_stride", 0, "bytes from surface to surface; 0: packed"},
    LayoutParameter{"batch_stride", 0, "bytes from batch to batch; 0: packed"},
};
constexpr std::array atom_parameters{
    LayoutParameter{"atom", 32, "bytes of the memory atom: 8, 16, 32 or 64"}};
// source: NVDLA format page; int8-only configurations: the memory atom size
constexpr std::array operand_parameters{
    LayoutParameter{"lanes", 32, "elements of an atom: 32 for int8, 16 for 16 bits on nv_full"}};
constexpr std::array element_parameters{
    LayoutParameter{"lanes", 32, "elements of an atom: 32 for int8, 16 for 16 bits on nv_full"},
    LayoutParameter{"line_stride", 0, "bytes from line to line; 0: packed"},
    LayoutParameter{"surface_stride", 0, "bytes from surface to surface; 0: packed"}};

std::string pitched(std::string digit, std::uint64_t pitch) {
    return pitch == 0 ? digit : fmt::format("{}:{}", digit, pitch);
}

std::uint64_t lanes_of_atom(const LayoutRow& row, const LayoutRequest& request) {
    const std::uint64_t atom = parameter(row, request, "atom");
    if (atom < 8 || atom > 64 || !std::has_single_bit(atom) || atom % request.element != 0) {
        throw ConfigError(fmt::format("an atom of {} byte{} is not possible for {}-byte elements",
                                      atom, atom == 1 ? "" : "s", request.element),
                          "8, 16, 32 or 64");
    }
    return atom / request.element;
}

void require_lanes(std::uint64_t lanes) {
    if (lanes == 0 || lanes > 65536) {
        throw ConfigError(fmt::format("an atom of {} elements is not possible", lanes),
                          "1 to 65536");
    }
}

/// The registers hold strides in atoms.
void require_whole_atoms(const LayoutRow& row, const LayoutRequest& request) {
    const std::uint64_t atom = parameter(row, request, "atom");
    for (const char* name : {"line_stride", "surface_stride", "batch_stride"}) {
        const std::uint64_t stride = parameter(row, request, name);
        if (stride % atom != 0) {
            throw ConfigError(
                fmt::format("{} {} of layout {} is not a multiple of the atom's {} bytes", name,
                            stride, row.name, atom),
                fmt::format("{} or {}", stride / atom * atom, (stride / atom + 1) * atom));
        }
    }
}

Layout make_feature(const LayoutRow& row, const LayoutRequest& request) {
    const std::uint64_t lanes = lanes_of_atom(row, request);
    require_whole_atoms(row, request);
    const std::string surface =
        pitched(fmt::format("C/{}", lanes), parameter(row, request, "surface_stride"));
    const std::string line = pitched("H", parameter(row, request, "line_stride"));
    const std::string batch = pitched("N", parameter(row, request, "batch_stride"));
    return bind_row(row, request, fmt::format("{} {} {} W C%{}", batch, surface, line, lanes));
}

Layout make_vector(const LayoutRow& row, const LayoutRequest& request) {
    require_extent(row, request, 'H', 1);
    require_extent(row, request, 'W', 1);
    return bind_row(row, request, fmt::format("N C/{0} H W C%{0}", lanes_of_atom(row, request)));
}

/// Components are axis N: ALU first, then MUL.
Layout make_table(const LayoutRow& row, const LayoutRequest& request) {
    const std::uint64_t components = row.name == "batch_norm" ? 2 : 1;
    if (request.shape.extent('N') != components) {
        throw ConfigError(fmt::format("layout {} has {} component{} on axis N, but shape {} has {}",
                                      row.name, components, components == 1 ? "" : "s",
                                      to_string(request.shape), request.shape.extent('N')),
                          std::string(row.limits));
    }
    require_extent(row, request, 'H', 1);
    require_extent(row, request, 'W', 1);
    const std::uint64_t lanes = parameter(row, request, "lanes");
    require_lanes(lanes);
    return bind_row(row, request, fmt::format("C/{0} H W C%{0} N", lanes));
}

Layout make_elementwise(const LayoutRow& row, const LayoutRequest& request) {
    require_extent(row, request, 'N', 2);
    const std::uint64_t lanes = parameter(row, request, "lanes");
    require_lanes(lanes);
    const std::string surface =
        pitched(fmt::format("C/{}", lanes), parameter(row, request, "surface_stride"));
    const std::string line = pitched("H", parameter(row, request, "line_stride"));
    return bind_row(row, request, fmt::format("{} {} W C%{} N", surface, line, lanes));
}

constexpr std::array feature_rows{
    LayoutRow{"feature", "nvdla", "N C/E H W C%E", "feature cube; E = atom / element bytes",
              "strides are multiples of the atom", "NVDLA format page, traces", "NCHW", 0,
              feature_parameters, make_feature},
    LayoutRow{"feature_1x1", "nvdla", "N C/E C%E", "surface-packed cube of one pixel",
              "height and width are 1", "NVDLA format page", "NCHW", 0, atom_parameters,
              make_vector},
    LayoutRow{"bias", "nvdla", "C/L C%L", "bias per channel, whole atoms of L lanes",
              "N = H = W = 1; elements of 1 or 2 bytes", "NVDLA format page, C model", "NCHW", 0,
              operand_parameters, make_table},
    LayoutRow{"prelu", "nvdla", "C/L C%L", "PReLU slopes per channel, whole atoms of L lanes",
              "N = H = W = 1; elements of 1 or 2 bytes", "NVDLA format page, C model", "NCHW", 0,
              operand_parameters, make_table},
    LayoutRow{"batch_norm", "nvdla", "C/L C%L N", "pairs per channel: ALU value, MUL value",
              "N = 2 components, H = W = 1; elements of 1 or 2 bytes", "NVDLA format page, C model",
              "NCHW", 0, operand_parameters, make_table},
    LayoutRow{"elementwise", "nvdla", "C/L H W C%L N",
              "operand per element; two components: ALU value, MUL value",
              "N = 1 or 2 components; elements of 1 or 2 bytes", "NVDLA format page, C model",
              "NCHW", 0, element_parameters, make_elementwise},
};

}  // namespace

std::span<const LayoutRow> nvdla_layouts() { return feature_rows; }

// NVDLA's pixel formats as catalogue rows, one for each row of pixel_format.h. Every channel is a
// separate part, in logical order R/Y, G/U, B/V, A/X; plane 1 of semi-planar formats follows plane
// 0.
// source: NVDLA format page, table 33

namespace {

constexpr std::array pixel_parameters{
    LayoutParameter{"line_stride", 0, "bytes from line to line; 0: packed"},
    LayoutParameter{"line_stride_1", 0, "bytes from line to line in plane 1; 0: packed"},
    LayoutParameter{"plane_1", 0, "byte where plane 1 begins; 0: right after plane 0"},
    LayoutParameter{"x_offset", 0, "pixels before the first one of each line"},
    LayoutParameter{"atom", 1,
                    "bytes of the memory atom: strides and planes that are not given are rounded "
                    "up to it, and plane 1 skips x_offset modulo one"}};

struct Plane {
    std::uint64_t base = 0;
    std::uint64_t line_stride = 0;
    std::uint64_t pixel = 0;
    std::uint64_t skipped = 0;  ///< bytes before the first pixel of a line
};

Plane plane_of(const LayoutRow& row, const LayoutRequest& request, const PixelFormat& format,
               std::uint32_t plane) {
    const std::uint64_t pixel = format.pixel_bytes(plane).value;
    const std::uint64_t atom = parameter(row, request, "atom");
    const std::uint64_t offset = parameter(row, request, "x_offset");
    if (atom == 0 || atom > 65536 || offset > 65536) {
        throw ConfigError(
            fmt::format("layout {}: atom = {}, x_offset = {}", row.name, atom, offset),
            "an atom must have 1 to 65536 bytes; at most 65536 pixels can be skipped");
    }
    const std::uint64_t skipped = plane == 0 ? offset * pixel : offset * pixel % atom;
    const std::uint64_t line = skipped + pixel * request.shape.extent('W');
    const std::uint64_t given =
        parameter(row, request, plane == 0 ? "line_stride" : "line_stride_1");
    if (given != 0 && (given < line || given > std::uint64_t{1} << 40U)) {
        throw ConfigError(fmt::format("a line of {} needs {} bytes, but the stride is {}", row.name,
                                      line, given));
    }
    return {0, given == 0 ? round_up(line, atom) : given, pixel, skipped};
}

BitField field_of(const PixelFormat& format, std::uint32_t component) {
    if (!format.packed_word) {
        return {};
    }
    const bool alpha = format.order[component] == 3;
    const std::uint32_t before = format.order[0] == 3 && component > 0 ? 8 : 0;
    return {static_cast<std::uint8_t>(10 * component - before),
            static_cast<std::uint8_t>(alpha ? 2 : 10)};
}

LayoutPart channel_part(const LogicalShape& shape, std::uint32_t channel, const Plane& plane) {
    LayoutPart part;
    part.box = shape.box();
    part.box[shape.find('C')] = {channel, channel + 1};
    part.base = static_cast<std::int64_t>(plane.base);
    part.steps = {{shape.find('H'), 1, 0, static_cast<std::int64_t>(plane.line_stride)},
                  {shape.find('W'), 1, 0, static_cast<std::int64_t>(plane.pixel)}};
    return part;
}

void require_image(const LayoutRow& row, const LayoutRequest& request, const PixelFormat& format) {
    const LogicalShape& shape = request.shape;
    const std::uint64_t image = shape.extent('C') * shape.extent('H') * shape.extent('W');
    // where channels have separate bytes the last ones may be unused
    const std::uint64_t channels = shape.extent('C');
    const bool fits = channels == format.channels ||
                      (format.channels == 4 && !format.packed_word && channels < 4);
    if (!fits || shape.elements() != image || shape.find('C') == shape.axes.size() ||
        shape.find('H') == shape.axes.size() || shape.find('W') == shape.axes.size()) {
        throw ConfigError(fmt::format("pixel format {} takes one image of {} channel{}, not {}",
                                      row.name, format.channels, format.channels == 1 ? "" : "s",
                                      to_string(shape)));
    }
}

Layout make_pixels(const LayoutRow& row, const LayoutRequest& request) {
    const PixelFormat& format = *find_pixel_format(row.name);
    require_image(row, request, format);
    const std::uint64_t height = request.shape.extent('H');
    Layout layout{std::string(row.name),
                  std::string(row.sentence),
                  request.shape,
                  request.element,
                  ElementCode::Plain,
                  {},
                  0,
                  0};
    std::uint64_t end = 0;
    for (std::uint32_t plane = 0; plane < format.planes; ++plane) {
        Plane place = plane_of(row, request, format, plane);
        const std::uint64_t begin = plane == 0 ? 0 : parameter(row, request, "plane_1");
        if (begin != 0 && (begin < end || begin > std::uint64_t{1} << 48U)) {
            throw ConfigError(fmt::format("plane 1 of {} begins at byte {}, but plane 0 ends at {}",
                                          row.name, begin, end));
        }
        place.base = begin == 0 ? round_up(end, parameter(row, request, "atom")) : begin;
        end = place.base + place.line_stride * height;
        place.base += place.skipped;
        for (std::uint32_t i = 0; i < format.components(plane); ++i) {
            if (format.order[plane + i] >= request.shape.extent('C')) {
                continue;
            }
            const bool word = format.packed_word;
            Plane component = place;
            component.base += word ? 0 : std::uint64_t{i} * (format.field_bits / 8U);
            LayoutPart part = channel_part(request.shape, format.order[plane + i], component);
            part.field = field_of(format, i);
            layout.parts.push_back(std::move(part));
        }
    }
    layout.bytes = end;
    finish_layout(layout);
    return layout;
}

std::vector<LayoutRow> make_rows() {
    std::vector<LayoutRow> rows;
    for (const PixelFormat& format : pixel_formats()) {
        const std::string_view use = format.planes == 2   ? "semi-planar pixels"
                                     : format.packed_word ? "pixels in 32-bit words"
                                                          : "pixels";
        const std::string_view limits =
            format.channels == 1   ? "N = 1, C = 1"
            : format.channels == 3 ? "N = 1, C = 3"
            : format.packed_word   ? "N = 1, C = 4; keeps the upper 10 bits of 16, and 2 of "
                                     "alpha, as the NPU reads them"
                                   : "N = 1, C = 1 to 4";
        rows.push_back({format.name, "nvdla pixels", format.planes == 2 ? "plane H W C" : "H W C",
                        use, limits, "NVDLA format page, table 33", "NCHW",
                        static_cast<std::uint32_t>(format.code_bits / 8), pixel_parameters,
                        make_pixels});
    }
    return rows;
}

}  // namespace

std::span<const LayoutRow> nvdla_pixel_layouts() {
    static const std::vector<LayoutRow> rows = make_rows();
    return rows;
}

namespace {

constexpr std::uint64_t weight_multiple = 128;  // source: NVDLA format page, table 35

// source: hardware spec files, C model: nv_full's values for one-byte weights
constexpr std::array group_parameters{
    LayoutParameter{"group", 32, "kernels per group: atomic_k, or half of it for 2-byte weights"},
    LayoutParameter{"cube", 64, "channels of a cube: atomic_c"}};
constexpr std::array post_parameters{
    LayoutParameter{"group", 32, "kernels per group: atomic_k, or half of it for 2-byte weights"},
    LayoutParameter{"rows", 2, "rows interleaved: 2 or 4"}};
constexpr std::array winograd_parameters{
    LayoutParameter{"group", 32, "kernels per group: atomic_k, or half of it for 2-byte weights"}};
constexpr std::array deconvolution_parameters{
    LayoutParameter{"group", 32, "kernels per group: atomic_k, or half of it for 2-byte weights"},
    LayoutParameter{"cube", 64, "channels of a cube: atomic_c"},
    LayoutParameter{"stride_y", 2, "sets along the rows: the vertical stride"},
    LayoutParameter{"stride_x", 2, "sets along the columns: the horizontal stride"}};

std::uint64_t positive(const LayoutRow& row, const LayoutRequest& request, std::string_view name) {
    const std::uint64_t value = parameter(row, request, name);
    if (value == 0 || value > 65536) {
        throw ConfigError(fmt::format("layout {}: {} = {}", row.name, name, value), "1 to 65536");
    }
    return value;
}

Layout make_direct(const LayoutRow& row, const LayoutRequest& request) {
    const std::uint64_t group = positive(row, request, "group");
    const std::uint64_t cube = positive(row, request, "cube");
    return bind_row(row, request, fmt::format("K/{0}~ C/{1}~ R S K%{0} C%{1}", group, cube),
                    {.align_total = weight_multiple});
}

/// Cuts a part over K X R into parts over K C R S: in each, column and cube stay the same.
void split_fused(const LayoutPart& fused, const LogicalShape& shape, std::uint64_t cube,
                 std::vector<LayoutPart>& parts) {
    const std::uint64_t channels = shape.axes[1].extent;
    const IndexRange all = fused.box[1];
    for (std::uint64_t x = all.first; x < all.last;) {
        const std::uint64_t column = x / channels;
        const std::uint64_t end =
            std::min({all.last, (column + 1) * channels, (x / cube + 1) * cube});
        LayoutPart part;
        part.box = {fused.box[0],
                    {x - column * channels, end - column * channels},
                    fused.box[2],
                    {column, column + 1}};
        const std::array<std::uint64_t, 3> origin{fused.box[0].first, x, fused.box[2].first};
        part.base = fused.offset(origin);
        std::array<std::uint64_t, 3> next = origin;
        next[1] = std::min(x + 1, all.last - 1);
        const std::int64_t pitch = end - x > 1 ? fused.offset(next) - part.base : 0;
        part.base -= pitch * static_cast<std::int64_t>(x - column * channels);
        for (const LayoutStep& step : fused.steps) {
            if (step.axis != 1) {
                part.steps.push_back(step);
                part.base -= step.offset(origin[step.axis]);
            }
        }
        part.steps.push_back({1, 1, 0, pitch});
        parts.push_back(std::move(part));
        x = end;
    }
}

Layout make_image(const LayoutRow& row, const LayoutRequest& request) {
    const std::uint64_t group = positive(row, request, "group");
    const std::uint64_t cube = positive(row, request, "cube");
    const LogicalShape& shape = request.shape;
    if (shape.elements() !=
        shape.extent('K') * shape.extent('C') * shape.extent('R') * shape.extent('S')) {
        throw ConfigError(
            fmt::format("layout {} takes the axes K C R S, not {}", row.name, to_string(shape)));
    }
    const LogicalShape fused{{{'K', shape.extent('K')},
                              {'X', shape.extent('S') * shape.extent('C')},
                              {'R', shape.extent('R')}}};
    const std::string sentence = fmt::format("K/{0}~ X/{1}~ R K%{0} X%{1}", group, cube);
    Layout layout = bind(parse_sentence(sentence), fused,
                         {.name = std::string(row.name),
                          .element = request.element,
                          .align_total = weight_multiple});
    const std::vector<LayoutPart> parts = std::move(layout.parts);
    layout.parts.clear();
    layout.shape = {{{'K', shape.extent('K')},
                     {'C', shape.extent('C')},
                     {'R', shape.extent('R')},
                     {'S', shape.extent('S')}}};
    for (const LayoutPart& part : parts) {
        split_fused(part, layout.shape, cube, layout.parts);
    }
    return layout;
}

Layout make_post_extended(const LayoutRow& row, const LayoutRequest& request) {
    const std::uint64_t interleaved = positive(row, request, "rows");
    if (interleaved != 1 && interleaved != 2 && interleaved != 4) {
        throw ConfigError(fmt::format("layout {} cannot interleave {} rows", row.name, interleaved),
                          "1, 2 or 4");
    }
    return bind_row(
        row, request,
        fmt::format("K/{0}~ R/{1}~ K%{0} R%{1} S C", positive(row, request, "group"), interleaved),
        {.align_total = weight_multiple});
}

Layout make_winograd(const LayoutRow& row, const LayoutRequest& request) {
    const LogicalShape& shape = request.shape;
    const std::uint64_t step = 32 / request.element;  // source: format page, 32 bytes of channels
    if (shape.extent('R') != 4 || shape.extent('S') != 4 || shape.extent('C') % step != 0) {
        throw ConfigError(fmt::format("layout {} takes 4x4 kernels of a multiple of {} channels, "
                                      "but shape {} has {}x{} of {}",
                                      row.name, step, to_string(shape), shape.extent('R'),
                                      shape.extent('S'), shape.extent('C')),
                          "transform the 3x3 kernels first");
    }
    return bind_row(row, request,
                    fmt::format("K/{0}~ C/4 K%{0} R S C%4", positive(row, request, "group")),
                    {.align_total = weight_multiple});
}

Layout make_deconvolution(const LayoutRow& row, const LayoutRequest& request) {
    const std::string sentence = fmt::format(
        "R%{2} S%{3}^{4} K/{0}~ C/{1}~ R/{2}- S/{3}- K%{0} C%{1}", positive(row, request, "group"),
        positive(row, request, "cube"), positive(row, request, "stride_y"),
        positive(row, request, "stride_x"), weight_multiple);
    return bind_row(row, request, sentence);
}

constexpr std::string_view weight_page = "NVDLA format page, traces";
constexpr std::string_view widths = "elements of 1 or 2 bytes";

constexpr std::array weight_rows{
    LayoutRow{"weight_dc", "nvdla weights", "K/G~ C/D~ R S K%G C%D", "direct convolution", widths,
              weight_page, "KCRS", 0, group_parameters, make_direct},
    LayoutRow{"weight_image", "nvdla weights", "K/G~ X/D~ R K%G X%D",
              "image input, pre-extended: X = S * C + C index", widths, weight_page, "KCRS", 0,
              group_parameters, make_image},
    LayoutRow{"weight_image_post", "nvdla weights", "K/G~ R/F~ K%G R%F S C",
              "image input, post-extended: F rows interleaved", widths, "NVDLA C model", "KCRS", 0,
              post_parameters, make_post_extended},
    LayoutRow{"weight_winograd", "nvdla weights", "K/G~ C/4 K%G R S C%4",
              "Winograd kernels after their transform", "4x4 kernels, 32 bytes of channels",
              weight_page, "KCRS", 0, winograd_parameters, make_winograd},
    LayoutRow{"weight_deconv", "nvdla weights", "R%y S%x K/G~ C/D~ R/y- S/x- K%G C%D",
              "deconvolution, one set per output phase", widths, "NVDLA compiler, arithmetic",
              "KCRS", 0, deconvolution_parameters, make_deconvolution},
};

}  // namespace

std::span<const LayoutRow> nvdla_weight_layouts() { return weight_rows; }

std::optional<WeightLayout> stored_weights(const LayoutRow& row, const LayoutRequest& request) {
    const auto extent = [&](char axis) {
        return static_cast<std::uint32_t>(request.shape.extent(axis));
    };
    WeightLayout stored{{extent('K'), extent('C'), extent('R'), extent('S')}};
    stored.element = Bytes(request.element);
    if (row.make == make_image || row.make == make_post_extended) {
        stored.shape.channels *= stored.shape.columns;
        stored.shape.columns = 1;
        stored.cube_channels = stored.shape.channels;
    }
    if (row.make == make_direct || row.make == make_image) {
        stored.cube_channels = static_cast<std::uint32_t>(positive(row, request, "cube"));
    } else if (row.make == make_post_extended) {
        stored.row_group = static_cast<std::uint32_t>(positive(row, request, "rows"));
    } else if (row.make == make_winograd) {
        stored.cube_channels = 4;  // source: NVDLA format page, cubes of 4 x 4 x 4 elements
        stored.winograd = true;
    } else {
        return std::nullopt;
    }
    stored.group_kernels = static_cast<std::uint32_t>(positive(row, request, "group"));
    return stored;
}

}  // namespace npuscope
