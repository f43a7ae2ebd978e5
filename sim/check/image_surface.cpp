// SPDX-License-Identifier: Apache-2.0
#include "sim/check/image_surface.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "models/base/error.h"
#include "sim/config/nearest_name.h"

namespace npuscope {
namespace {

constexpr std::uint32_t largest_size = 65536;  // far beyond every register; products stay in range
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 40U;  // limit for strides and weights
constexpr SurfaceRegisters input_registers{"NVDLA_CDMA",    "D_DAIN_ADDR_LOW_0", "D_LINE_STRIDE",
                                           "D_SURF_STRIDE", "D_BATCH_STRIDE",    ""};
constexpr SurfaceRegisters output_registers{"NVDLA_SDP",          "D_DST_BASE_ADDR_LOW",
                                            "D_DST_LINE_STRIDE",  "D_DST_SURFACE_STRIDE",
                                            "D_DST_BATCH_STRIDE", ""};
constexpr SurfaceRegisters weight_registers{"NVDLA_CDMA", "D_WEIGHT_ADDR_LOW", "", "",
                                            "",           "D_WEIGHT_BYTES"};
constexpr SurfaceRegisters wmb_registers{"NVDLA_CDMA", "D_WMB_ADDR_LOW", "", "", "", "D_WMB_BYTES"};
constexpr SurfaceRegisters wgs_registers{"NVDLA_CDMA", "D_WGS_ADDR_LOW", "", "", "", ""};
constexpr SurfaceRegisters operand_registers{
    "NVDLA_SDP_RDMA", "D_BS_BASE_ADDR_LOW", "D_BS_LINE_STRIDE", "D_BS_SURFACE_STRIDE", "", ""};

bool is_output(const ImageSurface& surface) {
    const bool named = surface.name.starts_with("output") || surface.name.starts_with("result");
    return surface.role ? *surface.role == ImageRole::Output : named;
}

/// Calls make(); its errors are reported for the surface.
template <class Make>
auto of_surface(const ImageSurface& surface, Make make) {
    try {
        return make();
    } catch (const ConfigError& error) {
        refuse(surface, error.sentence(), error.remedy());
    }
}

using FourSizes = std::array<std::uint32_t, 4>;

FourSizes four_sizes(const ImageSurface& surface) {
    FourSizes shape{};
    const char* at = surface.shape.data();
    const char* const end = at + surface.shape.size();
    for (std::size_t i = 0; i < shape.size(); ++i) {
        const auto [stop, error] = std::from_chars(at, end, shape[i]);
        const bool last = i + 1 == shape.size();
        const bool separated = last ? stop == end : stop != end && *stop == 'x';
        if (error != std::errc() || !separated || shape[i] == 0 || shape[i] > largest_size) {
            refuse(surface, fmt::format("'{}' is not a shape", surface.shape),
                   "four sizes from 1 to 65536, as 1x64x13x15");
        }
        at = stop + 1;
    }
    return shape;
}

Precision precision_of(ElementType type) {
    return type == ElementType::Float16 ? Precision::Fp16
           : type == ElementType::Int16 ? Precision::Int16
                                        : Precision::Int8;
}

/// Names of a description that are not in the layout catalogue.
struct OwnLayout {
    std::string_view name;
    ImageKind kind;
};
constexpr std::array own_layouts{
    OwnLayout{"wmb", ImageKind::Wmb},
    OwnLayout{"wgs", ImageKind::Wgs},
    OwnLayout{"raw", ImageKind::Raw},
    OwnLayout{"per_channel", ImageKind::PerChannel},
    OwnLayout{"per_element", ImageKind::PerElement},
};

ImageKind kind_of(const LayoutSpec& layout) {
    if (layout.row == nullptr) {
        return ImageKind::Other;
    }
    const LayoutRow& row = *layout.row;
    if (row.family == "nvdla weights") {
        return ImageKind::Weights;
    }
    if (row.family == "nvdla pixels") {
        return ImageKind::Pixels;
    }
    if (row.family != "nvdla") {
        return ImageKind::Other;
    }
    return row.name.starts_with("feature") ? ImageKind::Feature
           : row.name == "elementwise"     ? ImageKind::PerElement
                                           : ImageKind::PerChannel;
}

class Placer {
 public:
    Placer(const ImageDescription& image, const NpuConfig* npu) : image_(image), npu_(npu) {}

    std::vector<PlacedSurface> place() {
        std::unordered_map<std::string_view, std::size_t> times;
        for (const ImageSurface& surface : image_.surfaces) {
            ++times[surface.name];
        }
        for (const ImageSurface& surface : image_.surfaces) {
            if (times[surface.name] > 1) {
                refuse(surface, "the name is used twice", "give each a name of its own");
            }
            if (surface.name.empty()) {
                refuse(surface, "it has no name", "give each a name of its own");
            }
            if (surface.first_operation && surface.last_operation &&
                *surface.last_operation < *surface.first_operation) {
                refuse(surface, "its last_operation is before its first_operation",
                       "exchange the two, or leave them out");
            }
            placed_.push_back(placed(surface));
            if (placed_.back().is_weights()) {
                weights_.emplace(surface.name, placed_.size() - 1);
            }
        }
        for (PlacedSurface& surface : placed_) {
            resolve(surface);
        }
        return std::move(placed_);
    }

 private:
    PlacedSurface placed(const ImageSurface& surface) {
        PlacedSurface placed;
        placed.described = surface;
        name_layout(placed);
        check_keys(placed);
        if (placed.kind != ImageKind::Other && placed.kind != ImageKind::Raw && npu_ == nullptr) {
            refuse(surface,
                   fmt::format("layout {} is one of NVDLA, and this NPU is not an NVDLA",
                               surface.layout),
                   "`raw`, or a layout of `npuscope list layouts` that is not NVDLA's");
        }
        switch (placed.kind) {
            case ImageKind::Feature:
                placed.registers = is_output(surface) ? output_registers : input_registers;
                place_feature(placed);
                break;
            case ImageKind::Pixels:
                placed.registers = input_registers;
                place_pixels(placed);
                break;
            case ImageKind::PerChannel:
            case ImageKind::PerElement:
                placed.registers = operand_registers;
                place_operand(placed);
                break;
            case ImageKind::Weights:
                placed.registers = weight_registers;
                place_weights(placed);
                break;
            case ImageKind::Wmb:
            case ImageKind::Wgs:
                placed.use.kind = DataKind::Weights;
                placed.registers = placed.kind == ImageKind::Wmb ? wmb_registers : wgs_registers;
                break;
            case ImageKind::Raw:
                if (surface.bytes.value_or(Bytes(0)) == Bytes(0)) {
                    refuse(surface, "it has no size", "give it `bytes`, or a `layout` and a shape");
                }
                placed.needed = *surface.bytes;
                break;
            case ImageKind::Other:
                place_other(placed);
                break;
        }
        return placed;
    }

    static void name_layout(PlacedSurface& placed) {
        const ImageSurface& surface = placed.described;
        const auto own = std::ranges::find(own_layouts, surface.layout, &OwnLayout::name);
        if (own != own_layouts.end()) {
            placed.kind = own->kind;
            const bool pair = surface.components == 2;
            if (own->kind == ImageKind::PerChannel) {
                placed.layout = parse_layout_spec(pair ? "batch_norm" : "bias");
            } else if (own->kind == ImageKind::PerElement) {
                placed.layout = parse_layout_spec("elementwise");
            }
            return;
        }
        of_surface(surface, [&] { return placed.layout = parse_layout_spec(surface.layout); });
        placed.kind = kind_of(placed.layout);
    }

    /// Returns a number that the layout's text leaves open.
    static std::uint64_t number(PlacedSurface& placed, const char* name, std::uint64_t usual) {
        const LayoutRow& row = *placed.layout.row;
        if (std::ranges::find(row.parameters, name, &LayoutParameter::name) ==
            row.parameters.end()) {
            return usual;
        }
        return placed.layout.parameters.emplace(name, usual).first->second;
    }
    /// The same for one that a key may give; 0 in the layout's text leaves it open, too.
    static std::uint64_t& number_or_key(PlacedSurface& placed, const char* name, bool key) {
        std::uint64_t& given = placed.layout.parameters[name];
        if (given != 0 && key) {
            refuse(placed.described, fmt::format("its {} is given twice", name),
                   "give it only once, by its key");
        }
        return given;
    }
    static Bytes stride(PlacedSurface& placed, const char* name, const std::optional<Bytes>& key,
                        Bytes usual) {
        std::uint64_t& given = number_or_key(placed, name, key.has_value());
        given = given != 0 ? given : key.value_or(usual).value;
        if (given > most_bytes) {
            refuse(placed.described, fmt::format("its {} does not fit any register", name),
                   "strides have 32 bits");
        }
        return Bytes(given);
    }

    void take_type(PlacedSurface& placed, ElementType usual) const {
        placed.type = &element_row(placed.described.type.value_or(usual));
    }
    void take_shape(PlacedSurface& placed, const FourSizes& sizes) const {
        const std::string_view letters = placed.layout.row->axes;
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            placed.shape.axes.push_back({letters[i], sizes[i]});
        }
    }

    void add_lines(const PlacedSurface& placed, std::uint64_t lines) {
        if (lines > std::uint64_t{1} << 22U) {
            refuse(placed.described, "its sizes do not fit any register", "sizes have 13 bits");
        }
        lines_ += lines;
        if (lines_ > most_lines) {
            refuse(placed.described, "it and those before it have too many lines",
                   fmt::format("all surfaces together have up to {}", most_lines));
        }
    }

    void place_feature(PlacedSurface& placed) {
        const ImageSurface& surface = placed.described;
        const auto [n, c, h, w] = four_sizes(surface);
        take_type(placed, ElementType::Int8);
        take_shape(placed, {n, c, h, w});
        const Bytes atom(number(placed, "atom", npu_->datapath.memory_atom.value));
        if (atom.value == 0 || atom.value > 65536 || atom.value % placed.type->bytes != 0) {
            refuse(surface,
                   fmt::format("an atom of {} bytes is not possible for elements of type {}",
                               atom.value, placed.type->name),
                   "omit the atom; it follows from the NPU");
        }
        FeatureCube cube{.base = surface.address,
                         .line_stride = {},
                         .surface_stride = {},
                         .shape = {c, h, w},
                         .atom = atom,
                         .element = Bytes(placed.type->bytes)};
        if (placed.layout.row->name == "feature") {
            placed.line_stride = stride(placed, "line_stride", surface.line_stride, atom * w);
            placed.surface_stride =
                stride(placed, "surface_stride", surface.surface_stride, placed.line_stride * h);
            placed.batch_stride = stride(placed, "batch_stride", surface.batch_stride,
                                         placed.surface_stride * cube.surfaces());
        } else if (n != 1 || h != 1 || w != 1) {
            refuse(surface, "it holds more than one pixel", "layout feature takes any size");
        } else {
            placed.line_stride = placed.surface_stride = placed.batch_stride = atom;
        }
        cube.line_stride = placed.line_stride;
        cube.surface_stride = placed.surface_stride;
        if (n > 1) {
            cube.shape.height = n * h;
            cube.batch_lines = h;
            cube.batch_stride = placed.batch_stride;
        }
        if (placed.batch_stride.value > most_bytes || std::uint64_t{n} * h > largest_size) {
            refuse(surface, "its strides or sizes do not fit any register",
                   "strides have 32 bits, sizes 13");
        }
        add_lines(placed, cube.lines());
        placed.use = cube_use(std::move(placed.use), cube);
        placed.needed = placed.use.runs.back().end() - surface.address;
    }

    void place_pixels(PlacedSurface& placed) {
        const ImageSurface& surface = placed.described;
        const auto [n, c, h, w] = four_sizes(surface);
        const PixelFormat& format = *find_pixel_format(placed.layout.row->name);
        placed.pixels = &format;
        placed.use.kind = DataKind::Pixels;
        take_type(placed, format.floating         ? ElementType::Float16
                          : format.code_bits == 8 ? ElementType::Uint8
                                                  : ElementType::Uint16);
        take_shape(placed, {n, c, h, w});
        const Bytes atom(number(placed, "atom", npu_->datapath.memory_atom.value));
        std::uint64_t& offset = number_or_key(placed, "x_offset", surface.x_offset != 0);
        offset = offset != 0 ? offset : surface.x_offset;
        if (offset > 31) {
            refuse(surface, "its offset does not fit any register", "x_offset has 5 bits");
        }
        PixelSurface pixels{.format = &format,
                            .base = {surface.address, surface.address},
                            .line_stride = {},
                            .x_offset = static_cast<std::uint32_t>(offset),
                            .atom = atom,
                            .height = h,
                            .width = w};
        const auto line = [&](std::uint32_t plane) {
            const Bytes used = pixels.skipped(plane) + format.pixel_bytes(plane) * pixels.width;
            return Bytes(round_up(used.value, atom.value));
        };
        placed.line_stride = stride(placed, "line_stride", surface.line_stride, line(0));
        pixels.line_stride[0] = placed.line_stride;
        if (format.planes == 2) {
            placed.line_stride_1 = stride(placed, "line_stride_1", surface.line_stride_1, line(1));
            pixels.line_stride[1] = placed.line_stride_1;
            place_second_plane(placed, pixels);
        }
        add_lines(placed, std::uint64_t{h} * format.planes);
        // the first pixel is x_offset pixels after the address: what is skipped counts as read
        placed.use = with_runs(std::move(placed.use), pixels.runs());
        placed.needed = placed.use.runs.back().end() - surface.address;
        bind_early(placed);
    }

    static void place_second_plane(PlacedSurface& placed, PixelSurface& pixels) {
        const ImageSurface& surface = placed.described;
        std::uint64_t& begin = number_or_key(placed, "plane_1", surface.address_1.has_value());
        const Bytes first = pixels.line_stride[0] * pixels.height;
        if (surface.address_1) {
            if (*surface.address_1 < surface.address + first) {
                refuse(surface, "its second plane begins before the first one ends",
                       "`address_1` must lie after all lines of the first plane");
            }
            begin = (*surface.address_1 - surface.address).value;
        } else if (begin == 0) {
            begin = round_up(first.value, pixels.atom.value);
        }
        pixels.base[1] = surface.address + Bytes(begin);
    }

    void place_operand(PlacedSurface& placed) {
        const ImageSurface& surface = placed.described;
        auto [n, c, h, w] = four_sizes(surface);
        const std::string_view row = placed.layout.row->name;
        const std::uint32_t components = row == "batch_norm" ? 2 : std::max(n, surface.components);
        if (components > 2 || (components == 2 && row != "batch_norm" && row != "elementwise")) {
            refuse(surface, "N must be 1", "set N to 1; `components` must be 1 or 2");
        }
        take_type(placed, ElementType::Int8);
        take_shape(placed, {components, c, h, w});
        const DatapathConfig& path = npu_->datapath;
        const ElementType own = placed.type->type;
        const ElementType data =
            surface.data.value_or(path.supports(precision_of(own)) ? own : ElementType::Int8);
        const std::uint64_t lanes = number(placed, "lanes", path.atom_channels(precision_of(data)));
        if (lanes == 0 || lanes > largest_size) {
            refuse(surface, fmt::format("an atom of {} lanes is not possible", lanes),
                   "omit them; they follow from the NPU");
        }
        OperandSurface operand{.base = surface.address,
                               .line_stride = {},
                               .surface_stride = {},
                               .shape = {c, h, w},
                               .elements_per_atom = static_cast<std::uint32_t>(lanes),
                               .components = components,
                               .component = Bytes(placed.type->bytes)};
        if (placed.kind == ImageKind::PerElement) {
            operand.spread = OperandSpread::PerElement;
            placed.use.kind = DataKind::ElementWise;
            placed.line_stride =
                stride(placed, "line_stride", surface.line_stride, operand.atom() * w);
            placed.surface_stride =
                stride(placed, "surface_stride", surface.surface_stride, placed.line_stride * h);
            operand.line_stride = placed.line_stride;
            operand.surface_stride = placed.surface_stride;
            add_lines(placed, std::uint64_t{operand.surfaces()} * h);
        } else {
            placed.use.kind = row == "prelu"        ? DataKind::Prelu
                              : row == "batch_norm" ? DataKind::BatchNorm
                                                    : DataKind::Bias;
            placed.shape.axes[2].extent = placed.shape.axes[3].extent = 1;
        }
        placed.use = operand_use(std::move(placed.use), operand);
        placed.needed = operand.extent();
    }

    void place_weights(PlacedSurface& placed) const {
        const ImageSurface& surface = placed.described;
        placed.use.kind = DataKind::Weights;
        const auto [k, c, r, s] = four_sizes(surface);
        take_type(placed, ElementType::Int8);
        take_shape(placed, {k, c, r, s});
        if (std::uint64_t{k} * c > most_bytes / (std::uint64_t{r} * s) || c > largest_size / s) {
            refuse(surface, "it has more weights than fit any memory", "correct its shape");
        }
        number(placed, "group", npu_->datapath.group_kernels(precision_of(placed.type->type)));
        number(placed, "cube", npu_->datapath.atomic_c);
        placed.weights = of_surface(surface, [&] {
            return stored_weights(*placed.layout.row,
                                  {placed.shape, placed.type->bytes, placed.layout.parameters});
        });
        placed.needed = placed.weights ? placed.weights->stored_bytes()
                                       : Bytes(round_up(bind_early(placed), 128));
    }

    void place_other(PlacedSurface& placed) const {
        const ImageSurface& surface = placed.described;
        const std::uint32_t element = placed.layout.row == nullptr ? 1 : placed.layout.row->element;
        take_type(placed, element == 4   ? ElementType::Float32
                          : element == 2 ? ElementType::Int16
                                         : ElementType::Int8);
        placed.shape = of_surface(surface, [&] {
            const auto extents =
                static_cast<std::size_t>(std::ranges::count(surface.shape, 'x')) + 1;
            return parse_shape(surface.shape, placed.layout.axes_for(extents));
        });
        placed.needed = Bytes(bind_early(placed));
    }

    /// If only the layout itself knows its size, or what it does not support.
    static std::uint64_t bind_early(const PlacedSurface& placed) { return placed.bind().bytes; }

    /// Masks and sizes follow from their weights; sizes become runs.
    void resolve(PlacedSurface& surface) const {
        if (surface.kind == ImageKind::Wmb || surface.kind == ImageKind::Wgs) {
            const PlacedSurface& weights = weights_of(surface);
            surface.weights = weights.weights;
            surface.needed = surface.kind == ImageKind::Wmb ? stored_mask_bytes(*weights.weights)
                                                            : Bytes(4) * weights.weights->groups();
        }
        SurfaceUse& use = surface.use;
        use.surface = surface.described.name;
        use.unit = surface.registers.unit;
        use.address_register = surface.registers.address;
        use.stride_register = surface.registers.line_stride;
        use.surface_stride_register = surface.registers.surface_stride;
        use.writes = is_output(surface.described);
        use.base = surface.described.address;
        if (use.runs.empty()) {
            use.runs = {{use.base, surface.described.bytes.value_or(surface.needed)}};
        }
    }

    const PlacedSurface& weights_of(const PlacedSurface& surface) const {
        const auto found = weights_.find(surface.described.of);
        if (found == weights_.end()) {
            std::vector<std::string> known;
            for (const PlacedSurface& other : placed_) {
                if (other.is_weights()) {
                    known.push_back(other.described.name);
                }
            }
            const std::string& of = surface.described.of;
            refuse(surface.described,
                   of.empty() ? std::string("`of` is missing: the weights that it belongs to")
                              : fmt::format("'{}' is not among the weights described here", of),
                   name_remedy(of, known));
        }
        const PlacedSurface& weights = placed_[found->second];
        if (!weights.weights) {
            refuse(surface.described,
                   fmt::format("'{}' holds all sets of a deconvolution", surface.described.of),
                   "each set is compressed alone: describe it as weight_dc");
        }
        return weights;
    }

    static constexpr std::size_t most_lines = std::size_t{1} << 23U;

    const ImageDescription& image_;
    const NpuConfig* npu_;
    std::vector<PlacedSurface> placed_;
    std::unordered_map<std::string_view, std::size_t> weights_;  ///< index by name
    std::size_t lines_ = 0;                                      ///< of all surfaces so far
};

}  // namespace

std::vector<PlacedSurface> place_surfaces(const ImageDescription& image, const NpuConfig* nvdla) {
    return Placer(image, nvdla).place();
}

}  // namespace npuscope
