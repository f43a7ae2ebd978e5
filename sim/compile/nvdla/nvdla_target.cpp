// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/nvdla_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "models/base/error.h"
#include "sim/compile/explain.h"
#include "sim/compile/nvdla/register_layer.h"
#include "sim/compile/nvdla/segmented_program.h"
#include "sim/model/candidate.h"
#include "sim/model/host_values.h"
#include "sim/model/prepare_graph.h"

namespace npuscope {
namespace {

std::optional<NodeGroup> sum_at(const GraphView& model, std::size_t node) {
    std::optional<Sum> sum = read_sum(model, node);
    if (!sum) {
        return std::nullopt;
    }
    NodeGroup group;
    group.pattern = "ADD";
    group.anchor = node;
    group.nodes = sum->nodes;
    group.output = sum->output;
    group.cube = as_cube(model.sizes(sum->output));
    for (const std::string& term : sum->terms) {
        group.reads.push_back({term, group.cube, node});
    }
    group.lowered = *std::move(sum);
    return group;
}

LoweredLayer lower_group(const GraphView& model, const NodeGroup& group, Diagnostics& problems) {
    if (group.layer) {
        return lower_layer(model, *group.layer, problems);
    }
    if (group.cube.size() != 4 || group.cube[0] != 1) {
        problems.push_back(
            {.sentence = fmt::format("it adds maps of {}", sizes_text(model.sizes(group.output))),
             .remedy = "feature maps are 1xC or 1xCxHxW",
             .operation = node_name(model.node(group.anchor))});
    }
    StagedSequence staged = lower_sum(model, std::any_cast<const Sum&>(group.lowered), problems);
    LoweredLayer lowered;
    lowered.layer.relu = staged.relu;
    lowered.numbers = std::move(staged.numbers);
    return lowered;
}

class NvdlaPlan final : public ModelPlan {
 public:
    NvdlaPlan(const Graph& graph, SegmentedPlan plan, std::string npu)
        : graph_(graph), plan_(std::move(plan)), npu_(std::move(npu)) {}

    const Partition& partition() const override { return plan_.partition; }
    std::vector<std::string> layers() const override { return layers_of_groups(plan_); }
    std::string summary() const override { return segments_headline(graph_, plan_, npu_) + '\n'; }
    ModelProgram program(const HostConfig& host, const GraphInputs* inputs) const override {
        return segmented_program(graph_, plan_, host, inputs);
    }

 private:
    const Graph& graph_;
    SegmentedPlan plan_;
    std::string npu_;
};

/// Inputs of floats hold int8 where nothing else is known of them.
ValueRanges with_floats(const Graph& graph, ValueRanges given) {
    for (const std::string& name : graph.inputs) {
        if (is_float(graph.types.at(name).element)) {
            given.try_emplace(name, ValueRange{true, range_of(ElementType::Int8), false});
        }
    }
    return given;
}

class SegmentPlanner {
 public:
    SegmentPlanner(const Graph& graph, const PlanTarget& target, const ValueRanges& given)
        : model_(graph, value_ranges(graph, with_floats(graph, given))), target_(target) {}

    SegmentedPlan run() {
        SegmentedPlan plan;
        do {
            plan.partition = partition_graph(model_, NvdlaTarget(target_), problems_);
            plan.segments.clear();
        } while (!plan_segments(plan));
        const Graph& graph = model_.graph();
        for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
            if (plan.partition.places[i].side == NodeSide::Host) {
                check_host_runs(graph, graph.nodes[i]);
            }
        }
        plan.ranges = model_.ranges();
        return plan;
    }

 private:
    /// False where a group could not be planned: then it is left to the host.
    bool plan_segments(SegmentedPlan& plan) {
        for (std::size_t i = 0; i < plan.partition.segments.size(); ++i) {
            RegisterNetwork lowered = register_network(model_, plan.partition, i);
            auto planned = try_plan_network(lowered.network, target_);
            if (auto* problem = std::get_if<Diagnostic>(&planned)) {
                leave(plan.partition, plan.partition.segments[i], lowered, *std::move(problem));
                return false;
            }
            plan.segments.push_back({std::move(lowered), std::get<Plan>(std::move(planned))});
        }
        return true;
    }

    /// The group of the layer that a problem names, or the first that reads it as an input.
    void leave(const Partition& partition, const Segment& segment, const RegisterNetwork& lowered,
               Diagnostic problem) {
        for (std::size_t i = 0; i < segment.groups.size(); ++i) {
            const std::vector<std::string>& layers = lowered.layers[i];
            const std::vector<std::string>& read = lowered.reads[i];
            if (std::ranges::find(layers, problem.operation) != layers.end() ||
                std::ranges::find(read, problem.operation) != read.end()) {
                const NodeGroup& group = partition.groups[segment.groups[i]];
                problem.operation = group.name;
                problems_[group.nodes] = std::move(problem);
                return;
            }
        }
        throw ConfigError(std::move(problem));  // of the memory, not of a layer
    }

    const GraphView model_;
    const PlanTarget& target_;
    PlanProblems problems_;
};

}  // namespace

SegmentedPlan plan_segments(const Graph& graph, const PlanTarget& target,
                            const ValueRanges& given) {
    return SegmentPlanner(graph, target, given).run();
}

std::unique_ptr<ModelPlan> NvdlaTarget::plan(const Graph& graph, const ValueRanges& given) const {
    return std::make_unique<NvdlaPlan>(graph, plan_segments(graph, target_, given),
                                       target_.npu.name);
}

/// A residual that cannot be added before the clip is an addition of its own.
std::optional<NodeGroup> NvdlaTarget::group_at(const GraphView& model, std::size_t anchor,
                                               bool with_residual) const {
    std::optional<Candidate> candidate = read_candidate(model, anchor, with_residual);
    if (candidate && !candidate->norm.residual.empty() && !can_join(*candidate)) {
        candidate = read_candidate(model, anchor, false);
    }
    return candidate ? pattern_group(*std::move(candidate)) : sum_at(model, anchor);
}

Diagnostics NvdlaTarget::lower(const GraphView& model, NodeGroup& group) const {
    Diagnostics problems;
    LoweredLayer lowered = lower_group(model, group, problems);
    if (problems.empty()) {
        group.lowered = std::move(lowered);
    } else {
        group.lowered.reset();
    }
    if (group.layer) {
        group.layer->weights = {};  // they may be large
    }
    return problems;
}

std::string NvdlaTarget::unit_of(const NodeGroup& group, std::size_t node) const {
    if (group.layer && group.layer->pattern == Pattern::Maxpool) {
        return "pdp";
    }
    return group.layer && group.anchor == node ? "conv" : "sdp";
}

std::string segments_headline(const Graph& graph, const SegmentedPlan& plan,
                              const std::string& npu) {
    const Partition& partition = plan.partition;
    std::size_t layers = 0;
    for (const PlannedSegment& segment : plan.segments) {
        layers += segment.plan.layers.size();
    }
    const std::string where =
        plan.segments.empty()
            ? "none of them on the NPU"
            : fmt::format("{} of them in {} of the NPU in {}", partition.count(NodeSide::Npu),
                          counted(layers, "layer"), counted(plan.segments.size(), "segment"));
    return fmt::format("{} on {}: {}, {}, {} on the host; {} refused\n",
                       graph.name.empty() ? graph.file : graph.name, npu,
                       counted(graph.nodes.size(), "node"), where, partition.count(NodeSide::Host),
                       counted(partition.refusals.size(), "layer"));
}

std::vector<std::string> layers_of_groups(const SegmentedPlan& plan) {
    std::vector<std::string> texts(plan.partition.groups.size());
    for (std::size_t s = 0; s < plan.segments.size(); ++s) {
        const std::string prefix = plan.segments.size() > 1 ? fmt::format("{}: ", s + 1) : "";
        const std::vector<std::size_t>& groups = plan.partition.segments[s].groups;
        for (std::size_t i = 0; i < groups.size(); ++i) {
            const std::vector<std::string>& names = plan.segments[s].lowered.layers[i];
            const auto is_one = [&](const std::string& name) {
                return std::ranges::find(names, name) != names.end();
            };
            const std::vector<PlannedLayer>& layers = plan.segments[s].plan.layers;
            const auto planned = std::ranges::find_if(layers, [&](const PlannedLayer& layer) {
                return is_one(layer.name) || is_one(layer.first_layer);
            });
            if (planned != layers.end()) {
                const bool joined = planned->first_layer != planned->name;
                texts[groups[i]] = fmt::format("{}{}{}, {}", prefix, planned->first_layer,
                                               joined ? "+" + planned->name : "",
                                               counted(planned->operations, "operation"));
            }
        }
    }
    return texts;
}

}  // namespace npuscope
