// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sim/compile/host_reason.h"
#include "sim/model/host_values.h"
#include "sim/model/operators.h"
#include "sim/model/prepare_graph.h"

namespace npuscope {
namespace {

/// Finds the groups that a target supports, node by node, and those that it refuses.
class Matcher {
 public:
    Matcher(const GraphView& model, const Target& target, const PlanProblems& planning)
        : model_(model), target_(target), planning_(planning) {}

    Partition run() {
        for (std::size_t i = 0; i < model_.graph().nodes.size(); ++i) {
            if (!taken_.contains(i)) {
                try_anchor(i);
            }
        }
        std::ranges::stable_sort(found_.groups, {}, &NodeGroup::last_node);
        return std::move(found_);
    }

 private:
    /// First with its residual; without it where that is refused or belongs to another group.
    void try_anchor(std::size_t anchor) {
        bool refused = false;
        for (const bool with_residual : {true, false}) {
            std::optional<NodeGroup> group = target_.group_at(model_, anchor, with_residual);
            if (!group) {
                return;
            }
            group->name = node_name(model_.graph().nodes[anchor]);
            const bool joined = group->has_residual();
            if (is_free(*group)) {
                Diagnostics problems = problems_of(*group);
                if (problems.empty()) {
                    if (refused) {
                        found_.refusals.back().partly_taken = true;
                    }
                    taken_.insert(group->nodes.begin(), group->nodes.end());
                    found_.groups.push_back(*std::move(group));
                    return;
                }
                if (!refused) {
                    std::string configuration = target_.configuration(*group);
                    found_.refusals.push_back(
                        {*std::move(group), std::move(problems), false, std::move(configuration)});
                    refused = true;
                }
            }
            if (!joined) {
                return;
            }
        }
    }

    bool is_free(const NodeGroup& group) const {
        return std::ranges::none_of(group.nodes,
                                    [&](std::size_t node) { return taken_.contains(node); });
    }

    Diagnostics problems_of(NodeGroup& group) const {
        Diagnostics problems = target_.lower(model_, group);
        if (const auto found = planning_.find(group.nodes); found != planning_.end()) {
            problems.push_back(found->second);
        }
        return problems;
    }

    const GraphView& model_;
    const Target& target_;
    const PlanProblems& planning_;
    std::set<std::size_t> taken_;
    Partition found_;
};

class Partitioner {
 public:
    Partitioner(const GraphView& model, Partition found, bool joins_segments)
        : model_(model), result_(std::move(found)), joins_segments_(joins_segments) {
        place_nodes();
    }

    Partition run() {
        find_needed();
        if (joins_segments_) {
            number_phases();
            collect_segments();
        } else {
            collect_in_order();
        }
        collect_outputs();
        return std::move(result_);
    }

 private:
    const std::vector<NodeGroup>& groups() const { return result_.groups; }
    const std::vector<GraphNode>& nodes() const { return model_.graph().nodes; }
    /// The tensor that is actually read where a group reads `tensor`.
    std::string root(const std::string& tensor) const {
        return joins_segments_ ? root_of(model_, result_, tensor) : tensor;
    }

    void place_nodes() {
        result_.places.resize(nodes().size());
        for (std::size_t i = 0; i < nodes().size(); ++i) {
            if (moves_nothing(model_, nodes()[i])) {
                result_.places[i].side = NodeSide::View;
            }
        }
        for (std::size_t i = 0; i < result_.refusals.size(); ++i) {
            for (const std::size_t node : result_.refusals[i].group.nodes) {
                result_.places[node].refusal = i;
            }
        }
        for (std::size_t i = 0; i < groups().size(); ++i) {
            for (const std::size_t node : groups()[i].nodes) {
                result_.places[node].side = NodeSide::Npu;
                result_.places[node].group = i;
            }
            makers_[groups()[i].output] = i;
        }
    }

    /// The group that ends at this node.
    std::optional<std::size_t> ending_at(std::size_t node) const {
        const auto& group = result_.places[node].group;
        return group && groups()[*group].last_node() == node ? group : std::nullopt;
    }
    /// The group that produces a tensor.
    std::optional<std::size_t> maker(const std::string& tensor) const {
        const auto found = makers_.find(tensor);
        return found == makers_.end() ? std::nullopt : std::optional(found->second);
    }

    /// Backwards from the graph's outputs: what must run, and which views are read by the host.
    void find_needed() {
        std::set<std::string> needed(model_.graph().outputs.begin(), model_.graph().outputs.end());
        const auto is_needed = [&](const std::string& tensor) {
            return !tensor.empty() && needed.contains(tensor);
        };
        needed_groups_.resize(groups().size());
        needed_nodes_.resize(nodes().size());
        for (std::size_t i = nodes().size(); i-- > 0;) {
            if (const auto group = ending_at(i)) {
                if (needed.contains(groups()[*group].output)) {
                    needed_groups_[*group] = true;
                    for (const GroupRead& read : groups()[*group].reads) {
                        needed.insert(root(read.tensor));
                    }
                }
            } else if (!result_.places[i].group) {
                needed_nodes_[i] = std::ranges::any_of(nodes()[i].outputs, is_needed);
                if (needed_nodes_[i]) {
                    needed.insert(nodes()[i].inputs.begin(), nodes()[i].inputs.end());
                } else if (result_.places[i].side == NodeSide::Host) {
                    result_.places[i].side = NodeSide::Unused;
                }
            }
        }
        for (NodePlace& place : result_.places) {
            if (place.group && !needed_groups_[*place.group]) {
                place.side = NodeSide::Unused;
            }
        }
    }

    /// Segment `n` and all host nodes between it and the next one have phase `n`.
    void number_phases() {
        group_phases_.resize(groups().size());
        node_phases_.resize(nodes().size());
        for (std::size_t i = 0; i < nodes().size(); ++i) {
            if (const auto group = ending_at(i)) {
                group_phases_[*group] = phase_of(groups()[*group]);
                last_phase_ =
                    std::max(last_phase_, needed_groups_[*group] ? group_phases_[*group] : 0);
            } else if (!result_.places[i].group) {
                for (const std::string& input : nodes()[i].inputs) {
                    node_phases_[i] = std::max(node_phases_[i], phase_after(root(input)));
                }
            }
        }
    }
    /// Phase of a tensor's producer; 0 for inputs and constants.
    std::size_t phase_after(const std::string& tensor) const {
        if (const auto group = maker(tensor)) {
            return group_phases_[*group];
        }
        const auto node = model_.producer(tensor);
        return node ? node_phases_[*node] : 0;
    }
    /// What a group reads in another shape than it was produced in goes through the host.
    std::size_t phase_of(const NodeGroup& group) const {
        std::size_t phase = 1;
        for (const GroupRead& read : group.reads) {
            const std::string tensor = root(read.tensor);
            const auto from = maker(tensor);
            const bool direct = from && groups()[*from].cube == read.cube;
            phase = std::max(phase, phase_after(tensor) + (direct ? 0 : 1));
        }
        return phase;
    }

    void collect_segments() {
        result_.segments.resize(last_phase_);
        for (std::size_t i = 0; i < groups().size(); ++i) {
            if (needed_groups_[i]) {
                result_.segments[group_phases_[i] - 1].groups.push_back(i);
            }
        }
        for (std::size_t phase = 0; phase <= last_phase_; ++phase) {
            if (phase > 0) {
                result_.steps.push_back({phase - 1, 0});
            }
            for (std::size_t i = 0; i < nodes().size(); ++i) {
                if (!result_.places[i].group && needed_nodes_[i] && node_phases_[i] == phase) {
                    result_.steps.push_back({std::nullopt, i});
                }
            }
        }
    }

    /// A group runs at the position of its last node.
    void collect_in_order() {
        group_phases_.resize(groups().size());
        for (std::size_t i = 0; i < nodes().size(); ++i) {
            if (const auto group = ending_at(i); group && needed_groups_[*group]) {
                if (result_.steps.empty() || !result_.steps.back().segment) {
                    result_.steps.push_back({result_.segments.size(), 0});
                    result_.segments.emplace_back();
                }
                result_.segments.back().groups.push_back(*group);
                group_phases_[*group] = result_.segments.size();
            } else if (!result_.places[i].group && needed_nodes_[i]) {
                result_.steps.push_back({std::nullopt, i});
            }
        }
    }

    void collect_outputs() {
        std::set<std::string> read;
        const auto note = [&](const std::string& tensor) { read.insert(root(tensor)); };
        std::ranges::for_each(model_.graph().outputs, note);
        for (std::size_t i = 0; i < nodes().size(); ++i) {
            if (!result_.places[i].group && needed_nodes_[i]) {
                std::ranges::for_each(nodes()[i].inputs, note);
            }
        }
        for (std::size_t i = 0; i < groups().size(); ++i) {
            for (const GroupRead& one : groups()[i].reads) {
                const auto from = maker(root(one.tensor));
                if (needed_groups_[i] && from && group_phases_[*from] != group_phases_[i]) {
                    note(one.tensor);
                }
            }
        }
        for (Segment& segment : result_.segments) {
            for (const std::size_t group : segment.groups) {
                if (read.contains(groups()[group].output)) {
                    segment.outputs.push_back(groups()[group].output);
                }
            }
        }
    }

    const GraphView& model_;
    Partition result_;
    bool joins_segments_;
    std::map<std::string, std::size_t> makers_;
    std::vector<bool> needed_groups_;
    std::vector<bool> needed_nodes_;  ///< on the host, including views
    std::vector<std::size_t> group_phases_;
    std::vector<std::size_t> node_phases_;
    std::size_t last_phase_ = 0;
};

}  // namespace

bool Partition::is_whole() const { return segments.size() == 1 && count(NodeSide::Host) == 0; }

std::size_t Partition::count(NodeSide side) const {
    return static_cast<std::size_t>(
        std::ranges::count(places, side, [](const NodePlace& place) { return place.side; }));
}

std::string root_of(const GraphView& model, const Partition& partition, const std::string& tensor) {
    std::string at = tensor;
    while (const auto producer = model.producer(at)) {
        if (partition.places[*producer].side != NodeSide::View) {
            break;
        }
        at = model.node(*producer).inputs.front();
    }
    return at;
}

Partition partition_graph(const GraphView& model, const Target& target,
                          const PlanProblems& planning) {
    const HostReasons reasons(model, target);
    Partition found = Matcher(model, target, planning).run();
    if (target.computes_integers()) {
        take_reasons(reasons, found.refusals);
    }
    Partition partition = Partitioner(model, std::move(found), target.joins_segments()).run();
    for (std::size_t i = 0; i < partition.places.size(); ++i) {
        if (partition.places[i].side == NodeSide::Host && !partition.places[i].refusal) {
            partition.reasons.emplace(i, reasons.of_node(i));
        }
    }
    return partition;
}

RunNode run_node_statement(const Graph& graph, const Partition& partition, std::size_t index,
                           const HostConfig& host) {
    const GraphNode& node = graph.nodes[index];
    RunNode run{.name = node_name(node)};
    if (partition.places[index].side == NodeSide::Host) {
        std::uint64_t outputs = 0;
        for (const std::string& output : node.outputs) {
            const auto found = graph.types.find(output);
            outputs += found == graph.types.end() ? 0 : count_elements(found->second.sizes);
        }
        run.op = node.op;
        run.macs = count_macs(graph, node);
        // if the operator is not known here, its time is not known either
        run.cycles =
            !host_knows(node)
                ? Cycles(0)
                : Cycles(run.macs * host.cycles_per_mac + outputs * host.cycles_per_element) +
                      host.operator_overhead;
    }
    return run;
}

std::size_t NodeGroup::last_node() const { return *std::ranges::max_element(nodes); }

NodeGroup pattern_group(Candidate candidate) {
    NodeGroup group;
    group.pattern = std::string(enum_name(candidate.pattern));
    group.anchor = candidate.anchor;
    group.nodes = candidate.nodes;
    group.output = candidate.output;
    group.cube = candidate.out;
    group.reads.push_back({candidate.input, candidate.in, candidate.anchor});
    if (!candidate.norm.residual.empty()) {
        group.reads.push_back(
            {candidate.norm.residual, candidate.out, candidate.norm.residual_node});
    }
    group.layer = std::move(candidate);
    return group;
}

std::string Target::configuration(const NodeGroup& group) const {
    return fmt::format("input {}, output {}{}", hwc_text(group.reads.front().cube),
                       hwc_text(group.cube),
                       group.layer ? fmt::format(", {}", window_text(*group.layer)) : "");
}

std::string hwc_text(const Sizes& cube) {
    return cube[0] == 1
               ? fmt::format("[H,W,C] = [{},{},{}]", cube[2], cube[3], cube[1])
               : fmt::format("[N,H,W,C] = [{},{},{},{}]", cube[0], cube[2], cube[3], cube[1]);
}

std::string window_text(const Candidate& candidate) {
    const WindowAxis height = candidate.window.height();
    const WindowAxis width = candidate.window.width();
    return fmt::format("kernel {}x{}, strides {}x{}, padding {}, dilation {}x{}, groups {}",
                       height.kernel, width.kernel, height.stride, width.stride,
                       padding_text(candidate.window), height.dilation, width.dilation,
                       candidate.groups);
}

std::string padding_text(const Window& window) {
    const WindowAxis height = window.height();
    const WindowAxis width = window.width();
    return fmt::format("t{} l{} b{} r{}", height.pad_begin, width.pad_begin, height.pad_end,
                       width.pad_end);
}

}  // namespace npuscope
