// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/nvdla_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "models/base/error.h"
#include "sim/compile/explain.h"
#include "sim/compile/nvdla/register_layer.h"
#include "sim/compile/nvdla/segmented_program.h"
#include "sim/compile/nvdla/single_operations.h"
#include "sim/compile/nvdla/wide_layer.h"
#include "sim/config/text_table.h"
#include "sim/model/candidate.h"
#include "sim/model/host_values.h"
#include "sim/model/operators.h"
#include "sim/model/prepare_graph.h"
#include "sim/model/quantised_form.h"
#include "sim/model/sequence_reader.h"

namespace npuscope {
namespace {

/// A wide clip between sum and residual of 8 bits: the clip after it has the same result without
/// it.
bool hides(const ClipStep& between, const ClipStep& after) {
    return between.low <= after.low - 255 && between.high >= after.high + 128;
}

/// Whether the residual of a convolution can be added before the convolution's result is clipped:
/// the clip between them is so wide that it does not affect 8-bit results.
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

constexpr const char* concat_pattern = "CONCAT";
constexpr const char* lookup_pattern = "LOOKUP";
constexpr const char* prelu_pattern = "PRELU";
constexpr const char* product_pattern = "MUL";
constexpr const char* slice_pattern = "SLICE";

bool joins_channels(const GraphView& model, const GraphNode& node) {
    const auto rank = static_cast<std::int64_t>(model.sizes(node.outputs[0]).size());
    const std::int64_t axis = node.integer("axis", 1);
    return node.inputs.size() > 1 && rank > 1 && (axis == 1 || axis == 1 - rank);
}

/// What a single node computes from maps: a concatenation, a part, a function or a product.
std::optional<NodeGroup> maps_at(const GraphView& model, std::size_t index) {
    const GraphNode& node = model.node(index);
    const bool is_slice = node.op == "Slice" && slice_begin(model, node);
    const char* pattern = node.op == "Concat" && joins_channels(model, node) ? concat_pattern
                          : node.op == lookup_op                             ? lookup_pattern
                          : node.op == scaled_prelu_op                       ? prelu_pattern
                          : node.op == scaled_product_op                     ? product_pattern
                          : is_slice                                         ? slice_pattern
                                                                             : nullptr;
    const auto is_map = [&](const std::string& tensor) {
        const Sizes& sizes = model.sizes(tensor);
        return !model.graph().is_constant(tensor) && !sizes.empty() && sizes.size() <= 4;
    };
    const std::vector<std::string> maps = is_slice ? std::vector{node.inputs[0]} : node.inputs;
    if (pattern == nullptr || !std::ranges::all_of(maps, is_map)) {
        return std::nullopt;
    }
    NodeGroup group;
    group.pattern = pattern;
    group.anchor = index;
    group.nodes = {index};
    group.output = node.outputs[0];
    group.cube = as_cube(model.sizes(group.output));
    for (const std::string& map : maps) {
        group.reads.push_back({map, as_cube(model.sizes(map)), index});
    }
    return group;
}

Layer lower_group(const GraphView& model, const NodeGroup& group, Diagnostics& problems) {
    if (group.layer) {
        return lower_layer(model, *group.layer, problems);
    }
    if (group.cube.size() != 4 || group.cube[0] != 1) {
        problems.push_back(
            {.sentence = fmt::format("its maps are {}", sizes_text(model.sizes(group.output))),
             .remedy = "feature maps must be 1xC or 1xCxHxW",
             .operation = node_name(model.node(group.anchor))});
    }
    if (group.pattern == product_pattern) {
        return lower_product(model, group.anchor, problems);
    }
    if (group.pattern == lookup_pattern) {
        return lower_lookup(model, group.anchor, problems);
    }
    if (group.pattern == prelu_pattern) {
        return lower_prelu(model, group.anchor, problems);
    }
    if (group.pattern == slice_pattern) {
        return lower_slice(model, group.anchor, problems);
    }
    if (group.pattern == concat_pattern) {
        return lower_concat(model, group, problems);
    }
    return lower_sum(model, std::any_cast<const Sum&>(group.lowered), problems);
}

/// All maps of a model have one precision: layers with another are left to the host.
Layer lower_in(Precision precision, const NpuConfig& npu, const GraphView& model,
               const NodeGroup& group, Diagnostics& problems) {
    const std::string name = node_name(model.node(group.anchor));
    if (precision == Precision::Int8) {
        return lower_group(model, group, problems);
    }
    const std::string_view kind = precision_name(precision);
    if (!npu.datapath.supports(precision)) {
        problems.push_back(
            {.sentence =
                 fmt::format("its feature maps are {}, which {} does not support", kind, npu.name),
             .remedy = "quantise the model to int8, or choose nv_full",
             .operation = name});
        return {};
    }
    if (!is_wide_group(group)) {
        problems.push_back({.sentence = fmt::format(
                                "its feature maps are not {} like those of the other layers", kind),
                            .remedy = "use one feature-map type for all layers of a model",
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

/// Float inputs are assumed to hold int8 where nothing else is known about them.
ValueRanges with_floats(const Graph& graph, ValueRanges given) {
    for (const std::string& name : graph.inputs) {
        if (is_float(graph.types.at(name).element) && !takes_reals(graph)) {
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
                leave(plan.partition, plan.partition.segments[i], lowered, std::move(*problem));
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

namespace {

/// A product with more rows or columns than kernels can have reads its own input, one value per
/// channel, instead of the cube that is flattened before it.
void read_own_input(const GraphView& model, const WindowLimits& limits, Candidate& product) {
    const bool fits = product.in[2] <= limits.kernel && product.in[3] <= limits.kernel;
    if (product.pattern == Pattern::Fc && !fits) {
        product.input = model.node(product.anchor).inputs.front();
        product.in = {1, static_cast<std::int64_t>(count_elements(product.in)), 1, 1};
    }
}

}  // namespace

namespace {

void check_cubes(const GraphView& model, const NodeGroup& group, Diagnostics& problems) {
    const auto check = [&](const std::string& subject, const Sizes& cube) {
        if (auto problem = cube_problem(subject, cube[1], cube[2], cube[3])) {
            problem->operation = node_name(model.node(group.anchor));
            problems.push_back(*std::move(problem));
        }
    };
    check("its result", group.cube);
    for (const GroupRead& read : group.reads) {
        check(fmt::format("input '{}'", read.tensor), read.cube);
    }
}

}  // namespace

/// A residual that cannot be added before the clip becomes a separate addition.
std::optional<NodeGroup> NvdlaTarget::group_at(const GraphView& model, std::size_t anchor,
                                               bool with_residual) const {
    if (precision_ != Precision::Int8) {
        if (auto wide = wide_group_at(model, anchor, precision_)) {
            return wide;
        }
    }
    if (precision_ == Precision::Fp16) {
        return std::nullopt;
    }
    std::optional<Candidate> candidate = read_candidate(model, anchor, with_residual);
    if (candidate && !candidate->norm.residual.empty() && !can_join(*candidate)) {
        candidate = read_candidate(model, anchor, false);
    }
    if (candidate) {
        read_own_input(model, window_limits(target_.npu), *candidate);
        return pattern_group(*std::move(candidate));
    }
    std::optional<NodeGroup> group = sum_at(model, anchor);
    group = group || precision_ != Precision::Int8 ? std::move(group) : maps_at(model, anchor);
    const bool by_cdp = group && group->pattern == lookup_pattern && !looks_up_in_sdp(target_.npu);
    return by_cdp && target_.describable ? std::nullopt : group;
}

Diagnostics NvdlaTarget::lower(const GraphView& model, NodeGroup& group) const {
    Diagnostics problems;
    Layer lowered = lower_in(precision_, target_.npu, model, group, problems);
    check_cubes(model, group, problems);
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

/// Of 8-bit maps, also functions of one map, which are tables.
bool NvdlaTarget::computes(const std::string& op) const {
    if (precision_ != Precision::Int8) {
        return op == "Add";
    }
    const OperatorRow* row = find_operator(op);
    static const std::set<std::string> of_maps{"Concat", "PRelu", "Slice"};
    return of_maps.contains(op) || (row != nullptr && row->elementwise);
}

std::string NvdlaTarget::unit_of(const NodeGroup& group, std::size_t node) const {
    if (group.layer ? group.layer->pattern == Pattern::Maxpool : group.pattern == "MAXPOOL") {
        return "pdp";
    }
    if (group.pattern == lookup_pattern && !looks_up_in_sdp(target_.npu)) {
        return "cdp";
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

}  // namespace npuscope
