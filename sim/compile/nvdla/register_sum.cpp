// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sim/compile/nvdla/register_layer.h"
#include "sim/model/step_reader.h"

namespace npuscope {

std::optional<Sum> read_sum(const GraphView& view, std::size_t node) {
    const GraphNode& add = view.node(node);
    const bool maps = add.op == "Add" && !view.graph().is_constant(add.inputs[0]) &&
                      !view.graph().is_constant(add.inputs[1]) &&
                      view.sizes(add.inputs[0]) == view.sizes(add.inputs[1]);
    if (!maps) {
        return std::nullopt;
    }
    const std::vector<RawStep> steps = read_steps(view, {add.outputs.front(), 1});
    if (steps.empty() || steps.front().kind != StepKind::Clip) {
        return std::nullopt;
    }
    const RawStep& clip = steps.front();
    Sum sum{node, {node}, add.inputs, clip.output, {clip.nodes.front(), clip.low, clip.high}};
    sum.nodes.insert(sum.nodes.end(), clip.nodes.begin(), clip.nodes.end());
    return sum;
}

StagedSequence lower_sum(const ModelFacts& model, const Sum& sum, LoweringProblems& problems) {
    const auto a = model.map_range(sum.terms[0], sum.node, problems);
    const auto b = model.map_range(sum.terms[1], sum.node, problems);
    const auto result = model.map_range(sum.output, sum.clip.node, problems);
    return a && b && result ? stage_sum(*a, *b, *result) : StagedSequence{};
}

}  // namespace npuscope
