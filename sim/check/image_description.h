// SPDX-License-Identifier: Apache-2.0
// A driver's memory image as described by a file: what is loaded where, and which surfaces are
// expected there. A file looks like
//
//     npu: nv_small
//     memory: [{file: weights.bin, address: 0x80000000}, {file: input.hex, format: ihex}]
//     surfaces:
//       - {name: input, layout: feature, type: int8, shape: 1x64x13x15, address: 0x90000000,
//          line_stride: 120, surface_stride: 1560}
//       - {name: weight, layout: weight_dc, type: int8, shape: 16x64x3x5, address: 0x80000000,
//          bytes: 15360}
//
// Shapes are NxCxHxW for features and operands, KxCxRxS for weights. A surface may name the file
// that is loaded to its address; `images` and `results` are surfaces as `npuscope plan` writes
// them.
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
#include "models/base/error.h"
#include "models/base/quantity.h"
#include "sim/config/config_node.h"
#include "sim/config/element_type.h"
#include "sim/program/memory_image.h"

namespace npuscope {

enum class ImageRole { Input, Output };

template <>
struct EnumNames<ImageRole> {
    static constexpr std::array names{std::pair{ImageRole::Input, std::string_view("input")},
                                      std::pair{ImageRole::Output, std::string_view("output")}};
};

enum class ImageFormat { Raw, Dat, Ihex, Readmemh, Elf, Npy };

template <>
struct EnumNames<ImageFormat> {
    static constexpr std::array names{
        std::pair{ImageFormat::Raw, std::string_view("bin")},
        std::pair{ImageFormat::Dat, std::string_view("dat")},
        std::pair{ImageFormat::Ihex, std::string_view("ihex")},
        std::pair{ImageFormat::Readmemh, std::string_view("readmemh")},
        std::pair{ImageFormat::Elf, std::string_view("elf")},
        std::pair{ImageFormat::Npy, std::string_view("npy")}};
};

/// Which byte of a word is at its lowest address.
enum class ByteOrder { Little, Big };

template <>
struct EnumNames<ByteOrder> {
    static constexpr std::array names{std::pair{ByteOrder::Little, std::string_view("little")},
                                      std::pair{ByteOrder::Big, std::string_view("big")}};
};

struct ImageFile {
    std::string file;
    std::optional<ImageFormat> format;
    Address address;
    std::uint32_t word = 1;
    ByteOrder byte_order = ByteOrder::Little;
    Place place{};  ///< in the description

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.required("file", self.file, "file of bytes, beside the description");
        visit.field("format", self.format,
                    "bin, dat (packets or a listing), ihex (Intel), readmemh (Verilog), elf, npy; "
                    "default: by the file's name");
        visit.field("address", self.address,
                    "address of its first byte; added to the addresses in the file");
        visit.field("word", self.word, "readmemh: bytes of a word");
        visit.field("byte_order", self.byte_order,
                    "readmemh: little: the last digits of a word are at its lowest address; big: "
                    "the first digits");
    }
};

struct ImageSurface {
    std::string name;
    std::string layout = "raw";
    std::optional<ElementType> type;
    std::string shape;
    Address address;
    std::string file;
    std::optional<Bytes> bytes;
    std::optional<Bytes> line_stride;
    std::optional<Bytes> surface_stride;
    std::optional<Bytes> batch_stride;
    std::optional<Address> address_1;
    std::optional<Bytes> line_stride_1;
    std::uint32_t x_offset = 0;
    std::string of;
    std::optional<ImageRole> role;
    std::uint32_t components = 1;
    std::optional<ElementType> data;
    std::string values;
    std::string memory;
    std::optional<std::uint32_t> first_operation;
    std::optional<std::uint32_t> last_operation;
    bool output = false;
    Place place{};  ///< in the description

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.required("name", self.name, "name of the surface in findings");
        visit.field(
            "layout", self.layout,
            "layout in memory: feature, weight_dc, T_A8B8G8R8 .., a name of `npuscope list "
            "layouts` or a layout expression; wmb, wgs, per_channel, per_element; raw: bytes");
        visit.field("type", self.type,
                    "type of its elements; default: int8, for pixels that of their format");
        visit.field("shape", self.shape, "1x64x13x15: NxCxHxW, weights KxCxRxS");
        visit.required("address", self.address, "address of its first byte");
        visit.field("file", self.file, "file that is loaded to its address");
        visit.field("bytes", self.bytes, "size that the driver programs for it, in bytes");
        visit.field(
            "line_stride", self.line_stride,
            "bytes from line to line; default: packed, for pixels rounded up to whole atoms");
        visit.field("surface_stride", self.surface_stride,
                    "bytes from one atom of channels to the next; default: no gap");
        visit.field("batch_stride", self.batch_stride,
                    "bytes from one batch to the next, of a feature with N > 1; default: no gap");
        visit.field("address_1", self.address_1,
                    "address of the second plane of pixels; default: after the first plane");
        visit.field("line_stride_1", self.line_stride_1, "line stride of the second plane");
        visit.field("x_offset", self.x_offset, "pixels before the first one of each line");
        visit.field("of", self.of, "the weights that a wmb or wgs belongs to");
        visit.field("role", self.role,
                    "input: must be loaded; output: the NPU writes it; default: output where the "
                    "name starts with `output` or `result`, else input");
        visit.field("components", self.components,
                    "per_channel and per_element: operands of an element, 1 or 2");
        visit.field(
            "data", self.data,
            "per_channel and per_element: type of the feature data that the operands are combined "
            "with; default: that of the operands where the NPU supports it, else int8");
        visit.field("values", self.values, "LOW..HIGH: inclusive range of its elements");
        visit.field("memory", self.memory,
                    "name of a separate memory, whose surfaces cannot overlap those of another");
        visit.field("first_operation", self.first_operation,
                    "first operation during which its contents are live; default: always live");
        visit.field("last_operation", self.last_operation,
                    "last operation during which its contents are live");
        visit.field("output", self.output,
                    "it is an output of the network, even if a layer reads it");
    }
};

struct ImageDescription {
    std::string npu;
    std::vector<ImageFile> memory;       ///< including those that surfaces name
    std::vector<ImageSurface> surfaces;  ///< including images and results
    std::string network;
    std::optional<Bytes> bytes;
    std::vector<ImageSurface> images;   ///< as written; only `surfaces` is used
    std::vector<ImageSurface> results;  ///< as written, too
    ConfigNode inputs;
    ConfigNode outputs;
    std::string file;  ///< as named in messages

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("npu", self.npu, "preset of the NPU; `--npu` takes precedence");
        visit.field("memory", self.memory, "files that are loaded");
        visit.field("surfaces", self.surfaces, "surfaces expected in memory");
        visit.field("network", self.network, "the network that a plan is for");
        visit.field("bytes", self.bytes, "bytes of memory that a plan takes");
        visit.field("images", self.images, "surfaces with a file each, as `plan` writes them");
        visit.field("results", self.results, "surfaces that the NPU writes, as `plan` writes them");
        visit.field("inputs", self.inputs, "tensors of a model and their images (ignored)");
        visit.field("outputs", self.outputs, "tensors of a model and their results (ignored)");
    }
};

/// ConfigError with the place of any mistake in the text.
ImageDescription parse_image(const std::string& text, const std::string& file);

/// The bytes of one file of the description.
using LoadImageFile = std::function<MemoryImage(const ImageFile& file)>;
/// A file's content in its format.
MemoryImage image_of(const ImageFile& file, const std::string& content);
/// Files next to the description, each in its format. ConfigError where one cannot be read.
LoadImageFile files_beside(const std::filesystem::path& description);

}  // namespace npuscope
