// SPDX-License-Identifier: Apache-2.0
// Layout specifications on the command line and in YAML:
//
//     4W4C8B    feature:atom=8,line_stride=64    "N C/8 H W C%8"
//
// a catalogue name, with parameters after a colon, or a custom layout expression.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "models/arith/quantise.h"
#include "models/base/diagnostic.h"
#include "models/layout/layout_catalog.h"
#include "models/layout/stride_descriptor.h"
#include "sim/config/npy_file.h"

namespace npuscope {

struct LayoutSpec {
    std::string text;
    const LayoutRow* row = nullptr;  ///< nullptr: an expression
    LayoutSentence sentence;
    std::map<std::string, std::uint64_t, std::less<>> parameters;

    /// ConfigError as for make_layout() and bind().
    Layout bind_to(const LogicalShape& shape, std::uint32_t element) const;
    /// The same, or why the layout does not hold the shape.
    std::variant<Layout, Diagnostic> try_bind(const LogicalShape& shape,
                                              std::uint32_t element) const;
    /// Axis letters of a shape with this many extents.
    std::string axes_for(std::size_t extents) const;
};

/// ConfigError with the nearest known name.
LayoutSpec parse_layout_spec(const std::string& text);

// One conversion of a tensor between files' bytes: which layouts on both sides, and what happens to
// the values between them (nothing, float to fixed point, or back).
//
//     flow A   float, ONNX order --quantise--> fixed --relayout--> NPU data
//     flow B   NPU data --relayout--> fixed --dequantise--> float, ONNX order
//
// source: Kneron page "Convert ONNX & NPU Data"

/// `scale=1.5/1.25,radix=6/5,axis=C,math=float64`: '/' separates list items, one value serves all.
struct Quantisation {
    std::vector<float> factors;
    char axis = ' ';  ///< axis that several factors refer to
    QuantiseMath math = QuantiseMath::Float32;
};

/// ConfigError that quotes the item.
Quantisation parse_quantisation(const std::string& text);

struct ConversionRequest {
    LayoutSpec from;
    LayoutSpec to;
    LogicalShape shape;
    const ElementRow* type = nullptr;  ///< of the values on the NPU side
    std::optional<Quantisation> quantise;
    std::optional<Quantisation> dequantise;
    std::vector<std::uint64_t> stride_npu;  ///< of the Kneron side; empty: from the layout
    GroupRule group_rule = GroupRule::Reader;

    /// Axis letters of a shape with this many extents: of the side that is more specific.
    std::string axes_for(std::size_t extents) const;
};

struct ConversionPlan {
    Layout source;
    Layout target;
    const ElementRow* source_type = nullptr;
    const ElementRow* target_type = nullptr;
    std::optional<Quantisation> quantise;
    std::optional<Quantisation> dequantise;
    std::vector<std::string> warnings;
};

/// ConfigError with the numbers for impossible layouts, types and strides.
ConversionPlan plan_conversion(const ConversionRequest& request);

/// `to` holds target.bytes zero bytes. ConfigError if a value is not a number.
void convert(const ConversionPlan& conversion, std::span<const std::uint8_t> from,
             std::span<std::uint8_t> to, const std::function<void(std::uint64_t)>& progress);

// Conversions from file to file: .npy arrays and raw bytes, memory-mapped, so that neither has to
// fit in memory. The output is either complete or absent.

/// Options from the command line; missing ones may come from a .npy file.
struct FileConversion {
    ConversionRequest request;  ///< shape and type may be missing
    std::string axes;           ///< letters of the shape; empty: the usual ones
    std::string type;           ///< empty: the file's (for quantised values: int8)
    std::string wmb{};          ///< file for the mask: the output is compressed weights
    std::string wgs{};          ///< file for the sizes of their groups
    std::function<void(double share)> progress{};
};

struct ConvertedFile {
    ConversionPlan conversion;
    std::uint64_t bytes = 0;  ///< of the output
};

/// Kernels of K C R S in row-major order, in the form for Winograd convolution: channels padded to
/// 32 bytes, then every 3x3 plane transformed to 4x4; fractions of integers are truncated.
struct WinogradKernels {
    LogicalShape shape;
    std::vector<std::uint8_t> values;
};
/// Their shape, from that of the given kernels.
LogicalShape winograd_shape(const LogicalShape& shape, const ElementRow& type);
/// ConfigError if a transformed weight does not fit its type.
WinogradKernels winograd_kernels(const LogicalShape& shape, const ElementRow& type,
                                 std::span<const std::uint8_t> values);
/// Whether the target uses such kernels and the shape is suitable for them.
bool takes_winograd(const ConversionRequest& request);
/// From such kernels, row-major, to the target's layout; `request` is for the given kernels.
ConversionPlan plan_winograd(const ConversionRequest& request, const ElementRow& type);
/// ConfigError unless weights can be compressed as the request says.
void require_compressible(const FileConversion& job);
/// The three surfaces of compressed weights, from the one that `conversion` wrote, as arrays where
/// their names end so: all of them, or none. ConfigError if the target is not one convolution's
/// weight layout. Returns the bytes of the file of values.
std::uint64_t write_compressed(const FileConversion& job, const ConversionPlan& conversion,
                               std::span<const std::uint8_t> stored,
                               const std::filesystem::path& output);

/// How the file would be converted. ConfigError with the numbers if its size, shape or type is
/// invalid.
ConversionPlan plan_file(const FileConversion& job, const std::filesystem::path& input);
/// Does so. ConfigError as from plan_file(), and for values that cannot be converted. 3x3 kernels
/// for Winograd are transformed first.
ConvertedFile convert_file(const FileConversion& job, const std::filesystem::path& input,
                           const std::filesystem::path& output);

}  // namespace npuscope
