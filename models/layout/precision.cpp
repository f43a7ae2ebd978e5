// SPDX-License-Identifier: Apache-2.0
#include "models/layout/precision.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace npuscope {

namespace {

using Unit = ConvertingUnit;
using In = ConvertedInput;
using Out = Precision;
using Pipe = PipelineType;

constexpr std::array cells{
    PrecisionCell{Unit::Convolution, In::IntegerImage, Out::Int8, Pipe::Int8},
    PrecisionCell{Unit::Convolution, In::IntegerImage, Out::Int16, Pipe::Int16},
    PrecisionCell{Unit::Convolution, In::IntegerImage, Out::Fp16, Pipe::Fp16},
    PrecisionCell{Unit::Convolution, In::FloatImage, Out::Int8, Pipe::Invalid},
    PrecisionCell{Unit::Convolution, In::FloatImage, Out::Int16, Pipe::Invalid},
    PrecisionCell{Unit::Convolution, In::FloatImage, Out::Fp16, Pipe::Fp16},
    PrecisionCell{Unit::Convolution, In::Int8Feature, Out::Int8, Pipe::Int8},
    PrecisionCell{Unit::Convolution, In::Int8Feature, Out::Int16, Pipe::Invalid},
    PrecisionCell{Unit::Convolution, In::Int8Feature, Out::Fp16, Pipe::Invalid},
    PrecisionCell{Unit::Convolution, In::Int16Feature, Out::Int8, Pipe::Invalid},
    PrecisionCell{Unit::Convolution, In::Int16Feature, Out::Int16, Pipe::Int16},
    PrecisionCell{Unit::Convolution, In::Int16Feature, Out::Fp16, Pipe::Invalid},
    PrecisionCell{Unit::Convolution, In::Fp16Feature, Out::Int8, Pipe::Invalid},
    PrecisionCell{Unit::Convolution, In::Fp16Feature, Out::Int16, Pipe::Invalid},
    PrecisionCell{Unit::Convolution, In::Fp16Feature, Out::Fp16, Pipe::Fp16},
    PrecisionCell{Unit::Sdp, In::Int8Feature, Out::Int8, Pipe::Int32},
    PrecisionCell{Unit::Sdp, In::Int8Feature, Out::Int16, Pipe::Int32},
    PrecisionCell{Unit::Sdp, In::Int8Feature, Out::Fp16, Pipe::Invalid, true},
    PrecisionCell{Unit::Sdp, In::Int16Feature, Out::Int8, Pipe::Int32},
    PrecisionCell{Unit::Sdp, In::Int16Feature, Out::Int16, Pipe::Int32},
    PrecisionCell{Unit::Sdp, In::Int16Feature, Out::Fp16, Pipe::Int32},
    PrecisionCell{Unit::Sdp, In::Fp16Feature, Out::Int8, Pipe::Invalid},
    PrecisionCell{Unit::Sdp, In::Fp16Feature, Out::Int16, Pipe::Fp32},
    PrecisionCell{Unit::Sdp, In::Fp16Feature, Out::Fp16, Pipe::Fp32},
    PrecisionCell{Unit::Cdp, In::Int8Feature, Out::Int8, Pipe::Int8},
    PrecisionCell{Unit::Cdp, In::Int8Feature, Out::Int16, Pipe::Invalid},
    PrecisionCell{Unit::Cdp, In::Int8Feature, Out::Fp16, Pipe::Invalid},
    PrecisionCell{Unit::Cdp, In::Int16Feature, Out::Int8, Pipe::Invalid},
    PrecisionCell{Unit::Cdp, In::Int16Feature, Out::Int16, Pipe::Int16},
    PrecisionCell{Unit::Cdp, In::Int16Feature, Out::Fp16, Pipe::Invalid},
    PrecisionCell{Unit::Cdp, In::Fp16Feature, Out::Int8, Pipe::Invalid},
    PrecisionCell{Unit::Cdp, In::Fp16Feature, Out::Int16, Pipe::Invalid},
    PrecisionCell{Unit::Cdp, In::Fp16Feature, Out::Fp16, Pipe::Fp16},
    PrecisionCell{Unit::Pdp, In::Int8Feature, Out::Int8, Pipe::Int8},
    PrecisionCell{Unit::Pdp, In::Int8Feature, Out::Int16, Pipe::Invalid},
    PrecisionCell{Unit::Pdp, In::Int8Feature, Out::Fp16, Pipe::Invalid},
    PrecisionCell{Unit::Pdp, In::Int16Feature, Out::Int8, Pipe::Invalid},
    PrecisionCell{Unit::Pdp, In::Int16Feature, Out::Int16, Pipe::Int16},
    PrecisionCell{Unit::Pdp, In::Int16Feature, Out::Fp16, Pipe::Invalid},
    PrecisionCell{Unit::Pdp, In::Fp16Feature, Out::Int8, Pipe::Invalid},
    PrecisionCell{Unit::Pdp, In::Fp16Feature, Out::Int16, Pipe::Invalid},
    PrecisionCell{Unit::Pdp, In::Fp16Feature, Out::Fp16, Pipe::Fp16},
};

/// Where a unit's table stands on the page.
std::string_view table_name(Unit unit) {
    constexpr std::array<std::string_view, 4> kNames{"table 29 (convolution)", "table 30 (SDP)",
                                                     "table 31 (LRN)", "table 32 (pooling)"};
    return kNames[static_cast<std::size_t>(unit)];
}

std::string_view input_name(In input) {
    constexpr std::array<std::string_view, 5> kNames{"integer image", "fp16 image",
                                                     "int8 feature data", "int16 feature data",
                                                     "fp16 feature data"};
    return kNames[static_cast<std::size_t>(input)];
}

}  // namespace

std::string_view precision_name(Precision precision) {
    constexpr std::array<std::string_view, 3> kNames{"int8", "int16", "fp16"};
    return kNames[static_cast<std::size_t>(precision)];
}

std::string PrecisionCell::name() const {
    return fmt::format("{}, {} to {}", table_name(unit), input_name(input), precision_name(output));
}

std::span<const PrecisionCell> precision_cells() { return cells; }

PrecisionCell precision_cell(ConvertingUnit unit, ConvertedInput input, Precision output) {
    const auto found = std::ranges::find_if(cells, [&](const PrecisionCell& cell) {
        return cell.unit == unit && cell.input == input && cell.output == output;
    });
    return found == cells.end() ? PrecisionCell{unit, input, output, PipelineType::Invalid, false}
                                : *found;
}

std::string legal_outputs(const PrecisionCell& cell) {
    std::string outputs;
    for (const PrecisionCell& other : cells) {
        if (other.unit == cell.unit && other.input == cell.input && other.valid()) {
            outputs += outputs.empty() ? "convert to " : " or ";
            outputs += precision_name(other.output);
        }
    }
    return outputs;
}

}  // namespace npuscope
