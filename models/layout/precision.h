// SPDX-License-Identifier: Apache-2.0
// The three element types of the data path. source: NVDLA format page, tables 29 to 32
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

/// Which element types a unit turns into which: tables 29 to 32 of NVDLA's format page as one. The
/// tables speak of operations that read memory; a unit that takes its input from the one in front
/// may do more. A format of image says itself whether it is floating.
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
/// The cell of a combination; what no table lists counts as invalid.
PrecisionCell precision_cell(ConvertingUnit unit, ConvertedInput input, Precision output);
constexpr ConvertedInput feature_input(Precision precision) {
    return precision == Precision::Int8    ? ConvertedInput::Int8Feature
           : precision == Precision::Int16 ? ConvertedInput::Int16Feature
                                           : ConvertedInput::Fp16Feature;
}
/// int8, int16, fp16.
std::string_view precision_name(Precision precision);

/// What to do about an invalid case: `convert to int8 or int16`; empty where the input has no valid
/// output.
std::string legal_outputs(const PrecisionCell& cell);

}  // namespace npuscope
