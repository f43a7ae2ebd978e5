// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/nvdla_target.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/compile/hybrid_program.h"
#include "sim/compile/model_plan.h"
#include "sim/compile/nvdla/register_layer.h"
#include "sim/model/candidate.h"

namespace npuscope {
namespace {

Sizes as_cube(Sizes sizes) {
    sizes.resize(std::max<std::size_t>(sizes.size(), 4), 1);
    return sizes;
}

std::optional<NodeGroup> sum_at(const ModelFacts& model, std::size_t node) {
    std::optional<Sum> sum = read_sum(model.view, node);
    if (!sum) {
        return std::nullopt;
    }
    NodeGroup group;
    group.pattern = "ADD";
    group.anchor = node;
    group.nodes = sum->nodes;
    group.output = sum->output;
    group.cube = as_cube(model.view.sizes(sum->output));
    for (const std::string& term : sum->terms) {
        group.reads.push_back({term, group.cube, node});
    }
    group.lowered = *std::move(sum);
    return group;
}

LoweredLayer lower_group(const ModelFacts& model, const NodeGroup& group, Diagnostics& problems) {
    if (group.layer) {
        return lower_layer(model, *group.layer, problems);
    }
    if (group.cube.size() != 4 || group.cube[0] != 1) {
        problems.push_back({.sentence = fmt::format("it adds maps of {}",
                                                    sizes_text(model.view.sizes(group.output))),
                            .remedy = "feature maps are 1xC or 1xCxHxW",
                            .operation = node_name(model.view.node(group.anchor))});
    }
    StagedSequence staged = lower_sum(model, std::any_cast<const Sum&>(group.lowered), problems);
    LoweredLayer lowered;
    lowered.layer.relu = staged.relu;
    lowered.numbers = std::move(staged.numbers);
    return lowered;
}

class NvdlaPlan final : public ModelPlan {
 public:
    NvdlaPlan(const Graph& graph, HybridPlan plan, std::string npu)
        : graph_(graph), plan_(std::move(plan)), npu_(std::move(npu)) {}

    const Partition& partition() const override { return plan_.partition; }
    std::vector<std::string> layers() const override { return layers_of_groups(plan_); }
    std::string summary() const override { return hybrid_headline(graph_, plan_, npu_) + '\n'; }
    ModelProgram program(const HostConfig& host, const GraphInputs* inputs) const override {
        return hybrid_program(graph_, plan_, host, inputs);
    }

 private:
    const Graph& graph_;
    HybridPlan plan_;
    std::string npu_;
};

}  // namespace

std::unique_ptr<ModelPlan> NvdlaTarget::plan(const Graph& graph,
                                             const std::map<std::string, ValueRange>& given) const {
    return std::make_unique<NvdlaPlan>(graph, plan_hybrid(graph, target_, given), target_.npu.name);
}

/// A residual that cannot be added before the clip is an addition of its own.
std::optional<NodeGroup> NvdlaTarget::group_at(const ModelFacts& model, std::size_t anchor,
                                               bool with_residual) const {
    std::optional<Candidate> candidate = read_candidate(model.view, anchor, with_residual);
    if (candidate && !candidate->norm.residual.empty() && !can_join(*candidate)) {
        candidate = read_candidate(model.view, anchor, false);
    }
    return candidate ? pattern_group(*std::move(candidate)) : sum_at(model, anchor);
}

Diagnostics NvdlaTarget::lower(const ModelFacts& model, NodeGroup& group) const {
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

}  // namespace npuscope
