// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/segmented_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "models/base/check.h"
#include "sim/compile/explain.h"
#include "sim/compile/nvdla/plan_program.h"
#include "sim/compile/nvdla/register_layer.h"
#include "sim/compile/nvdla/wide_layer.h"
#include "sim/compile/surface_files.h"
#include "sim/config/file_name.h"
#include "sim/config/json_writer.h"
#include "sim/config/text_table.h"
#include "sim/config/yaml_writer.h"
#include "sim/model/graph.h"
#include "sim/model/host_values.h"
#include "sim/model/prepare_graph.h"

namespace npuscope {
namespace {

/// A map in memory and its address.
struct PlannedMap {
    Layout layout;
    Address base;
    MapCodes codes;
};

/// For a map that is stored minus a zero.
MapCodes codes_of(const Plan& plan, std::int32_t zero) {
    return plan.precision == Precision::Int8 ? stored_codes(zero) : wide_codes(plan.precision);
}

/// Pixels of uint8 are stored unchanged.
MapCodes input_codes(const SegmentTensor& input, const PlannedSegment& segment) {
    const bool pixels =
        segment.plan.input.pixels && segment.lowered.network.input.type == InputType::Uint8;
    return pixels ? plain_codes(false) : codes_of(segment.plan, input.zero);
}

const PlannedInput& planned_input(const SegmentTensor& input, const Plan& plan) {
    const auto found = std::ranges::find(plan.more_inputs, input.layer, &PlannedInput::name);
    NPU_CHECK(found != plan.more_inputs.end(), "every input is planned");
    return *found;
}

PlannedMap input_map(const SegmentTensor& input, const PlannedSegment& segment) {
    if (input.layer == "input") {
        const StoredCube& stored = segment.plan.input;
        return {memory_layout(stored, segment.lowered.network.input.shape()), stored.cube.base,
                input_codes(input, segment)};
    }
    const PlannedInput& planned = planned_input(input, segment.plan);
    return {memory_layout(planned.stored, planned.shape), planned.stored.cube.base,
            codes_of(segment.plan, input.zero)};
}

PlannedMap output_map(const SegmentTensor& output, const Plan& plan) {
    const auto found = std::ranges::find(plan.layers, output.layer, &PlannedLayer::name);
    NPU_CHECK(found != plan.layers.end() && found->output, "every output is planned");
    return {memory_layout(found->stored, found->shape), found->stored.cube.base,
            codes_of(plan, output.zero)};
}

class SegmentProgrammer {
 public:
    SegmentProgrammer(const Graph& graph, SegmentedPlan plan, const HostConfig& host,
                      std::span<const GraphInputs> inputs)
        : graph_(graph), plan_(std::move(plan)), host_(host) {
        NPU_CHECK(inputs.empty() || inputs.size() == plan_.inputs,
                  "inputs must be given for all elements of the batch, or for none");
        for (const GraphInputs& one : inputs) {
            values_.push_back(std::make_shared<HostValues>(graph, plan_.ranges));
            for (const std::string& name : graph.inputs) {
                values_.back()->take_input(name, one);
            }
        }
    }

    ModelProgram run() {
        program_.name = graph_.name.empty() ? "model" : graph_.name;
        for (const PartitionStep& step : plan_.partition.steps) {
            step.segment ? add_segment(*step.segment) : add_node(step.node);
        }
        ModelProgram model{
            .program = std::move(program_),
            .outputs = [&graph = graph_, values = values_] { return outputs(graph, values); }};
        model.layers = std::move(layers_);
        model.refused = refused_layers(plan_.partition);
        model.findings = host_only_findings(graph_, plan_.partition);
        std::ranges::move(rounding_findings(graph_), std::back_inserter(model.findings));
        model.deviations = std::move(deviations_);
        return model;
    }

 private:
    using AllValues = std::vector<std::shared_ptr<HostValues>>;

    static GraphInputs outputs(const Graph& graph, const AllValues& values) {
        GraphInputs outputs;
        for (const auto& one : values) {
            for (const std::string& output : graph.outputs) {
                GraphValue value = one->stored(output, std::nullopt);
                const auto [found, is_new] = outputs.try_emplace(output, value);
                if (!is_new) {
                    add_along_first(found->second, value);
                }
            }
        }
        return outputs;
    }

    void add(Action action) { program_.statements.push_back({{}, std::move(action)}); }

    void add_node(std::size_t index) {
        const GraphNode& node = graph_.nodes[index];
        for (std::uint32_t i = 0; i < plan_.inputs; ++i) {
            RunNode run = run_node_statement(graph_, plan_.partition, index, host_);
            if (!values_.empty()) {
                run.work = [&node, values = values_[i]](HostMemory& /*memory*/) {
                    values->evaluate(node);
                };
            }
            add(std::move(run));
        }
    }

    void add_segment(std::size_t index) {
        PlannedSegment& segment = plan_.segments[index];
        BeginSegment begin{.name = segment.plan.name};
        std::vector<RunNode> stores;
        std::vector<RunNode> loads;
        for (const SegmentTensor& input : segment.lowered.inputs) {
            begin.inputs.push_back(input.tensor);
            PlannedMap map = input_map(input, segment);
            for (std::uint32_t i = 0; !values_.empty() && i < plan_.inputs; ++i) {
                stores.push_back(store(input, map, values_[i]));
                map.base = map.base + segment.distance;
            }
        }
        for (const SegmentTensor& output : segment.lowered.outputs) {
            begin.outputs.push_back(output.tensor);
            PlannedMap map = output_map(output, segment.plan);
            for (std::uint32_t i = 0; i < plan_.inputs; ++i) {
                loads.push_back(load(output, map, values_.empty() ? nullptr : values_[i]));
                map.base = map.base + segment.distance;
            }
        }
        add(std::move(begin));
        note_deviations(segment, plan_.partition.segments[index].groups);
        bool stored = values_.empty();
        Program planned = plan_program(std::move(segment.plan));
        name_surfaces(planned.surfaces, segment, index + 1);
        for (Statement& statement : planned.statements) {
            if (!stored && !std::holds_alternative<LoadMemory>(statement.action)) {
                for (RunNode& one : stores) {
                    add(std::move(one));
                }
                stored = true;
            }
            program_.statements.push_back(std::move(statement));
        }
        add(WaitForJobs{});
        for (RunNode& one : loads) {
            add(std::move(one));
        }
    }

    /// Deviations of layers by their names in results.
    void note_deviations(const PlannedSegment& segment, const std::vector<std::size_t>& groups) {
        for (std::size_t i = 0; i < groups.size(); ++i) {
            const std::string& node = plan_.partition.groups[groups[i]].name;
            const auto rounded = std::ranges::find(graph_.rounded, node, &RoundedLayer::name);
            const std::vector<std::string>& names = segment.lowered.layers[i];
            for (const PlannedLayer& layer : segment.plan.layers) {
                const bool own = std::ranges::find(names, layer.first_layer) != names.end() ||
                                 std::ranges::find(names, layer.name) != names.end();
                if (own && rounded != graph_.rounded.end()) {
                    deviations_[layer.result_name()] = rounded->deviation;
                }
            }
        }
    }

    /// Adds a segment's surfaces. A name that is in use is prefixed with the segment's.
    void name_surfaces(std::vector<NamedSurface> surfaces, const PlannedSegment& segment,
                       std::size_t number) {
        const std::vector<std::size_t>& groups = plan_.partition.segments[number - 1].groups;
        for (NamedSurface& surface : surfaces) {
            const std::string own = surface.name;
            const bool taken = std::ranges::find(program_.surfaces, own, &NamedSurface::name) !=
                               program_.surfaces.end();
            surface.name = taken ? fmt::format("segment_{}.{}", number, own) : own;
            surface.segment = number;
            for (std::size_t i = 0; surface.is_result && i < groups.size(); ++i) {
                const NodeGroup& group = plan_.partition.groups[groups[i]];
                if (segment.lowered.layers[i].back() == own) {
                    layers_.push_back({surface, group.output, zero_of(group.output)});
                }
            }
            program_.surfaces.push_back(std::move(surface));
        }
    }
    std::int32_t zero_of(const std::string& tensor) const {
        const bool wide = map_precision(graph_) != Precision::Int8;
        return wide ? 0 : stored_zero(plan_.ranges.at(tensor).range);
    }

    /// Stores a tensor over its image.
    RunNode store(const SegmentTensor& input, PlannedMap map,
                  std::shared_ptr<HostValues> values) const {
        RunNode run{.name = input.tensor};
        run.work = [&graph = graph_, values = std::move(values), input,
                    map = std::move(map)](HostMemory& memory) {
            std::vector<std::uint8_t> bytes(map.layout.bytes);
            at_node(graph, graph.nodes[input.node], [&] {
                store_map(values->at(input.tensor), {input.tensor, map.layout, map.codes}, bytes);
            });
            memory.load(map.base, bytes);
        };
        return run;
    }

    RunNode load(const SegmentTensor& output, PlannedMap map,
                 std::shared_ptr<HostValues> values) const {
        RunNode run{.name = output.tensor};
        if (!values) {  // known to be read, although nothing reads it
            run.reads = {{map.base, Bytes(map.layout.bytes)}};
            return run;
        }
        run.work = [&graph = graph_, values = std::move(values), tensor = output.tensor,
                    map = std::move(map)](HostMemory& memory) {
            std::vector<std::uint8_t> bytes(map.layout.bytes);
            memory.read(map.base, bytes);
            values->put(tensor,
                        load_map(graph.types.at(tensor), {tensor, map.layout, map.codes}, bytes));
        };
        return run;
    }

    const Graph& graph_;
    SegmentedPlan plan_;
    const HostConfig& host_;
    AllValues values_;  ///< of every input; none for timing only
    Program program_;
    std::vector<LayerResult> layers_;
    std::map<std::string, Deviation> deviations_;
};

}  // namespace

ModelProgram segmented_program(const Graph& graph, SegmentedPlan plan, const HostConfig& host,
                               const GraphInputs* inputs) {
    return segmented_program(graph, std::move(plan), host,
                             std::span(inputs, inputs != nullptr ? std::size_t{1} : 0));
}

ModelProgram segmented_program(const Graph& graph, SegmentedPlan plan, const HostConfig& host,
                               std::span<const GraphInputs> inputs) {
    return SegmentProgrammer(graph, std::move(plan), host, inputs).run();
}

namespace {

std::string quoted_list(const std::vector<std::string>& texts) {
    std::vector<std::string> each;
    std::ranges::transform(texts, std::back_inserter(each),
                           [](const std::string& text) { return quoted(text); });
    return fmt::format("[{}]", fmt::join(each, ", "));
}

std::string image_name(const SegmentTensor& input, const Plan& plan) {
    return input.layer == "input" ? input.layer : planned_input(input, plan).image();
}

std::string segment_text(const PlannedSegment& segment, std::size_t index) {
    return fmt::format("  - segment: {0}\n    program: {0}/program.cfg\n", segment_folder(index)) +
           tensors_yaml(segment, "    ");
}

}  // namespace

std::string tensors_yaml(const PlannedSegment& segment, const std::string& indent) {
    std::string text = indent + "inputs:\n";
    for (const SegmentTensor& input : segment.lowered.inputs) {
        text +=
            indent + fmt::format("  - {{tensor: {}, image: {}, shape: {}, zero: {}}}\n",
                                 quoted(input.tensor),
                                 yaml_quoted(file_name(image_name(input, segment.plan), ".dat")),
                                 sizes_text(input.cube), input.zero);
    }
    text += indent + "outputs:\n";
    for (const SegmentTensor& output : segment.lowered.outputs) {
        text += indent + fmt::format("  - {{tensor: {}, result: {}, shape: {}, zero: {}}}\n",
                                     quoted(output.tensor), yaml_quoted(output.layer),
                                     sizes_text(output.cube), output.zero);
    }
    return text;
}

std::string segment_folder(std::size_t index) { return fmt::format("segment_{}", index + 1); }

std::string segments_yaml(const Graph& graph, const SegmentedPlan& plan, const std::string& npu) {
    std::string text = fmt::format("model: {}\nnpu: {}\nsteps:{}\n", quoted(graph.name),
                                   yaml_quoted(npu), plan.partition.steps.empty() ? " []" : "");
    for (const PartitionStep& step : plan.partition.steps) {
        if (step.segment) {
            text += segment_text(plan.segments[*step.segment], *step.segment);
            continue;
        }
        const GraphNode& node = graph.nodes[step.node];
        text += fmt::format("  - host: {{node: {}, operator: {}, inputs: {}, outputs: {}}}\n",
                            quoted(node_name(node)), yaml_quoted(node.op), quoted_list(node.inputs),
                            quoted_list(node.outputs));
    }
    return text;
}

}  // namespace npuscope
