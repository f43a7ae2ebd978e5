// SPDX-License-Identifier: Apache-2.0
// A driver's memory image as a file describes it: what is loaded where, and which surfaces are
// meant to lie there. A file looks like
//
//     npu: nv_small
//     memory: [{file: weights.bin, address: 0x80000000}, {file: input.hex, format: ihex}]
//     surfaces:
//       - {name: input, layout: feature, type: int8, shape: 1x64x13x15, address: 0x90000000,
//          line_stride: 120, surface_stride: 1560}
//       - {name: weight, layout: weight_dc, type: int8, shape: 16x64x3x5, address: 0x80000000,
//          bytes: 15360}
//
// Shapes are NxCxHxW for features and operands, KxCxRxS for weights.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/describe.h"
#include "models/base/quantity.h"
#include "models/layout/datapath.h"
#include "models/layout/weight_layout.h"
#include "sim/check/check_report.h"
#include "sim/check/operation_surfaces.h"
#include "sim/program/memory_image.h"
#include "sim/program/program.h"

namespace npuscope {

/// Wmb is the mask of compressed weights, wgs the sizes of their groups.
enum class ImageLayout { Feature, WeightDc, WeightImage, Wmb, Wgs, PerChannel, PerElement, Raw };

template <>
struct EnumNames<ImageLayout> {
    static constexpr std::array names{
        std::pair{ImageLayout::Feature, std::string_view("feature")},
        std::pair{ImageLayout::WeightDc, std::string_view("weight_dc")},
        std::pair{ImageLayout::WeightImage, std::string_view("weight_image")},
        std::pair{ImageLayout::Wmb, std::string_view("wmb")},
        std::pair{ImageLayout::Wgs, std::string_view("wgs")},
        std::pair{ImageLayout::PerChannel, std::string_view("per_channel")},
        std::pair{ImageLayout::PerElement, std::string_view("per_element")},
        std::pair{ImageLayout::Raw, std::string_view("raw")}};
};

enum class ImageType { Int8, Int16, Fp16 };

template <>
struct EnumNames<ImageType> {
    static constexpr std::array names{std::pair{ImageType::Int8, std::string_view("int8")},
                                      std::pair{ImageType::Int16, std::string_view("int16")},
                                      std::pair{ImageType::Fp16, std::string_view("fp16")}};
};

inline std::uint64_t bytes_of(ImageType type) { return type == ImageType::Int8 ? 1 : 2; }

enum class ImageRole { Input, Output };

template <>
struct EnumNames<ImageRole> {
    static constexpr std::array names{std::pair{ImageRole::Input, std::string_view("input")},
                                      std::pair{ImageRole::Output, std::string_view("output")}};
};

enum class ImageFormat { Raw, Dat, Ihex, Readmemh };

template <>
struct EnumNames<ImageFormat> {
    static constexpr std::array names{
        std::pair{ImageFormat::Raw, std::string_view("bin")},
        std::pair{ImageFormat::Dat, std::string_view("dat")},
        std::pair{ImageFormat::Ihex, std::string_view("ihex")},
        std::pair{ImageFormat::Readmemh, std::string_view("readmemh")}};
};

struct ImageFile {
    std::string file;
    std::optional<ImageFormat> format;
    Address address;
    Place place{};  ///< in the description

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.required("file", self.file, "file of bytes, beside the description");
        visit.field("format", self.format,
                    "bin, dat (packets or a listing), ihex (Intel), readmemh (Verilog, bytes); "
                    "default: by the file's name");
        visit.field("address", self.address,
                    "where its first byte lies; added to its own addresses");
    }
};

struct ImageSurface {
    std::string name;
    ImageLayout layout = ImageLayout::Feature;
    ImageType type = ImageType::Int8;
    std::string shape;
    Address address;
    std::optional<Bytes> bytes;
    std::optional<Bytes> line_stride;
    std::optional<Bytes> surface_stride;
    std::string of;
    std::optional<ImageRole> role;
    std::uint32_t components = 1;
    Place place{};  ///< in the description

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.required("name", self.name, "name of the surface in findings");
        visit.required("layout", self.layout, "how its elements lie in memory");
        visit.field("type", self.type, "type of its elements");
        visit.field("shape", self.shape, "1x64x13x15: NxCxHxW, weights KxCxRxS");
        visit.required("address", self.address, "its first byte");
        visit.field("bytes", self.bytes, "bytes that the driver's registers give it");
        visit.field("line_stride", self.line_stride, "bytes from line to line; default: no gap");
        visit.field("surface_stride", self.surface_stride,
                    "bytes from one atom of channels to the next; default: no gap");
        visit.field("of", self.of, "the weights that a wmb or wgs belongs to");
        visit.field("role", self.role,
                    "input: must be loaded; output: the NPU writes it; default: output where the "
                    "name starts with `output` or `result`, else input");
        visit.field("components", self.components,
                    "per_channel and per_element: operands of an element, 1 or 2");
    }
};

struct ImageDescription {
    std::string npu;
    std::vector<ImageFile> memory;
    std::vector<ImageSurface> surfaces;
    std::string file;  ///< as messages name it

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("npu", self.npu, "preset of the NPU; `--npu` goes first");
        visit.field("memory", self.memory, "files that are loaded");
        visit.required("surfaces", self.surfaces, "surfaces that must lie in memory");
    }
};

/// ConfigError with the place of whatever is wrong with the text.
ImageDescription parse_image(const std::string& text, const std::string& file);

/// The bytes of one file of the description.
using LoadImageFile = std::function<MemoryImage(const ImageFile& file)>;
/// A file's content in its format.
MemoryImage image_of(const ImageFile& file, const std::string& content);
/// Files beside the description, each in its format. ConfigError where one cannot be read.
LoadImageFile files_beside(const std::filesystem::path& description);

/// The registers that a driver puts a surface into.
struct SurfaceRegisters {
    const char* unit = "";
    const char* address = "";
    const char* line_stride = "";
    const char* surface_stride = "";
    const char* bytes = "";
};

/// NxCxHxW or KxCxRxS.
using ImageShape = std::array<std::uint32_t, 4>;

/// A described surface with what follows from its shape on one NPU.
struct PlacedSurface {
    ImageSurface described;
    ImageShape shape{1, 1, 1, 1};
    SurfaceRegisters registers;
    SurfaceUse use;
    std::optional<WeightLayout> weights;  ///< of weights, and of those that wmb and wgs belong to
    Bytes line_stride;
    Bytes surface_stride;
    Bytes needed;  ///< bytes that the shape asks for; 0: the shape says nothing

    bool is_weights() const {
        return described.layout == ImageLayout::WeightDc ||
               described.layout == ImageLayout::WeightImage;
    }
    bool has_strides() const {
        return described.layout == ImageLayout::Feature ||
               described.layout == ImageLayout::PerElement;
    }
};

/// ConfigError names the surface whose description makes no sense.
std::vector<PlacedSurface> place_surfaces(const ImageDescription& image,
                                          const DatapathConfig& datapath);

/// Surfaces by name, for those who read memory. Compressed weights, masks and operands are bytes.
std::vector<NamedSurface> described_surfaces(const ImageDescription& image,
                                             const DatapathConfig& datapath);

/// A memory image held against the formats of one NPU: alignment, sizes, strides, overlap, bounds,
/// bytes that are never loaded, and whether mask, group sizes and values of compressed weights
/// agree. ConfigError where the description makes no sense.
CheckReport check_image_description(const ImageDescription& image, const CheckTarget& target,
                                    const LoadImageFile& load);

}  // namespace npuscope
