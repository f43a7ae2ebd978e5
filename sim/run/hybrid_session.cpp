// SPDX-License-Identifier: Apache-2.0
#include "sim/run/hybrid_session.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/base/check.h"
#include "sim/compile/explain.h"
#include "sim/compile/map_values.h"
#include "sim/compile/nvdla/plan_program.h"
#include "sim/compile/surface_files.h"
#include "sim/model/host_values.h"
#include "sim/model/prepare_graph.h"
#include "sim/run/joined_result.h"

namespace npuscope {
namespace {

/// A map in memory and where it lies; the name is an image's or a layer's.
struct PlannedMap {
    std::string name;
    Layout layout;
    Address base;
    MapCodes codes;
};

/// Pixels of uint8 lie in memory as they are.
MapCodes input_codes(const SegmentTensor& input, const PlannedSegment& segment) {
    const bool pixels =
        segment.plan.input.pixels && segment.lowered.network.input.type == InputType::Uint8;
    return pixels ? plain_codes(false) : stored_codes(input.zero);
}

PlannedMap input_map(const SegmentTensor& input, const PlannedSegment& segment) {
    if (input.layer == "input") {
        const StoredCube& stored = segment.plan.input;
        return {"input", memory_layout(stored, segment.lowered.network.input.shape()),
                stored.cube.base, input_codes(input, segment)};
    }
    const auto found =
        std::ranges::find(segment.plan.more_inputs, input.layer, &PlannedInput::name);
    NPU_CHECK(found != segment.plan.more_inputs.end(), "every input is planned");
    return {found->image(), memory_layout(found->stored, found->shape), found->stored.cube.base,
            stored_codes(input.zero)};
}

PlannedMap output_map(const SegmentTensor& output, const Plan& plan) {
    const auto found = std::ranges::find(plan.layers, output.layer, &PlannedLayer::name);
    NPU_CHECK(found != plan.layers.end() && found->output, "every output is planned");
    return {found->name, memory_layout(found->stored, found->shape), found->stored.cube.base,
            stored_codes(output.zero)};
}

class HybridSession {
 public:
    HybridSession(const Graph& graph, HybridPlan plan, const SystemConfig& system,
                  const RunOptions& options)
        : graph_(graph),
          plan_(std::move(plan)),
          system_(system),
          options_(options),
          values_(graph, plan_.facts),
          joined_(graph.name.empty() ? "model" : graph.name, system, options.timeline) {
        joined_.result().values = options.values;
        joined_.result().model->refused = refused_layers(plan_.partition);
    }

    HybridRun run(const GraphInputs* inputs) {
        computes_ = inputs != nullptr && options_.values;
        for (const std::string& name : graph_.inputs) {
            if (computes_) {
                values_.take_input(name, *inputs);
            }
        }
        for (const PartitionStep& step : plan_.partition.steps) {
            step.segment ? run_segment(*step.segment) : run_node(step.node);
        }
        note_idle_npu();
        HybridRun run;
        for (const std::string& output : graph_.outputs) {
            if (computes_) {
                run.outputs[output] = values_.stored(output, std::nullopt);
            }
        }
        run.result = joined_.take();
        return run;
    }

 private:
    void run_node(std::size_t index) {
        const GraphNode& node = graph_.nodes[index];
        if (computes_) {
            values_.evaluate(node);
        }
        if (plan_.partition.places[index].side == NodeSide::Host) {
            joined_.add_operator(node_name(node), host_cost(graph_, node, system_.host));
        }
    }

    void run_segment(std::size_t index) {
        PlannedSegment& segment = plan_.segments[index];
        RunOptions options = options_;
        options.keep.clear();
        SegmentRecord record;
        record.name = segment.plan.name;
        for (const SegmentTensor& input : segment.lowered.inputs) {
            record.inputs.push_back(input.tensor);
            if (computes_) {
                load_input(input, segment);
            }
        }
        std::vector<PlannedMap> outputs;
        for (const SegmentTensor& output : segment.lowered.outputs) {
            record.outputs.push_back(output.tensor);
            outputs.push_back(output_map(output, segment.plan));
            if (computes_) {
                options.keep.push_back({outputs.back().base, Bytes(outputs.back().layout.bytes)});
            }
        }
        Result result = run_program(plan_program(std::move(segment.plan)), system_, options);
        for (std::size_t i = 0; computes_ && i < outputs.size(); ++i) {
            const std::string& tensor = segment.lowered.outputs[i].tensor;
            values_.put(tensor,
                        load_map(graph_.types.at(tensor),
                                 {tensor, outputs[i].layout, outputs[i].codes}, result.kept[i]));
        }
        if (plan_.segments.size() > 1) {  // each counts its own from 1 on
            for (OperationRecord& operation : result.operations) {
                operation.name = fmt::format("segment {} {}", index + 1, operation.name);
            }
        }
        joined_.add_segment(std::move(record), std::move(result));
    }

    void load_input(const SegmentTensor& input, PlannedSegment& segment) {
        const PlannedMap map = input_map(input, segment);
        const auto image = std::ranges::find(segment.plan.images, map.name, &PlannedImage::name);
        NPU_CHECK(image != segment.plan.images.end(), "every input has an image");
        at_node(graph_, graph_.nodes[input.node], [&] {
            store_map(values_.at(input.tensor), {input.tensor, map.layout, map.codes},
                      image->image.bytes);
        });
    }

    void note_idle_npu() {
        if (plan_.segments.empty()) {
            joined_.result().findings.push_back(
                {.severity = Severity::Note,
                 .id = "host_only",
                 .sentence = "no layer of the model runs on the NPU: all of it ran on the host"});
        }
    }

    const Graph& graph_;
    HybridPlan plan_;
    const SystemConfig& system_;
    const RunOptions& options_;
    HostValues values_;
    JoinedResult joined_;
    bool computes_ = false;  ///< numbers, not time alone
};

}  // namespace

HybridRun run_hybrid(const Graph& graph, HybridPlan plan, const SystemConfig& system,
                     const RunOptions& options, const GraphInputs* inputs) {
    return HybridSession(graph, std::move(plan), system, options).run(inputs);
}

}  // namespace npuscope
