// SPDX-License-Identifier: Apache-2.0
#include "sim/check/image_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/layout/surface_use.h"
#include "sim/check/byte_states.h"
#include "sim/check/compressed_rules.h"
#include "sim/check/image_surface.h"
#include "sim/check/memory_rules.h"

namespace npuscope {
namespace {

constexpr std::uint64_t largest_address = ~std::uint64_t{0} >> 2U;

class ImageCheck {
 public:
    ImageCheck(const ImageDescription& image, const ImageTarget& target)
        : image_(image), target_(target), surfaces_(place_surfaces(image, target.npu.datapath)) {}

    CheckReport run(const LoadImageFile& load) {
        for (const ImageFile& file : image_.memory) {
            files_.push_back(load(file));
            claim(files_.size() - 1);
        }
        for (const PlacedSurface& surface : surfaces_) {
            check_features(surface);
            check_alignment(surface);
            check_size(surface);
            check_bounds(surface);
            check_loaded(surface);
        }
        check_overlaps();
        check_compression();
        CheckReport report;
        report.subject = image_.file;
        report.npu = target_.npu.name;
        report.surfaces = surfaces_.size();
        report.findings = log_.findings();
        return report;
    }

 private:
    Address base_of(std::size_t file) const { return image_.memory[file].address; }

    void claim(std::size_t number) {
        const ImageFile& file = image_.memory[number];
        for (const MemoryImage::Run& run : files_[number].runs) {
            const ByteRun bytes{file.address + Bytes(run.offset), Bytes(run.size)};
            if (run.offset > largest_address || file.address.value > largest_address) {
                throw ConfigError(Place{image_.file, 0, 0},
                                  fmt::format("'{}' lies beyond every memory", file.file),
                                  "addresses have up to 62 bits");
            }
            bytes_.visit(bytes, [&](const ByteRun& piece, const ByteState* state) {
                if (state != nullptr && state->by != number) {
                    Diagnostic one;
                    one.id = "load_overlap";
                    one.sentence = fmt::format("'{}' overwrites bytes of '{}'", file.file,
                                               image_.memory[state->by].file);
                    one.address = piece.address;
                    one.surface = file.file;
                    one.remedy = "load it elsewhere";
                    log_.add(std::move(one));
                }
            });
            bytes_.put(bytes, {ByteOrigin::Loaded, number, false});
        }
    }

    void check_features(const PlacedSurface& surface) {
        const DatapathConfig& path = target_.npu.datapath;
        const ImageType type = surface.described.type;
        const bool supported =
            type == ImageType::Int8 || (type == ImageType::Int16 ? path.int16 : path.fp16);
        const bool operand = surface.described.layout == ImageLayout::PerChannel ||
                             surface.described.layout == ImageLayout::PerElement ||
                             surface.described.layout == ImageLayout::Raw;
        if (!supported && !(operand && type == ImageType::Int16)) {
            log_.add(image_finding(
                surface, "absent_feature",
                fmt::format("{} has no elements of type {}", target_.npu.name, enum_name(type)), "",
                "choose int8, or a preset that has the type"));
        }
        const bool mask = surface.described.layout == ImageLayout::Wmb ||
                          surface.described.layout == ImageLayout::Wgs;
        if (mask && !target_.npu.cdma.weight_compression) {
            log_.add(image_finding(surface, "absent_feature",
                                   fmt::format("{} has no compressed weights", target_.npu.name),
                                   "D_WEIGHT_FORMAT",
                                   "store the weights uncompressed, or choose another preset"));
        }
    }

    void check_multiple(const PlacedSurface& surface, AlignedPart part, std::uint64_t value,
                        const char* register_name) {
        const Bytes atom = target_.npu.datapath.memory_atom;
        if (const auto finding = misaligned({surface.registers.unit, register_name, value},
                                            {surface.kind, part, atom})) {
            log_.add(image_finding(surface, "misaligned", finding->sentence, register_name,
                                   finding->remedy));
        }
    }

    void check_alignment(const PlacedSurface& surface) {
        if (surface.described.layout == ImageLayout::Raw) {
            return;
        }
        const SurfaceRegisters& registers = surface.registers;
        check_multiple(surface, AlignedPart::Start, surface.described.address.value,
                       registers.address);
        if (surface.has_strides()) {
            check_multiple(surface, AlignedPart::LineStride, surface.line_stride.value,
                           registers.line_stride);
            check_multiple(surface, AlignedPart::SurfaceStride, surface.surface_stride.value,
                           registers.surface_stride);
        }
        if (surface.described.bytes && *registers.bytes != '\0') {
            check_multiple(surface, AlignedPart::Size, surface.described.bytes->value,
                           registers.bytes);
        }
    }

    bool is_compressed(const PlacedSurface& surface) const {
        return std::ranges::any_of(surfaces_, [&](const PlacedSurface& other) {
            return other.described.of == surface.described.name &&
                   other.described.layout == ImageLayout::Wmb;
        });
    }

    void check_size(const PlacedSurface& surface) {
        if (surface.overlaps_itself) {
            log_.add(image_finding(
                surface, "lines_overlap",
                fmt::format("lines of '{}' overlap each other: strides of {} and {} bytes are too "
                            "small for {}",
                            surface.described.name, surface.line_stride.value,
                            surface.surface_stride.value, surface.described.shape),
                surface.registers.line_stride,
                "a line takes width x atom bytes, a surface height x line stride"));
        }
        const auto said = surface.described.bytes;
        if (!said || is_compressed(surface)) {
            return;
        }
        const bool exact = surface.is_weights() || surface.described.layout == ImageLayout::Wmb;
        if (*said < surface.needed || (exact && *said != surface.needed)) {
            log_.add(image_finding(
                surface, "size_mismatch",
                fmt::format("'{}' has {} bytes, but its shape needs {}", surface.described.name,
                            said->value, surface.needed.value),
                surface.registers.bytes, fmt::format("give it {} bytes", surface.needed.value)));
        }
    }

    bool in_memory(const ByteRun& run) const {
        const std::uint32_t bits = target_.npu.mcif.address_bits;
        const bool reachable = bits >= 64 || run.end().value <= std::uint64_t{1} << bits;
        return reachable && target_.memory.holds(run.address, run.bytes);
    }

    void check_bounds(const PlacedSurface& surface) {
        for (const ByteRun& run : surface.runs) {
            if (!in_memory(run)) {
                Diagnostic one = image_finding(
                    surface, "out_of_bounds",
                    fmt::format("'{}' reaches outside every memory region: {} bytes at {}",
                                surface.described.name, run.bytes.value, to_hex(run.address)),
                    surface.registers.address, "move it into a region (memory.regions)");
                one.address = run.address;
                log_.add(std::move(one));
                return;
            }
        }
    }

    void check_loaded(const PlacedSurface& surface) {
        if (surface.is_output()) {
            return;
        }
        std::uint64_t missing = 0;
        std::optional<Address> first;
        for (const ByteRun& run : read_runs(surface)) {
            bytes_.visit(run, [&](const ByteRun& piece, const ByteState* state) {
                if (state == nullptr) {
                    missing += piece.bytes.value;
                    first = first.value_or(piece.address);
                }
            });
        }
        if (missing > 0) {
            Diagnostic one =
                image_finding(surface, "never_loaded",
                              fmt::format("{} bytes of '{}' are never loaded, the first at {}",
                                          missing, surface.described.name, to_hex(*first)),
                              surface.registers.address,
                              "load them, correct address and strides, or set `role: output`");
            one.address = *first;
            log_.add(std::move(one));
        }
    }

    /// Without the zeros after weights, which are never used.
    static std::vector<ByteRun> read_runs(const PlacedSurface& surface) {
        std::vector<ByteRun> runs = surface.runs;
        if (surface.is_weights() && runs.size() == 1) {
            runs.front().bytes = std::min(runs.front().bytes, surface.weights->used_bytes());
        }
        return runs;
    }

    void check_overlaps() {
        for (std::size_t i = 0; i < surfaces_.size(); ++i) {
            for (std::size_t j = i + 1; j < surfaces_.size(); ++j) {
                const auto shared = common_byte(surfaces_[i].runs, surfaces_[j].runs);
                if (shared) {
                    Diagnostic one = image_finding(
                        surfaces_[j], "surface_overlap",
                        fmt::format("'{}' and '{}' overlap at {}", surfaces_[i].described.name,
                                    surfaces_[j].described.name, to_hex(*shared)),
                        surfaces_[j].registers.address, "move one of them");
                    one.address = *shared;
                    log_.add(std::move(one));
                }
            }
        }
    }

    const PlacedSurface* part_of(const PlacedSurface& weights, ImageLayout layout) const {
        const auto part = std::ranges::find_if(surfaces_, [&](const PlacedSurface& other) {
            return other.described.of == weights.described.name && other.described.layout == layout;
        });
        return part == surfaces_.end() ? nullptr : &*part;
    }

    void check_compression() {
        const auto read = [this](const ByteRun& run) { return loaded_bytes(run); };
        for (const PlacedSurface& surface : surfaces_) {
            const PlacedSurface* mask = part_of(surface, ImageLayout::Wmb);
            const PlacedSurface* sizes = part_of(surface, ImageLayout::Wgs);
            if (!surface.is_weights() || (mask == nullptr && sizes == nullptr)) {
                continue;
            }
            if (mask == nullptr || sizes == nullptr) {
                log_.add(image_finding(
                    surface, "compression_incomplete",
                    fmt::format("'{}' has {} but no {}", surface.described.name,
                                mask == nullptr ? "group sizes (wgs)" : "a mask (wmb)",
                                mask == nullptr ? "mask (wmb)" : "group sizes (wgs)"),
                    "D_WEIGHT_FORMAT", "compressed weights need both"));
                continue;
            }
            check_compressed({surface, *mask, *sizes}, read, log_);
        }
    }

    std::optional<std::vector<std::uint8_t>> loaded_bytes(const ByteRun& run) const {
        std::vector<std::uint8_t> bytes;
        bool whole = true;
        bytes_.visit(run, [&](const ByteRun& piece, const ByteState* state) {
            whole = whole && state != nullptr;
            if (whole) {
                bytes.resize(bytes.size() + piece.bytes.value);
                copy_loaded(files_[state->by], (piece.address - base_of(state->by)).value,
                            std::span(bytes).last(piece.bytes.value));
            }
        });
        return whole ? std::optional(std::move(bytes)) : std::nullopt;
    }

    const ImageDescription& image_;
    ImageTarget target_;
    std::vector<PlacedSurface> surfaces_;
    std::vector<MemoryImage> files_;
    ByteStates bytes_;
    DiagnosticLog log_;
};

}  // namespace

CheckReport check_image_description(const ImageDescription& image, const ImageTarget& target,
                                    const LoadImageFile& load) {
    return ImageCheck(image, target).run(load);
}

}  // namespace npuscope
