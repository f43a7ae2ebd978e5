// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/nvdla_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "models/base/error.h"
#include "sim/compile/explain.h"
#include "sim/compile/nvdla/register_layer.h"
#include "sim/compile/nvdla/segmented_program.h"
#include "sim/compile/nvdla/wide_layer.h"
#include "sim/config/text_table.h"
#include "sim/model/candidate.h"
#include "sim/model/host_values.h"
#include "sim/model/prepare_graph.h"
#include "sim/model/quantised_form.h"
#include "sim/model/sequence_reader.h"

namespace npuscope {
namespace {

/// A wide clip between sum and residual of 8 bits: the result of the clip after it is the same
/// without.
bool hides(const ClipStep& between, const ClipStep& after) {
    return between.low <= after.low - 255 && between.high >= after.high + 128;
}

/// Whether the residual of a convolution can be added before the convolution's result is clipped:
/// the clip between them is so wide that results of 8 bits do not show it.
bool can_join(const Candidate& candidate) {
    const bool conv = has_weights(candidate.pattern) && candidate.pattern != Pattern::Fc &&
                      candidate.pattern != Pattern::Tconv;
    const NormSequence& norm = candidate.norm;
    return conv && !norm.to_even && norm.preclip && norm.clip && hides(*norm.preclip, *norm.clip) &&
           candidate.problems.empty();
}

std::optional<Sum> read_sum(const GraphView& view, std::size_t node) {
    const GraphNode& add = view.node(node);
    if (add.op == scaled_sum_op) {
        const ScaledSum scaled = scaled_sum_of(add);
        return Sum{node, {node}, add.inputs, add.outputs.front(), {node, scaled.low, scaled.high}};
    }
    const bool maps = add.op == "Add" && !view.graph().is_constant(add.inputs[0]) &&
                      !view.graph().is_constant(add.inputs[1]) &&
                      view.sizes(add.inputs[0]) == view.sizes(add.inputs[1]);
    if (!maps) {
        return std::nullopt;
    }
    const std::vector<RawStep> steps = read_steps(view, add.outputs.front());
    if (steps.empty() || steps.front().kind != StepKind::Clip) {
        return std::nullopt;
    }
    const RawStep& clip = steps.front();
    Sum sum{node, {node}, add.inputs, clip.output, {clip.nodes.front(), clip.low, clip.high}};
    sum.nodes.insert(sum.nodes.end(), clip.nodes.begin(), clip.nodes.end());
    return sum;
}

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
    return lower_sum(model, std::any_cast<const Sum&>(group.lowered), problems);
}

/// Maps of a model are of one precision: what is not is left to the host.
LoweredLayer lower_in(Precision precision, const NpuConfig& npu, const GraphView& model,
                      const NodeGroup& group, Diagnostics& problems) {
    const std::string name = node_name(model.node(group.anchor));
    if (precision == Precision::Int8) {
        return lower_group(model, group, problems);
    }
    const std::string_view kind = precision_name(precision);
    if (!npu.datapath.supports(precision)) {
        problems.push_back({.sentence = fmt::format("its maps are {}, which {} does not compute "
                                                    "with",
                                                    kind, npu.name),
                            .remedy = "quantise the model to int8, or choose nv_full",
                            .operation = name});
        return {};
    }
    if (!is_wide_group(group)) {
        problems.push_back(
            {.sentence = fmt::format("it is no layer of maps of {}, as others of the model", kind),
             .remedy = "give all layers of a model maps of one type",
             .operation = name});
        return {};
    }
    return lower_wide_group(model, group, precision, problems);
}

class NvdlaPlan final : public ModelPlan {
 public:
    NvdlaPlan(const Graph& graph, SegmentedPlan plan, std::string npu)
        : graph_(graph), plan_(std::move(plan)), npu_(std::move(npu)) {}

    const Partition& partition() const override { return plan_.partition; }
    std::vector<std::string> layers() const override { return layers_of_groups(plan_); }
    std::string summary(std::size_t /*width*/) const override {
        return segments_headline(graph_, plan_, npu_) + '\n';
    }
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
        if (is_float(graph.types.at(name).element) && !takes_reals(graph)) {
            given.try_emplace(name, ValueRange{true, range_of(ElementType::Int8), false});
        }
    }
    return given;
}

/// Names for layers from names of nodes: files are named after them, so that letters, digits, dots,
/// dashes and underscores stay and the rest becomes underscores; a second one gets a number.
class LayerNames {
 public:
    /// A name that was not given before.
    const std::string& of(const std::string& node) {
        std::string name = node.empty() ? "layer" : node;
        std::ranges::replace_if(
            name,
            [](unsigned char letter) {
                return std::isalnum(letter) == 0 && letter != '.' && letter != '-' && letter != '_';
            },
            '_');
        std::string tried = name;
        for (int number = 2; given_.contains(tried); ++number) {
            tried = name + '_' + std::to_string(number);
        }
        return *given_.insert(tried).first;
    }

 private:
    std::set<std::string> given_{"input"};  // the network's own
};

class SegmentLowering {
 public:
    SegmentLowering(const GraphView& model, const Partition& partition)
        : model_(model), partition_(partition) {}

    RegisterNetwork run(std::span<const std::size_t> groups, std::span<const std::string> outputs) {
        lowered_.network.precision = map_precision(model_.graph());
        find_inputs(groups);
        for (const std::size_t index : groups) {
            const NodeGroup& group = partition_.groups[index];
            const auto& lowered = std::any_cast<const LoweredLayer&>(group.lowered);
            lowered_.layers.emplace_back();
            std::vector<std::string>& reads = lowered_.reads.emplace_back();
            for (const GroupRead& read : group.reads) {
                reads.push_back(layer_of(read));
            }
            const bool sums = lowered.layer.kind == LayerKind::Add;
            sums ? add_sum(group, group.reads, lowered) : add_layer(group, lowered);
        }
        for (const std::string& tensor : outputs) {
            const Source& source = sources_.at(tensor);
            lowered_.outputs.push_back(
                {tensor, source.layer, source.cube, source.node, zero_of(tensor)});
            lowered_.network.outputs.push_back(source.layer);
        }
        return std::move(lowered_);
    }

 private:
    /// A layer's result, and its sizes as a cube.
    struct Source {
        std::string layer;
        Sizes cube;
        std::size_t node = 0;
    };

    std::int32_t zero_of(const std::string& tensor) const {
        const bool wide = lowered_.network.precision != Precision::Int8;
        return wide ? 0 : stored_zero(model_.ranges().at(tensor).range);
    }
    std::string root(const std::string& tensor) const {
        return root_of(model_, partition_, tensor);
    }

    /// What no group before gives in the shape that is read. Inputs stand before all layers.
    void find_inputs(std::span<const std::size_t> groups) {
        std::map<std::string, Sizes> given;
        for (const std::size_t index : groups) {
            const NodeGroup& group = partition_.groups[index];
            for (const GroupRead& read : group.reads) {
                const std::string tensor = root(read.tensor);
                const auto found = given.find(tensor);
                const bool inside = found != given.end() && found->second == read.cube;
                const bool known = std::ranges::any_of(lowered_.inputs, [&](const auto& input) {
                    return input.tensor == tensor && input.cube == read.cube;
                });
                if (!inside && !known) {
                    add_input({tensor, read.cube, read.node});
                }
            }
            given[group.output] = group.cube;
        }
    }
    void add_input(const GroupRead& read) {
        const auto size = [&](std::size_t i) { return static_cast<std::uint32_t>(read.cube[i]); };
        const std::int32_t zero = zero_of(read.tensor);
        if (lowered_.inputs.empty()) {
            lowered_.network.input.channels = size(1);
            lowered_.network.input.height = size(2);
            lowered_.network.input.width = size(3);
            lowered_.inputs.push_back({read.tensor, "input", read.cube, read.node, zero});
            if (zero == 128) {  // which the NPU takes from pixels itself
                lowered_.network.input.type = InputType::Uint8;
            }
            return;
        }
        Layer layer;
        layer.name = names_.of(read.tensor);
        layer.kind = LayerKind::Input;
        layer.output = fmt::format("{}x{}x{}", size(1), size(2), size(3));
        lowered_.inputs.push_back({read.tensor, layer.name, read.cube, read.node, zero});
        push(std::move(layer), {});
    }

    void add_layer(const NodeGroup& group, const LoweredLayer& lowered) {
        Layer layer = lowered.layer;
        layer.name = names_.of(group.name);
        layer.from = {layer_of(group.reads[0])};
        sources_[group.output] = {layer.name, group.cube, group.last_node()};
        push_work(std::move(layer), lowered.numbers);
        if (group.has_residual()) {  // added to what the convolution gives
            const std::size_t node = group.layer->norm.residual_node;
            LoweredLayer sum;
            sum.layer.relu = lowered.relu_after_residual;
            add_sum(group, {{group.output, group.cube, node}, group.reads[1]}, sum);
        }
    }

    void add_sum(const NodeGroup& group, const std::vector<GroupRead>& terms,
                 const LoweredLayer& lowered) {
        Layer layer;
        layer.name = names_.of(node_name(model_.graph().nodes[terms.front().node]));
        layer.kind = LayerKind::Add;
        layer.relu = lowered.layer.relu;
        for (const GroupRead& term : terms) {
            layer.from.push_back(layer_of(term));
        }
        sources_[group.output] = {layer.name, group.cube, group.last_node()};
        push_work(std::move(layer), lowered.numbers);
    }

    void push_work(Layer layer, LayerNumbers numbers) {
        lowered_.layers.back().push_back(layer.name);
        push(std::move(layer), std::move(numbers));
    }
    void push(Layer layer, LayerNumbers numbers) {
        lowered_.network.layers.push_back(std::move(layer));
        lowered_.network.numbers.push_back(std::move(numbers));
    }

    std::string layer_of(const GroupRead& read) const {
        const std::string tensor = root(read.tensor);
        const auto source = sources_.find(tensor);
        if (source != sources_.end() && source->second.cube == read.cube) {
            return source->second.layer;
        }
        return std::ranges::find_if(lowered_.inputs,
                                    [&](const SegmentTensor& input) {
                                        return input.tensor == tensor && input.cube == read.cube;
                                    })
            ->layer;
    }

    const GraphView& model_;
    const Partition& partition_;
    RegisterNetwork lowered_;
    LayerNames names_;
    std::map<std::string, Source> sources_;
};

class SegmentPlanner {
 public:
    SegmentPlanner(const Graph& graph, const PlanTarget& target, const ValueRanges& given)
        : model_(graph, value_ranges(graph, with_floats(graph, given))), target_(target) {}

    SegmentedPlan run() {
        SegmentedPlan plan;
        do {
            plan.partition = partition_graph(
                model_, NvdlaTarget(target_, map_precision(model_.graph())), problems_);
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
    if (precision_ != Precision::Int8) {
        if (auto wide = wide_group_at(model, anchor, precision_)) {
            return wide;
        }
    }
    std::optional<Candidate> candidate = read_candidate(model, anchor, with_residual);
    if (candidate && !candidate->norm.residual.empty() && !can_join(*candidate)) {
        candidate = read_candidate(model, anchor, false);
    }
    return candidate ? pattern_group(*std::move(candidate)) : sum_at(model, anchor);
}

Diagnostics NvdlaTarget::lower(const GraphView& model, NodeGroup& group) const {
    Diagnostics problems;
    LoweredLayer lowered = lower_in(precision_, target_.npu, model, group, problems);
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
    if (group.layer ? group.layer->pattern == Pattern::Maxpool : group.pattern == "MAXPOOL") {
        return "pdp";
    }
    const bool convolves = group.layer || group.pattern == "CONV" || group.pattern == "FC";
    return convolves && group.anchor == node ? "conv" : "sdp";
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

RegisterNetwork register_network(const GraphView& model, const Partition& partition,
                                 std::size_t index) {
    const Segment& segment = partition.segments[index];
    RegisterNetwork lowered =
        SegmentLowering(model, partition).run(segment.groups, segment.outputs);
    Network& network = lowered.network;
    network.name = model.graph().name.empty() ? "model" : model.graph().name;
    if (partition.segments.size() > 1 || !partition.is_whole()) {
        network.name += fmt::format("_segment_{}", index + 1);
    }
    network.file = model.graph().file;
    return lowered;
}

}  // namespace npuscope
