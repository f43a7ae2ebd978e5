// SPDX-License-Identifier: Apache-2.0
#include "models/layout/alignment.h"

#include <fmt/format.h>

#include "models/base/rule_ids.h"

namespace npuscope {

namespace {

// in the order of the enumerations
constexpr std::array<std::string_view, 5> part_names{"start address", "line stride",
                                                     "surface stride", "batch stride", "size"};
constexpr std::array<std::string_view, 7> kind_names{
    "a feature cube", "a pixel surface",          "weights",          "bias data",
    "PReLU data",     "batch-normalisation data", "element-wise data"};

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
    if (below == value.value || value.value == need.also) {
        return std::nullopt;
    }
    Diagnostic finding;
    finding.id = rule_ids::misaligned;
    finding.unit = value.unit;
    finding.register_name = spelled(value.unit, value.register_name);
    finding.sentence = fmt::format("{} = {:#x}: the {} of {} must be a multiple of {} bytes",
                                   finding.register_name, value.value,
                                   part_names[static_cast<std::size_t>(need.part)],
                                   kind_names[static_cast<std::size_t>(need.kind)], multiple);
    const bool is_empty = below == 0 && need.part == AlignedPart::Size;  // no size at all
    finding.remedy = is_empty ? fmt::format("the nearest legal value is {:#x}", multiple)
                              : fmt::format("the nearest legal values are {:#x} and {:#x}", below,
                                            below + multiple);
    finding.nearest = fmt::format("{:#x}", is_empty ? multiple : below);
    if (need.also != 0) {
        finding.sentence += fmt::format(", or exactly {:#x}", need.also);
        finding.nearest = fmt::format("{:#x}", need.also);
        finding.remedy = fmt::format("set it to {}", finding.nearest);
    }
    finding.value = fmt::format("{:#x}", value.value);
    if (need.part == AlignedPart::Start) {
        finding.address = Address(value.value);
    }
    return finding;
}

}  // namespace npuscope
