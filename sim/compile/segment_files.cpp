// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/segment_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "models/base/check.h"
#include "sim/config/json_writer.h"

namespace npuscope {
namespace {

std::string quoted_list(const std::vector<std::string>& texts) {
    std::vector<std::string> each;
    std::ranges::transform(texts, std::back_inserter(each),
                           [](const std::string& text) { return quoted(text); });
    return fmt::format("[{}]", fmt::join(each, ", "));
}

std::string image_name(const SegmentTensor& input, const Plan& plan) {
    if (input.layer == "input") {
        return input.layer;
    }
    const auto found = std::ranges::find(plan.more_inputs, input.layer, &PlannedInput::name);
    NPU_CHECK(found != plan.more_inputs.end(), "every input is planned");
    return found->image();
}

std::string segment_text(const PlannedSegment& segment, std::size_t index) {
    return fmt::format("  - segment: {0}\n    program: {0}/program.cfg\n", segment_folder(index)) +
           tensors_yaml(segment, "    ");
}

}  // namespace

std::string tensors_yaml(const PlannedSegment& segment, const std::string& indent) {
    std::string text = indent + "inputs:\n";
    for (const SegmentTensor& input : segment.lowered.inputs) {
        text += indent + fmt::format("  - {{tensor: {}, image: {}.dat, shape: {}, zero: {}}}\n",
                                     quoted(input.tensor), image_name(input, segment.plan),
                                     sizes_text(input.cube), input.zero);
    }
    text += indent + "outputs:\n";
    for (const SegmentTensor& output : segment.lowered.outputs) {
        text += indent + fmt::format("  - {{tensor: {}, result: {}, shape: {}, zero: {}}}\n",
                                     quoted(output.tensor), output.layer, sizes_text(output.cube),
                                     output.zero);
    }
    return text;
}

std::string segment_folder(std::size_t index) { return fmt::format("segment_{}", index + 1); }

std::string segments_yaml(const Graph& graph, const HybridPlan& plan, const std::string& npu) {
    std::string text = fmt::format("model: {}\nnpu: {}\nsteps:{}\n", quoted(graph.name), npu,
                                   plan.partition.steps.empty() ? " []" : "");
    for (const PartitionStep& step : plan.partition.steps) {
        if (step.segment) {
            text += segment_text(plan.segments[*step.segment], *step.segment);
            continue;
        }
        const GraphNode& node = graph.nodes[step.node];
        text += fmt::format("  - host: {{node: {}, operator: {}, inputs: {}, outputs: {}}}\n",
                            quoted(node_name(node)), node.op, quoted_list(node.inputs),
                            quoted_list(node.outputs));
    }
    return text;
}

}  // namespace npuscope
