// SPDX-License-Identifier: Apache-2.0
#include "models/layout/alignment.h"

#include <fmt/format.h>

namespace npuscope {

namespace {

std::string_view part_name(AlignedPart part) {
    switch (part) {
        case AlignedPart::Start:
            return "start address";
        case AlignedPart::LineStride:
            return "line stride";
        case AlignedPart::SurfaceStride:
            return "surface stride";
        case AlignedPart::Size:
            return "size";
    }
    return "value";
}

std::string_view kind_name(DataKind kind) {
    switch (kind) {
        case DataKind::Feature:
            return "a feature cube";
        case DataKind::Pixels:
            return "a pixel surface";
        case DataKind::Weights:
            return "weights";
        case DataKind::Bias:
            return "bias data";
        case DataKind::Prelu:
            return "PReLU data";
        case DataKind::BatchNorm:
            return "batch-normalisation data";
        case DataKind::ElementWise:
            return "element-wise data";
    }
    return "data";
}

}  // namespace

Bytes required_multiple(DataKind kind, AlignedPart part, Bytes memory_atom) {
    for (const AlignmentRule& rule : alignment_rules) {
        if (rule.kind == kind && rule.part == part) {
            return rule.unit == AlignmentUnit::Atom ? memory_atom * rule.multiple
                                                    : Bytes(rule.multiple);
        }
    }
    return Bytes(1);
}

std::optional<Diagnostic> misaligned(const RegisterValue& value, const AlignmentNeed& need) {
    const std::uint64_t multiple = required_multiple(need.kind, need.part, need.memory_atom).value;
    const std::uint64_t below = value.value / multiple * multiple;
    if (below == value.value) {
        return std::nullopt;
    }
    Diagnostic finding;
    finding.id = "misaligned";
    finding.unit = value.unit;
    finding.register_name = spelled(value.unit, value.register_name);
    finding.sentence = fmt::format("{} = {:#x}: the {} of {} must be a multiple of {} bytes",
                                   finding.register_name, value.value, part_name(need.part),
                                   kind_name(need.kind), multiple);
    finding.remedy =
        fmt::format("the nearest legal values are {:#x} and {:#x}", below, below + multiple);
    finding.value = fmt::format("{:#x}", value.value);
    finding.nearest = fmt::format("{:#x}", below);
    if (need.part == AlignedPart::Start) {
        finding.address = Address(value.value);
    }
    return finding;
}

}  // namespace npuscope
