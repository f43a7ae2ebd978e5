// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/tinpu/tinpu_target.h"

#include <fmt/format.h>

#include "sim/compile/tinpu/restriction_check.h"
#include "sim/model/candidate.h"

namespace npuscope {
namespace {

std::optional<MapWidth> width_of(const NumberRange& range) {
    for (const unsigned bits : {2U, 4U, 8U}) {
        if (fits_bits(range, bits)) {
            return MapWidth{bits, range.low < 0};
        }
    }
    return std::nullopt;
}

std::optional<MapWidth> known_width(const ModelFacts& model, const std::string& tensor) {
    const auto facts = model.facts.find(tensor);
    const bool known = facts != model.facts.end() && facts->second.whole && !facts->second.assumed;
    return known ? width_of(facts->second.range) : std::nullopt;
}

}  // namespace

std::optional<MapWidth> clip_width(const Candidate& candidate) {
    return candidate.norm.clip ? width_of({candidate.norm.clip->low, candidate.norm.clip->high})
                               : std::nullopt;
}

std::string width_text(const std::optional<MapWidth>& width) {
    return width ? fmt::format("{}-bit {}", width->bits, width->is_signed ? "signed" : "unsigned")
                 : std::string("8-bit");
}

const TinpuLayer& tinpu_layer(const NodeGroup& group) {
    return std::any_cast<const TinpuLayer&>(group.lowered);
}

std::optional<NodeGroup> TinpuTarget::group_at(const ModelFacts& model, std::size_t anchor,
                                               bool with_residual) const {
    std::optional<Candidate> candidate = read_candidate(model.view, anchor, with_residual);
    return candidate ? std::optional(pattern_group(*std::move(candidate))) : std::nullopt;
}

Diagnostics TinpuTarget::lower(const ModelFacts& model, NodeGroup& group) const {
    CheckedLayer checked = check_restrictions({model, restrictions_}, *group.layer);
    group.lowered = TinpuLayer{checked.weight_bits, known_width(model, group.layer->input)};
    return std::move(checked.problems);
}

std::string TinpuTarget::unit_of(const NodeGroup& /*group*/, std::size_t /*node*/) const {
    return "tinpu";
}

std::string TinpuTarget::configuration(const NodeGroup& group) const {
    const Candidate& candidate = *group.layer;
    const TinpuLayer& layer = tinpu_layer(group);
    std::string text = fmt::format("input {} {} NHWC, output {} {} NHWC\n  ",
                                   width_text(layer.input), hwc_text(candidate.in),
                                   width_text(clip_width(candidate)), hwc_text(candidate.out));
    if (has_weights(candidate.pattern)) {
        text += fmt::format("weights {} HWIO, ", layer.weight_bits == 0
                                                     ? "of no width"
                                                     : fmt::format("{}-bit", layer.weight_bits));
    }
    return text + window_text(candidate);
}

}  // namespace npuscope
