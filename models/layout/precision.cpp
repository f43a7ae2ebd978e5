// SPDX-License-Identifier: Apache-2.0
#include "models/layout/precision.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace npuscope {

namespace {

using Unit = ConvertingUnit;
using In = ConvertedInput;
using Pipe = PipelineType;

/// What the unit computes with for int8, int16 and fp16 output.
struct InputRow {
    Unit unit;
    In input;
    std::array<Pipe, 3> pipelines;
};

constexpr std::array rows{
    InputRow{Unit::Convolution, In::IntegerImage, {Pipe::Int8, Pipe::Int16, Pipe::Fp16}},
    InputRow{Unit::Convolution, In::FloatImage, {Pipe::Invalid, Pipe::Invalid, Pipe::Fp16}},
    InputRow{Unit::Convolution, In::Int8Feature, {Pipe::Int8, Pipe::Invalid, Pipe::Invalid}},
    InputRow{Unit::Convolution, In::Int16Feature, {Pipe::Invalid, Pipe::Int16, Pipe::Invalid}},
    InputRow{Unit::Convolution, In::Fp16Feature, {Pipe::Invalid, Pipe::Invalid, Pipe::Fp16}},
    InputRow{Unit::Sdp, In::Int8Feature, {Pipe::Int32, Pipe::Int32, Pipe::Invalid}},
    InputRow{Unit::Sdp, In::Int16Feature, {Pipe::Int32, Pipe::Int32, Pipe::Int32}},
    InputRow{Unit::Sdp, In::Fp16Feature, {Pipe::Invalid, Pipe::Fp32, Pipe::Fp32}},
    InputRow{Unit::Cdp, In::Int8Feature, {Pipe::Int8, Pipe::Invalid, Pipe::Invalid}},
    InputRow{Unit::Cdp, In::Int16Feature, {Pipe::Invalid, Pipe::Int16, Pipe::Invalid}},
    InputRow{Unit::Cdp, In::Fp16Feature, {Pipe::Invalid, Pipe::Invalid, Pipe::Fp16}},
    InputRow{Unit::Pdp, In::Int8Feature, {Pipe::Int8, Pipe::Invalid, Pipe::Invalid}},
    InputRow{Unit::Pdp, In::Int16Feature, {Pipe::Invalid, Pipe::Int16, Pipe::Invalid}},
    InputRow{Unit::Pdp, In::Fp16Feature, {Pipe::Invalid, Pipe::Invalid, Pipe::Fp16}},
};

constexpr auto cells = [] {
    std::array<PrecisionCell, 3 * rows.size()> all{};
    for (std::size_t i = 0; i < all.size(); ++i) {
        const InputRow& row = rows[i / 3];
        const auto output = static_cast<Precision>(i % 3);
        all[i] = {row.unit, row.input, output, row.pipelines[i % 3]};
    }
    return all;
}();

/// The name of a unit's table on the page.
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
    return found == cells.end() ? PrecisionCell{unit, input, output, PipelineType::Invalid}
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
