// SPDX-License-Identifier: Apache-2.0
#include "sim/check/image_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "models/base/rule_ids.h"

namespace npuscope {
namespace {

constexpr std::uint64_t largest_address = ~std::uint64_t{0} >> 2U;

class ImageCheck {
 public:
    ImageCheck(const ImageDescription& image, const ImageTarget& target)
        : image_(image),
          target_(target),
          surfaces_(place_surfaces(image, target.nvdla)),
          memory_({target.memory, target.nvdla != nullptr ? target.nvdla->mcif.address_bits : 64}) {
    }

    CheckReport run(const LoadImageFile& load) {
        std::unordered_map<std::string_view, Place> places;
        for (const PlacedSurface& surface : surfaces_) {
            places.emplace(surface.use.surface, surface.described.place);
        }
        log_.locate_by([&places](const Diagnostic& finding) {
            const auto place = places.find(finding.surface);
            return place == places.end() ? Place{} : place->second;
        });
        for (const ImageFile& file : image_.memory) {
            load_file(file, load(file));
        }
        for (std::size_t i = 0; i < surfaces_.size(); ++i) {
            parts_.emplace(std::pair(surfaces_[i].described.of, surfaces_[i].kind), i);
        }
        for (PlacedSurface& surface : surfaces_) {
            check_features(surface);
            check_alignment(surface);
            check_size(surface);
            memory_.check_use(driver_, surface.use, log_);
            check_loaded(surface);
            const PlacedSurface* const mask = part_of(surface, ImageKind::Wmb);
            for (const Diagnostic& one : value_findings(surface, mask, memory_)) {
                log_.add(one);
            }
        }
        check_overlaps();
        CheckReport report{.subject = image_.file,
                           .npu = target_.npu,
                           .surfaces = surfaces_.size(),
                           .findings = log_.findings()};
        for (const PlacedSurface& surface : surfaces_) {
            report.map.add_surface(surface.described.name, surface.use.extent());
        }
        return report;
    }

 private:
    Diagnostic finding(const PlacedSurface& surface, const char* id, const std::string& message,
                       std::string_view register_name, const std::string& remedy) const {
        Diagnostic one = surface_finding(driver_, surface.use, id, message, remedy);
        one.register_name = register_name.empty() ? "" : spelled(surface.use.unit, register_name);
        return one;
    }
    void add(const PlacedSurface& surface, const char* id, const std::string& message,
             std::string_view register_name, const std::string& remedy) {
        log_.add(finding(surface, id, message, register_name, remedy));
    }

    void load_file(const ImageFile& file, MemoryImage image) {
        for (const MemoryImage::Run& run : image.runs) {
            if (run.offset > largest_address || file.address.value > largest_address) {
                throw ConfigError(file.place,
                                  fmt::format("'{}' lies outside every memory", file.file),
                                  "addresses have up to 62 bits");
            }
        }
        files_.push_back({MemoryPort::Primary, file.address, std::move(image), file.file});
        memory_.load(files_.back(), file.place, log_);
    }

    void lacks(const PlacedSurface& surface, const std::string& message,
               std::string_view register_name, const std::string& remedy) {
        log_.add(as_lacking(finding(surface, "", message, register_name, remedy)));
    }

    /// Features that the NPU does not have.
    void check_features(const PlacedSurface& surface) {
        if (surface.kind == ImageKind::Other) {
            check_family(surface);
            return;
        }
        if (target_.nvdla == nullptr || surface.kind == ImageKind::Raw) {
            return;
        }
        const NpuConfig& npu = *target_.nvdla;
        if (surface.kind == ImageKind::Pixels) {
            check_pixels(surface);
        } else if (surface.type != nullptr && !takes(surface)) {
            lacks(surface,
                  fmt::format("{} does not support elements of type {}", target_.npu,
                              surface.type->name),
                  "", "choose int8, or a preset that has the type");
        }
        const bool mask = surface.kind == ImageKind::Wmb || surface.kind == ImageKind::Wgs;
        if (mask && !npu.cdma.weight_compression) {
            lacks(surface, fmt::format("{} does not support compressed weights", target_.npu),
                  "D_WEIGHT_FORMAT", "store the weights uncompressed, or choose another preset");
        }
        if (surface.weights && surface.weights->winograd && !mask && !npu.cdma.winograd) {
            lacks(surface, fmt::format("{} does not support Winograd convolution", target_.npu),
                  "D_MISC_CFG", "store the kernels as weight_dc, or choose another preset");
        }
        const std::uint64_t batches = surface.shape.extent('N');
        if (surface.kind == ImageKind::Feature && batches > npu.cdma.max_batch &&
            !surface.use.writes) {
            lacks(surface,
                  fmt::format("{} batches, but {} supports {}", batches, target_.npu,
                              npu.cdma.max_batch),
                  "D_BATCH_NUMBER", "give each batch a surface of its own");
        }
        check_post_extension(surface);
    }

    bool takes(const PlacedSurface& surface) const {
        const DatapathConfig& path = target_.nvdla->datapath;
        const ElementType type = surface.type->type;
        const bool operand =
            surface.kind == ImageKind::PerChannel || surface.kind == ImageKind::PerElement;
        return type == ElementType::Int8 ||
               (type == ElementType::Int16 && (path.int16 || operand)) ||
               (type == ElementType::Float16 && path.fp16);
    }

    void check_pixels(const PlacedSurface& surface) {
        const DatapathConfig& path = target_.nvdla->datapath;
        const PixelFormat& format = *surface.pixels;
        if (format.floating ? !path.fp16 : format.code_bits > 8 && !path.int16) {
            lacks(surface,
                  fmt::format("{} does not support pixels of format {} ({})", target_.npu,
                              format.name, format.floating ? "fp16" : "16-bit elements"),
                  "D_DATAIN_FORMAT",
                  "choose a format of 8-bit components, or a preset that has the type");
        }
        const std::uint64_t offset = surface.layout.parameters.at("x_offset");
        const std::uint64_t limit = path.memory_atom / format.pixel_bytes(0);
        if (offset >= limit) {
            add(surface, rule_ids::register_value,
                fmt::format("X offset {} of '{}' is not below {}, the pixels of one atom", offset,
                            surface.described.name, limit),
                "D_PIXEL_OFFSET", "advance the start address by whole atoms instead");
        }
    }

    /// source: NVDLA format page, "Channel Post-Extension"; NVDLA compiler, limits
    void check_post_extension(const PlacedSurface& surface) {
        if (!surface.is_weights() || !surface.weights || surface.weights->row_group == 1) {
            return;
        }
        const std::uint32_t rows = surface.weights->row_group;
        if (rows != 2 && rows != 4) {
            Diagnostic one =
                finding(surface, rule_ids::register_value,
                        fmt::format("{} rows of '{}' are interleaved, but the sequencer takes 1, 2 "
                                    "or 4 at once",
                                    rows, surface.described.name),
                        "", "interleave 2 or 4 rows");
            one.unit = "NVDLA_CSC";
            one.register_name = spelled(one.unit, "D_POST_Y_EXTENSION");
            log_.add(std::move(one));
            return;
        }
        const std::uint32_t most = target_.nvdla->datapath.atomic_c / rows;
        if (surface.weights->shape.channels > most) {
            add(surface, rule_ids::post_extension_channels,
                fmt::format("{} rows of '{}' are interleaved, but its kernels have {} channels "
                            "after channel pre-extension, more than {}",
                            rows, surface.described.name, surface.weights->shape.channels, most),
                "", "interleave fewer rows");
        }
    }

    /// Layouts that the NPU's own surfaces do not have.
    void check_family(const PlacedSurface& surface) {
        const LayoutRow* row = surface.layout.row;
        if (row == nullptr || row->family != "kneron") {
            return;  // layouts of hosts
        }
        static const std::vector<std::string> none;
        const std::vector<std::string>& taken = target_.nvdla == nullptr ? none
                                                : surface.use.writes
                                                    ? target_.nvdla->surfaces.outputs
                                                    : target_.nvdla->surfaces.inputs;
        const bool known = std::ranges::any_of(taken, [&](const std::string& name) {
            return find_layout(std::string_view(name).substr(0, name.find(':'))) == row;
        });
        if (!known) {
            lacks(surface,
                  fmt::format("{} does not {} images of layout {}", target_.npu,
                              surface.use.writes ? "produce" : "accept", row->name),
                  "",
                  taken.empty() ? "choose the preset of the chip"
                                : fmt::format("it supports {}", fmt::join(taken, ", ")));
        }
    }

    void check_multiple(const PlacedSurface& surface, AlignedPart part, std::uint64_t value,
                        const char* register_name) {
        const Bytes atom = target_.nvdla->datapath.memory_atom;
        if (const auto finding = misaligned({surface.registers.unit, register_name, value},
                                            {surface.use.kind, part, atom})) {
            add(surface, finding->id.c_str(), finding->sentence, register_name, finding->remedy);
        }
    }

    void check_alignment(const PlacedSurface& surface) {
        if (surface.kind == ImageKind::Raw || surface.kind == ImageKind::Other) {
            return;
        }
        const SurfaceRegisters& registers = surface.registers;
        const auto stride = [&](AlignedPart part, Bytes value, const char* register_name) {
            check_multiple(surface, part, value.value, register_name);
        };
        stride(AlignedPart::Start, Bytes(surface.described.address.value), registers.address);
        stride(AlignedPart::LineStride, surface.line_stride, registers.line_stride);
        stride(AlignedPart::SurfaceStride, surface.surface_stride, registers.surface_stride);
        if (surface.shape.extent('N') > 1) {
            stride(AlignedPart::CubeStride, surface.batch_stride, registers.batch_stride);
        }
        if (surface.pixels != nullptr && surface.pixels->planes == 2) {
            const auto begin = surface.layout.parameters.find("plane_1");
            stride(AlignedPart::Start, Bytes(surface.described.address.value + begin->second),
                   "D_DAIN_ADDR_LOW_1");
            stride(AlignedPart::LineStride, surface.line_stride_1, "D_LINE_UV_STRIDE");
        }
        if (surface.described.bytes && *registers.bytes != '\0') {
            stride(AlignedPart::Size, *surface.described.bytes, registers.bytes);
        }
    }

    /// Bytes from the first to the last one of a surface.
    struct Extent {
        Address begin;
        Address end;
        std::size_t surface;
    };
    std::vector<Extent> extents() const {
        std::vector<Extent> all;
        for (std::size_t i = 0; i < surfaces_.size(); ++i) {
            Extent one{Address(~std::uint64_t{0}), Address(0), i};
            for (const ByteRun& run : surfaces_[i].use.runs) {
                one.begin = std::min(one.begin, run.address);
                one.end = std::max(one.end, run.end());
            }
            all.push_back(one);
        }
        std::ranges::stable_sort(all, {}, &Extent::begin);
        return all;
    }

    /// Whether the contents of both are live at the same time, in one memory.
    static bool live_together(const ImageSurface& one, const ImageSurface& other) {
        const auto before = [](const ImageSurface& first, const ImageSurface& second) {
            return first.last_operation && !first.output && second.first_operation &&
                   *first.last_operation < *second.first_operation;
        };
        return one.memory == other.memory && !before(one, other) && !before(other, one);
    }

    /// Pairs of surfaces whose extents overlap, from the lowest address up; of many on top of each
    /// other, each is compared with the nearest.
    void check_overlaps() {
        constexpr std::size_t most_told = 16;
        constexpr std::size_t most_looked_at = 1024;
        std::vector<std::pair<std::size_t, std::size_t>> pairs;
        std::vector<Extent> open;
        for (const Extent& next : extents()) {
            std::erase_if(open, [&](const Extent& other) { return other.end <= next.begin; });
            std::size_t told = 0;
            for (std::size_t i = 0; i < std::min(open.size(), most_looked_at); ++i) {
                const std::size_t other = open[open.size() - 1 - i].surface;
                if (live_together(surfaces_[other].described, surfaces_[next.surface].described) &&
                    common_byte(surfaces_[other].use.runs, surfaces_[next.surface].use.runs)) {
                    pairs.push_back(std::minmax(other, next.surface));
                    if (++told == most_told) {
                        break;
                    }
                }
            }
            open.push_back(next);
            if (open.size() > most_looked_at) {
                open.erase(open.begin());
            }
        }
        std::ranges::sort(pairs);
        for (const auto& [first, second] : pairs) {
            check_pair(driver_, surfaces_[second].use, driver_, surfaces_[first].use, log_);
        }
    }

    const PlacedSurface* part_of(const PlacedSurface& weights, ImageKind kind) const {
        const auto part = parts_.find({weights.described.name, kind});
        return part == parts_.end() ? nullptr : &surfaces_[part->second];
    }

    /// Compressed weights need the bytes that their mask keeps.
    void check_size(PlacedSurface& surface) {
        if (surface.is_weights()) {
            check_compression(surface);
        }
        const auto said = surface.described.bytes;
        const bool exact = surface.is_weights() || surface.kind == ImageKind::Wmb;
        if (said && surface.needed > Bytes(0) &&
            (*said < surface.needed || (exact && *said != surface.needed))) {
            add(surface, rule_ids::size_mismatch,
                fmt::format("'{}' has {} byte{}, but its shape needs {}", surface.described.name,
                            said->value, *said == Bytes(1) ? "" : "s", surface.needed.value),
                surface.registers.bytes,
                fmt::format("give it {} byte{}", surface.needed.value,
                            surface.needed == Bytes(1) ? "" : "s"));
        }
    }

    void check_compression(PlacedSurface& surface) {
        const PlacedSurface* mask = part_of(surface, ImageKind::Wmb);
        const PlacedSurface* sizes = part_of(surface, ImageKind::Wgs);
        if (mask == nullptr && sizes == nullptr) {
            return;
        }
        surface.needed = Bytes(0);
        if (mask == nullptr || sizes == nullptr) {
            add(surface, "compression_incomplete",
                fmt::format("'{}' has {} but no {}", surface.described.name,
                            mask == nullptr ? "group sizes (wgs)" : "a mask (wmb)",
                            mask == nullptr ? "mask (wmb)" : "group sizes (wgs)"),
                "D_WEIGHT_FORMAT", "compressed weights need both");
            return;
        }
        const WeightLayout& layout = *surface.weights;
        const auto bits = memory_.contents({mask->use.base, mask->needed});
        if (!bits) {
            return;
        }
        surface.needed = stored_weight_bytes(CompressedGroups(layout, *bits).weight_bytes());
        const CompressedUse use{layout,
                                {surface.use.base, surface.needed, mask->use.base,
                                 stored_mask_bytes(layout), sizes->use.base}};
        for (const Diagnostic& finding : compressed_findings(use, memory_)) {
            Diagnostic one = finding;
            const PlacedSurface& about = finding.surface == "WGS" ? *sizes : surface;
            one.unit = about.use.unit;
            one.surface = about.use.surface;
            log_.add(std::move(one));
        }
        for (std::uint64_t bit = mask_bits(layout); bit < 8 * bits->size(); ++bit) {
            if (mask_bit(*bits, bit)) {
                add(*mask, "wmb_mismatch",
                    fmt::format("'{}' has bits set after its last element", mask->described.name),
                    "D_WMB_ADDR_LOW", "pad the mask with zeros");
                return;
            }
        }
    }

    /// Without the zeros after weights, which are never used.
    void check_loaded(const PlacedSurface& surface) {
        SurfaceUse use = surface.use;
        if (surface.is_weights() && surface.weights && use.runs.size() == 1) {
            use.runs.front().bytes =
                std::min(use.runs.front().bytes, surface.weights->used_bytes());
        }
        if (!use.writes) {
            memory_.expect_loaded(use, log_);
        }
    }

    const ImageDescription& image_;
    ImageTarget target_;
    std::vector<PlacedSurface> surfaces_;
    std::map<std::pair<std::string, ImageKind>, std::size_t>
        parts_;  ///< masks and sizes, by weights
    std::deque<LoadMemory> files_;
    MemoryRules memory_;
    DiagnosticLog log_;
    const CheckedOperation driver_{};
};

}  // namespace

CheckReport check_image_description(const ImageDescription& image, const ImageTarget& target,
                                    const LoadImageFile& load) {
    return ImageCheck(image, target).run(load);
}

}  // namespace npuscope
