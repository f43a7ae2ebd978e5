// SPDX-License-Identifier: Apache-2.0
// The three element types of the data path.
// source: NVDLA format page, tables 29 to 32
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace npuscope {

enum class Precision { Int8, Int16, Fp16 };

/// Bytes of one element in memory and in the convolution buffer.
constexpr std::uint32_t bytes_of(Precision precision) {
    return precision == Precision::Int8 ? 1U : 2U;
}

/// Element type conversions of each unit: tables 29 to 32 of NVDLA's format page combined. The
/// tables describe operations that read memory; a unit that gets its input from the previous unit
/// may support more. An image format itself defines whether it is floating point.
/// source: NVDLA format page, tables 29 (convolution), 30 (SDP), 31 (LRN), 32 (pooling)
enum class ConvertingUnit { Convolution, Sdp, Cdp, Pdp };
enum class ConvertedInput { IntegerImage, FloatImage, Int8Feature, Int16Feature, Fp16Feature };
/// What the unit computes with.
enum class PipelineType { Invalid, Int8, Int16, Fp16, Int32, Fp32 };

/// A cell of the tables.
struct PrecisionCell {
    ConvertingUnit unit;
    ConvertedInput input;
    Precision output;
    PipelineType pipeline;  ///< Invalid: `Invalid case`

    bool valid() const { return pipeline != PipelineType::Invalid; }
    /// `table 29 (convolution), int8 feature data to fp16`.
    std::string name() const;
};

std::span<const PrecisionCell> precision_cells();
/// The cell of a combination; combinations not in a table are invalid.
PrecisionCell precision_cell(ConvertingUnit unit, ConvertedInput input, Precision output);
constexpr ConvertedInput feature_input(Precision precision) {
    return precision == Precision::Int8    ? ConvertedInput::Int8Feature
           : precision == Precision::Int16 ? ConvertedInput::Int16Feature
                                           : ConvertedInput::Fp16Feature;
}
/// int8, int16, fp16.
std::string_view precision_name(Precision precision);

/// The remedy for an invalid case: `convert to int8 or int16`; empty where the input has no valid
/// output.
std::string legal_outputs(const PrecisionCell& cell);

}  // namespace npuscope
