// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <unordered_map>

#include "models/base/error.h"
#include "models/layout/weight_layout.h"
#include "sim/check/image_description.h"
#include "sim/config/file_io.h"
#include "sim/config/limits.h"
#include "sim/config/nearest_name.h"

namespace npuscope {
namespace {

constexpr std::uint32_t largest_size = 65536;  // far beyond every register; products stay in range
constexpr SurfaceRegisters input_registers{"NVDLA_CDMA", "D_DAIN_ADDR_LOW_0", "D_LINE_STRIDE",
                                           "D_SURF_STRIDE", ""};
constexpr SurfaceRegisters output_registers{"NVDLA_SDP", "D_DST_BASE_ADDR_LOW", "D_DST_LINE_STRIDE",
                                            "D_DST_SURFACE_STRIDE", ""};
constexpr SurfaceRegisters weight_registers{"NVDLA_CDMA", "D_WEIGHT_ADDR_LOW", "", "",
                                            "D_WEIGHT_BYTES"};
constexpr SurfaceRegisters wmb_registers{"NVDLA_CDMA", "D_WMB_ADDR_LOW", "", "", "D_WMB_BYTES"};
constexpr SurfaceRegisters wgs_registers{"NVDLA_CDMA", "D_WGS_ADDR_LOW", "", "", ""};
constexpr SurfaceRegisters operand_registers{"NVDLA_SDP_RDMA", "D_BS_BASE_ADDR_LOW",
                                             "D_BS_LINE_STRIDE", "D_BS_SURFACE_STRIDE", ""};

ImageFormat format_of(const ImageFile& file) {
    const std::string ending = std::filesystem::path(file.file).extension().string();
    if (ending == ".hex" || ending == ".ihex" || ending == ".ihx") {
        return ImageFormat::Ihex;
    }
    if (ending == ".mem" || ending == ".vmem") {
        return ImageFormat::Readmemh;
    }
    return ending == ".dat" ? ImageFormat::Dat : ImageFormat::Raw;
}

bool is_output(const ImageSurface& surface) {
    const bool named = surface.name.starts_with("output") || surface.name.starts_with("result");
    return surface.role ? *surface.role == ImageRole::Output : named;
}

[[noreturn]] void refuse(const ImageSurface& surface, const std::string& what,
                         const std::string& remedy) {
    throw ConfigError(surface.place, fmt::format("surface '{}': {}", surface.name, what), remedy);
}

ImageShape parse_shape(const ImageSurface& surface) {
    ImageShape shape{};
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

class Placer {
 public:
    Placer(const ImageDescription& image, const DatapathConfig& datapath)
        : image_(image), datapath_(datapath) {}

    std::vector<PlacedSurface> place() {
        std::unordered_map<std::string_view, std::size_t> times;
        for (const ImageSurface& surface : image_.surfaces) {
            ++times[surface.name];
        }
        for (const ImageSurface& surface : image_.surfaces) {
            if (times[surface.name] > 1) {
                refuse(surface, "the name is used twice", "give each a name of its own");
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
        if (needs_shape(surface.layout)) {
            placed.shape = parse_shape(surface);
        }
        const bool in_range = surface.address.value <= ~std::uint64_t{0} >> 1U &&
                              surface.bytes.value_or(Bytes(0)).value <= std::uint64_t{1} << 48U;
        if (!in_range) {
            refuse(surface, "it lies beyond every memory", "addresses have up to 63 bits");
        }
        switch (surface.layout) {
            case ImageLayout::Feature:
                placed.registers = is_output(surface) ? output_registers : input_registers;
                place_cube(placed, 1);
                break;
            case ImageLayout::PerElement:
                placed.use.kind = DataKind::ElementWise;
                placed.registers = operand_registers;
                place_cube(placed, surface.components);
                break;
            case ImageLayout::PerChannel:
                place_per_channel(placed);
                break;
            case ImageLayout::WeightDc:
            case ImageLayout::WeightImage:
                place_weights(placed);
                break;
            case ImageLayout::Wmb:
            case ImageLayout::Wgs:
                placed.use.kind = DataKind::Weights;
                placed.registers =
                    surface.layout == ImageLayout::Wmb ? wmb_registers : wgs_registers;
                break;
            case ImageLayout::Raw:
                if (!surface.bytes) {
                    refuse(surface, "it has no size", "give it `bytes`");
                }
                placed.needed = *surface.bytes;
                break;
        }
        return placed;
    }

    static bool needs_shape(ImageLayout layout) {
        return layout != ImageLayout::Wmb && layout != ImageLayout::Wgs &&
               layout != ImageLayout::Raw;
    }

    /// A feature cube, or operands as many bytes an element.
    void place_cube(PlacedSurface& placed, std::uint32_t components) {
        const ImageSurface& surface = placed.described;
        const auto [n, c, h, w] = placed.shape;
        if (n != 1 || components < 1 || components > 2) {
            refuse(surface, "it holds more than one cube", "N is 1; `components` is 1 or 2");
        }
        const std::uint64_t element = bytes_of(surface.type) * components;
        const std::uint64_t lanes = surface.layout == ImageLayout::Feature
                                        ? datapath_.memory_atom.value / bytes_of(surface.type)
                                        : datapath_.memory_atom.value;
        const Bytes atom(lanes * element);
        placed.line_stride = surface.line_stride.value_or(atom * w);
        placed.surface_stride = surface.surface_stride.value_or(placed.line_stride * h);
        const std::uint64_t surfaces = divide_up(c, lanes);
        constexpr std::uint64_t most = std::uint64_t{1} << 40U;
        if (placed.line_stride.value > most || placed.surface_stride.value > most ||
            surfaces * h > std::uint64_t{1} << 22U) {
            refuse(surface, "its strides or sizes are beyond every register",
                   "strides have 32 bits, sizes 13");
        }
        lines_ += surfaces * h;
        if (lines_ > most_lines) {
            refuse(surface, "it and those before it have too many lines",
                   fmt::format("all surfaces together have up to {}", most_lines));
        }
        std::vector<ByteRun> lines;
        for (std::uint64_t s = 0; s < surfaces; ++s) {
            for (std::uint64_t y = 0; y < h; ++y) {
                lines.push_back(
                    {surface.address + placed.surface_stride * s + placed.line_stride * y,
                     atom * w});
            }
        }
        placed.use = with_runs(std::move(placed.use), std::move(lines));
        placed.needed = placed.use.runs.back().end() - surface.address;
    }

    void place_per_channel(PlacedSurface& placed) const {
        placed.use.kind = DataKind::Bias;
        placed.registers = operand_registers;
        const std::uint64_t channels = round_up(placed.shape[1], datapath_.memory_atom.value);
        placed.needed =
            Bytes(channels * bytes_of(placed.described.type) * placed.described.components);
    }

    void place_weights(PlacedSurface& placed) const {
        placed.use.kind = DataKind::Weights;
        placed.registers = weight_registers;
        const auto [k, c, r, s] = placed.shape;
        KernelShape shape{k, c, r, s};
        if (placed.described.layout == ImageLayout::WeightImage) {
            shape.channels = c * s;
            shape.columns = 1;
        }
        constexpr std::uint64_t most = std::uint64_t{1} << 40U;
        if (std::uint64_t{k} * c > most / (std::uint64_t{r} * s) || c > largest_size / s) {
            refuse(placed.described, "it has more weights than any memory holds",
                   "correct its shape");
        }
        placed.weights = direct_weights(shape, datapath_, Bytes(bytes_of(placed.described.type)));
        placed.needed = placed.weights->stored_bytes();
    }

    /// Masks and sizes follow from their weights; sizes become runs.
    void resolve(PlacedSurface& surface) const {
        const ImageLayout layout = surface.described.layout;
        if (layout == ImageLayout::Wmb || layout == ImageLayout::Wgs) {
            const PlacedSurface& weights = weights_of(surface);
            surface.weights = weights.weights;
            surface.needed = layout == ImageLayout::Wmb ? stored_mask_bytes(*weights.weights)
                                                        : Bytes(4) * weights.weights->groups();
        }
        SurfaceUse& use = surface.use;
        use.surface = surface.described.name;
        use.unit = surface.registers.unit;
        use.address_register = surface.registers.address;
        use.stride_register = surface.registers.line_stride;
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
            refuse(surface.described,
                   fmt::format("there are no weights '{}' for it", surface.described.of),
                   name_remedy(surface.described.of, known));
        }
        return placed_[found->second];
    }

    static constexpr std::size_t most_lines = std::size_t{1} << 23U;

    const ImageDescription& image_;
    const DatapathConfig& datapath_;
    std::vector<PlacedSurface> placed_;
    std::unordered_map<std::string_view, std::size_t> weights_;  ///< index by name
    std::size_t lines_ = 0;                                      ///< of all surfaces so far
};

}  // namespace

ImageDescription parse_image(const std::string& text, const std::string& file) {
    const ConfigNode root = parse_yaml(text, file);
    auto image = read_limited<ImageDescription>(root, "image");
    image.file = file;
    const auto place = [&](const char* list, auto& entries) {
        const ConfigNode* node = root.find(list);
        for (std::size_t i = 0; node != nullptr && i < entries.size(); ++i) {
            entries[i].place = node->items[i].place;
        }
    };
    place("memory", image.memory);
    place("surfaces", image.surfaces);
    return image;
}

MemoryImage image_of(const ImageFile& file, const std::string& content) {
    switch (file.format.value_or(format_of(file))) {
        case ImageFormat::Dat:
            return parse_memory_text(content, file.file);
        case ImageFormat::Ihex:
            return parse_intel_hex(content, file.file);
        case ImageFormat::Readmemh:
            return parse_readmemh(content, file.file);
        case ImageFormat::Raw:
            break;
    }
    return raw_image(content);
}

std::vector<NamedSurface> described_surfaces(const ImageDescription& image,
                                             const DatapathConfig& datapath) {
    std::vector<NamedSurface> surfaces;
    for (const PlacedSurface& placed : place_surfaces(image, datapath)) {
        const ImageSurface& described = placed.described;
        const std::string place = to_hex(described.address) + ':';
        const std::string type =
            described.type == ImageType::Fp16 ? "float16" : std::string(enum_name(described.type));
        std::string spec =
            fmt::format("{}{}:uint8:W", place, described.bytes.value_or(placed.needed).value);
        if (described.layout == ImageLayout::Feature) {
            spec = fmt::format("{}{}:{}:feature:atom={},line_stride={},surface_stride={}", place,
                               described.shape, type, datapath.memory_atom.value,
                               placed.line_stride.value, placed.surface_stride.value);
        } else if (described.layout == ImageLayout::WeightDc) {
            const std::uint64_t bytes = bytes_of(described.type);
            spec = fmt::format("{}{}:{}:weight_dc:group={},cube={}", place, described.shape, type,
                               std::max<std::uint64_t>(1, datapath.atomic_k / bytes),
                               datapath.atomic_c);
        }
        surfaces.push_back({.name = described.name, .spec = spec});
    }
    return surfaces;
}

LoadImageFile files_beside(const std::filesystem::path& description) {
    const std::filesystem::path folder = description.parent_path();
    return [folder, budget = std::make_shared<ImageBudget>()](const ImageFile& file) {
        MemoryImage image = image_of(file, read_whole_file(folder / file.file, file.place));
        budget->take(image, file.place);
        return image;
    };
}

std::vector<PlacedSurface> place_surfaces(const ImageDescription& image,
                                          const DatapathConfig& datapath) {
    return Placer(image, datapath).place();
}

}  // namespace npuscope
