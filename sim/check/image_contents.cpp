// SPDX-License-Identifier: Apache-2.0
// Contents of the surfaces of a described memory image: elements, implausible values, and
// differences.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "models/base/error.h"
#include "sim/check/image_check.h"
#include "sim/config/text_table.h"
#include "sim/convert/tensor_difference.h"

namespace npuscope {

Layout PlacedSurface::bind() const {
    try {
        return layout.bind_to(shape, type->bytes);
    } catch (const ConfigError& error) {
        throw ConfigError(described.place,
                          fmt::format("surface '{}': {}", described.name, error.sentence()),
                          error.remedy());
    }
}

std::string PlacedSurface::spec() const {
    const std::string place = to_hex(described.address) + ':';
    if (type == nullptr) {
        return fmt::format("{}{}:uint8:W", place, described.bytes.value_or(needed).value);
    }
    std::string sizes;
    for (const AxisExtent& axis : shape.axes) {
        sizes += fmt::format("{}{}", sizes.empty() ? "" : "x", axis.extent);
    }
    std::string text = fmt::format("{}{}:{}:{}", place, sizes, type->name,
                                   layout.row == nullptr ? layout.text : layout.row->name);
    char separator = ':';
    for (const auto& [name, value] : layout.parameters) {
        text += fmt::format("{}{}={}", separator, name, value);
        separator = ',';
    }
    return text;
}

std::vector<NamedSurface> described_surfaces(const ImageDescription& image,
                                             const NpuConfig* nvdla) {
    std::vector<PlacedSurface> placed = place_surfaces(image, nvdla);
    std::unordered_map<std::string_view, bool> compressed;
    for (const PlacedSurface& surface : placed) {
        if (surface.kind == ImageKind::Wmb) {
            compressed[surface.described.of] = true;
        }
    }
    std::vector<NamedSurface> surfaces;
    for (PlacedSurface& surface : placed) {
        if (compressed.contains(surface.described.name)) {
            surface.type = nullptr;
        }
        surfaces.push_back({.name = surface.described.name, .spec = surface.spec()});
    }
    return surfaces;
}

namespace {

/// The mask of compressed weights; nullptr for any other surface.
const PlacedSurface* mask_of(const PlacedSurface& weights,
                             std::span<const PlacedSurface> surfaces) {
    const auto mask = std::ranges::find_if(surfaces, [&](const PlacedSurface& surface) {
        return weights.is_weights() && surface.kind == ImageKind::Wmb &&
               surface.described.of == weights.described.name;
    });
    return mask == surfaces.end() ? nullptr : &*mask;
}

}  // namespace

ImageContents::ImageContents(const ImageDescription& image, const ImageTarget& target,
                             const LoadImageFile& load)
    : surfaces_(place_surfaces(image, target.nvdla)), memory_({target.memory, 64, true}) {
    for (std::size_t i = 0; i < surfaces_.size(); ++i) {
        by_name_.emplace(surfaces_[i].described.name, i);
    }
    DiagnosticLog ignored;  // reported by the check
    for (const ImageFile& file : image.memory) {
        files_.push_back({MemoryPort::Primary, file.address, load(file), file.file});
        memory_.load(files_.back(), file.place, ignored);
    }
}

const PlacedSurface* ImageContents::find(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : &surfaces_[found->second];
}

SurfaceSpec ImageContents::spec(const PlacedSurface& surface) const {
    if (surface.type != nullptr) {
        return {surface.described.address, surface.type, surface.bind()};
    }
    const std::uint64_t bytes = surface.described.bytes.value_or(surface.needed).value;
    return {surface.described.address, &element_row(ElementType::Uint8),
            plain_layout({{{'W', bytes}}}, 1)};
}

namespace {

/// Whether strides leave so much space between a surface's lines that reading it in full would take
/// far more memory than its elements do. Elements of other codes share words, and are read in full.
bool is_sparse(const SurfaceSpec& spec) {
    constexpr std::uint64_t most_gap = std::uint64_t{64} << 20;
    const Layout& layout = spec.layout;
    return layout.code == ElementCode::Plain &&
           std::ranges::all_of(layout.parts,
                               [](const LayoutPart& part) { return part.field.width == 0; }) &&
           layout.used > 4 * layout.shape.elements() * layout.element + most_gap;
}

void require_readable(const PlacedSurface& surface, std::uint64_t bytes) {
    if (bytes > MemoryRules::most_contents.value) {
        throw ConfigError(
            surface.described.place,
            fmt::format("surface '{}' has {} bytes; contents are checked up to {} bytes only",
                        surface.described.name, bytes, MemoryRules::most_contents.value),
            "correct its shape and strides, or describe it in parts");
    }
}

/// The elements of a surface in row-major order; nothing if their bytes are unknown. ConfigError if
/// they exceed what may be read.
std::optional<std::vector<std::uint8_t>> read_surface(const PlacedSurface& surface,
                                                      const SurfaceSpec& spec,
                                                      const MemoryRules& memory) {
    const Layout& layout = spec.layout;
    const bool sparse = is_sparse(spec);
    const std::uint64_t bytes = sparse ? layout.shape.elements() * layout.element : layout.used;
    require_readable(surface, bytes);
    if (!sparse) {
        const auto stored = memory.contents({spec.base, Bytes(layout.used)});
        return stored ? std::optional(spec.elements(*stored)) : std::nullopt;
    }
    std::vector<std::uint8_t> elements;
    elements.reserve(bytes);
    const std::vector<IndexRange> box = layout.shape.box();
    std::vector<std::uint64_t> index = first_index(box);
    do {
        const auto one =
            memory.contents({spec.base + Bytes(layout.address(index)), Bytes(layout.element)});
        if (!one) {
            return std::nullopt;
        }
        elements.insert(elements.end(), one->begin(), one->end());
    } while (next_index(index, box));
    return elements;
}

/// The same for weights whose mask has these bits; `contents` returns the bytes of a run, if known.
template <class Contents>
std::optional<std::vector<std::uint8_t>> expanded(const PlacedSurface& surface,
                                                  const SurfaceSpec& spec,
                                                  std::span<const std::uint8_t> bits,
                                                  const Contents& contents) {
    const WeightLayout& weights = *surface.weights;
    const CompressedGroups groups(weights, bits);
    std::vector<std::uint32_t> sizes;
    for (std::uint32_t group = 0; group < weights.groups(); ++group) {
        sizes.push_back(static_cast<std::uint32_t>(groups.group_bytes(group)));
    }
    std::optional<std::vector<std::uint8_t>> values = std::vector<std::uint8_t>{};
    if (groups.weight_bytes() > 0) {
        values = contents(ByteRun{spec.base, Bytes(groups.weight_bytes())});
    }
    return values ? std::optional(
                        spec.elements(decompress_weights(weights, {*values, bits, sizes}).stored))
                  : std::nullopt;
}

ByteRun bits_of(const PlacedSurface& mask) {
    return {mask.use.base, used_mask_bytes(*mask.weights)};
}

}  // namespace

std::vector<std::uint8_t> ImageContents::elements(const PlacedSurface& surface) const {
    const SurfaceSpec spec = this->spec(surface);
    const std::uint64_t plain_bytes = spec.layout.shape.elements() * spec.layout.element;
    require_readable(surface, plain_bytes);
    const PlacedSurface* const mask = mask_of(surface, surfaces_);
    if (mask == nullptr) {
        auto elements = read_surface(surface, spec, memory_);
        return elements ? std::move(*elements) : std::vector<std::uint8_t>(plain_bytes, 0);
    }
    const auto contents = [&](const ByteRun& run) {
        auto known = memory_.contents(run);
        return std::optional(known ? std::move(*known)
                                   : std::vector<std::uint8_t>(run.bytes.value, 0));
    };
    return *expanded(surface, spec, *contents(bits_of(*mask)), contents);
}

namespace {

struct Range {
    double low = 0;
    double high = 0;
};

/// `LOW..HIGH`.
std::optional<Range> range_of(const PlacedSurface& surface) {
    const std::string& text = surface.described.values;
    if (text.empty()) {
        return std::nullopt;
    }
    const std::size_t dots = text.find("..");
    Range range;
    const auto take = [&](std::string_view part, double& number) {
        const char* const end = part.data() + part.size();
        const auto result = std::from_chars(part.data(), end, number);
        return result.ec == std::errc() && result.ptr == end && std::isfinite(number);
    };
    if (dots == std::string::npos || !take(std::string_view(text).substr(0, dots), range.low) ||
        !take(std::string_view(text).substr(dots + 2), range.high) || range.low > range.high) {
        throw ConfigError(surface.described.place,
                          fmt::format("surface '{}': '{}' is not a range of values",
                                      surface.described.name, text),
                          "as -100..100");
    }
    return range;
}

bool is_nan(std::uint8_t low, std::uint8_t high) {
    return (high & 0x7cU) == 0x7cU && ((high & 3U) != 0 || low != 0);
}

/// Without decoding anything: most surfaces hold none.
bool holds_nan(std::span<const std::uint8_t> bytes) {
    for (std::size_t i = 1; i < bytes.size(); i += 2) {
        if (is_nan(bytes[i - 1], bytes[i])) {
            return true;
        }
    }
    return false;
}

Diagnostic told(const PlacedSurface& surface, const char* id, const std::string& message,
                const std::string& remedy) {
    return surface_finding({}, surface.use, id, message, remedy);
}

/// Lanes after the last channel of an fp16 cube.
std::optional<Diagnostic> nan_lanes(const PlacedSurface& surface, const MemoryRules& memory) {
    const FeatureCube& cube = *surface.use.cube;
    const std::uint32_t lanes = cube.channels_per_atom();
    const std::uint32_t used = cube.shape.channels % lanes;
    if (used == 0) {
        return std::nullopt;
    }
    std::uint64_t count = 0;
    std::optional<Address> first;
    const std::uint32_t last = cube.surfaces() - 1;
    for (std::uint32_t y = 0; y < cube.shape.height; ++y) {
        const Address line = cube.line_address(last, y);
        const auto bytes = memory.contents({line, Bytes(cube.shape.width * cube.atom.value)});
        if (!bytes) {
            continue;  // reported as bytes that are never loaded
        }
        for (std::uint32_t x = 0; x < cube.shape.width; ++x) {
            for (std::uint32_t lane = used; lane < lanes; ++lane) {
                const std::uint64_t at = x * cube.atom.value + 2 * std::uint64_t{lane};
                if (is_nan((*bytes)[at], (*bytes)[at + 1])) {
                    first = first.value_or(line + Bytes(at));
                    ++count;
                }
            }
        }
    }
    if (count == 0) {
        return std::nullopt;
    }
    Diagnostic one =
        told(surface, "nan_in_lanes",
             fmt::format("'{}' has {} in lanes after the last channel, the first at {}",
                         surface.described.name, counted(count, "NaN value"), to_hex(*first)),
             "store zeros there: Winograd, SDP and PDP use those lanes unmasked");
    one.address = first;
    return one;
}

/// The elements of a surface, and the mask of compressed weights.
struct KnownElements {
    std::vector<std::uint8_t> bytes;
    std::vector<std::uint8_t> mask;
};

std::optional<KnownElements> known_elements(const PlacedSurface& surface, const PlacedSurface* mask,
                                            const MemoryRules& memory) {
    const SurfaceSpec spec{surface.described.address, surface.type, surface.bind()};
    if (mask == nullptr) {
        auto elements = read_surface(surface, spec, memory);
        return elements ? std::optional(KnownElements{std::move(*elements), {}}) : std::nullopt;
    }
    require_readable(surface, spec.layout.shape.elements() * spec.layout.element);
    auto bits = memory.contents(bits_of(*mask));
    if (!bits) {
        return std::nullopt;
    }
    auto elements =
        expanded(surface, spec, *bits, [&](const ByteRun& run) { return memory.contents(run); });
    return elements ? std::optional(KnownElements{std::move(*elements), std::move(*bits)})
                    : std::nullopt;
}

/// Where an element is stored; for a weight that the mask leaves out, where the surface begins.
Address stored_at(const SurfaceSpec& spec, std::span<const std::uint64_t> index,
                  std::span<const std::uint8_t> mask) {
    const std::uint64_t byte = spec.layout.address(index);
    if (mask.empty()) {
        return spec.base + Bytes(byte);
    }
    const std::uint64_t element = byte / spec.layout.element;
    std::uint64_t kept = 0;
    for (std::uint64_t i = 0; mask_bit(mask, element) && i < element; ++i) {
        kept += mask_bit(mask, i) ? 1U : 0U;
    }
    return spec.base + Bytes(kept * spec.layout.element);
}

/// The index of the element at a position, in the order of the surface's axes.
std::vector<std::uint64_t> index_at(const PlacedSurface& surface, std::uint64_t position) {
    std::vector<std::uint64_t> index(surface.shape.axes.size());
    for (std::size_t axis = index.size(); axis-- > 0;) {
        index[axis] = position % surface.shape.axes[axis].extent;
        position /= surface.shape.axes[axis].extent;
    }
    return index;
}

}  // namespace

Diagnostics value_findings(const PlacedSurface& surface, const PlacedSurface* mask,
                           const MemoryRules& memory) {
    const std::optional<Range> range = range_of(surface);
    const bool floats = surface.type != nullptr && surface.type->type == ElementType::Float16;
    if (surface.type == nullptr || (!range && !floats) || surface.use.writes ||
        surface.use.overlaps_itself) {
        return {};
    }
    const SurfaceSpec spec{surface.described.address, surface.type, surface.bind()};
    Diagnostics findings;
    if (!range && mask == nullptr && !is_sparse(spec)) {
        const std::uint64_t all = std::max(spec.layout.used, surface.needed.value);
        const auto bytes = memory.contents({spec.base, Bytes(all)});
        if (bytes && !holds_nan(*bytes)) {
            return {};
        }
    }
    const auto elements = known_elements(surface, mask, memory);
    if (!elements) {
        return {};  // reported as bytes that are never loaded
    }
    const std::vector<double> numbers = read_elements(surface.type->type, elements->bytes);
    const auto tell = [&](const char* id, auto is_wrong, const char* noun, const std::string& where,
                          const char* remedy) {
        const auto first = std::ranges::find_if(numbers, is_wrong);
        if (first == numbers.end()) {
            return;
        }
        const std::vector<std::uint64_t> index =
            index_at(surface, static_cast<std::uint64_t>(first - numbers.begin()));
        Diagnostic one = told(
            surface, id,
            fmt::format(
                "'{}' has {}{}, the first ({}) at {}", surface.described.name,
                counted(static_cast<std::uint64_t>(std::ranges::count_if(numbers, is_wrong)), noun),
                where, *first, index_text(surface.shape, index)),
            remedy);
        one.address = stored_at(spec, index, elements->mask);
        findings.push_back(std::move(one));
    };
    if (floats) {
        tell(
            "not_a_number", [](double number) { return std::isnan(number); }, "NaN value", "",
            "store no NaN, or flush them (NAN_TO_ZERO)");
        if (surface.use.cube) {
            if (std::optional<Diagnostic> lanes = nan_lanes(surface, memory)) {
                findings.push_back(std::move(*lanes));
            }
        }
    }
    if (range) {
        tell(
            "values_outside",
            [&](double number) { return number < range->low || number > range->high; }, "value",
            fmt::format(" outside {}", surface.described.values),
            "correct the type, layout, contents or range");
    }
    return findings;
}

namespace {

std::optional<Diagnostic> difference(const PlacedSurface& surface, const SurfaceSpec& spec,
                                     const std::string& with, std::span<const double> expected,
                                     std::span<const double> actual) {
    const TensorDifference found = compare_tensors({spec.base, spec.layout}, expected, actual);
    if (found.mismatches == 0) {
        return std::nullopt;
    }
    Diagnostic one =
        told(surface, "surface_differs",
             fmt::format("{} of {} elements of '{}' differ from {}{}, the first at {}: {} instead "
                         "of {}",
                         found.mismatches, found.elements, surface.described.name, with,
                         found.channels.empty() ? "" : " in channels " + found.channels,
                         index_text(found.shape, found.first.index), found.first.actual,
                         found.first.expected),
             "");
    one.address = found.first.address;
    return one;
}

}  // namespace

Diagnostics image_differences(const ImageContents& image, const ImageContents& other) {
    Diagnostics findings;
    for (const PlacedSurface& surface : image.surfaces()) {
        const PlacedSurface* twin = other.find(surface.described.name);
        const auto add = [&](const std::string& message, const char* remedy) {
            findings.push_back(told(surface, "surface_differs", message, remedy));
        };
        if (twin == nullptr) {
            add(fmt::format("the other image has no '{}'", surface.described.name),
                "describe it there, or compare this surface with --golden");
            continue;
        }
        if (surface.use.writes || twin->use.writes || surface.kind == ImageKind::Wmb ||
            surface.kind == ImageKind::Wgs) {
            continue;  // no contents yet; masks and sizes are compared with their weights
        }
        const SurfaceSpec mine = image.spec(surface);
        const SurfaceSpec theirs = other.spec(*twin);
        if (mine.layout.shape != theirs.layout.shape) {
            add(fmt::format("'{}' is {}, but {} in the other image", surface.described.name,
                            to_string(mine.layout.shape), to_string(theirs.layout.shape)),
                "surfaces of the same name must have the same shape");
            continue;
        }
        const auto found = difference(surface, mine, "the other image",
                                      read_elements(theirs.type->type, other.elements(*twin)),
                                      read_elements(mine.type->type, image.elements(surface)));
        if (found) {
            findings.push_back(*found);
        }
    }
    return findings;
}

Diagnostics golden_differences(const ImageContents& image, const PlacedSurface& surface,
                               const std::string& file) {
    const SurfaceSpec spec = image.spec(surface);
    const auto found = difference(surface, spec, fmt::format("'{}'", file),
                                  read_elements(spec.type->type, read_surface_file(spec, file)),
                                  read_elements(spec.type->type, image.elements(surface)));
    return found ? Diagnostics{*found} : Diagnostics{};
}

}  // namespace npuscope
