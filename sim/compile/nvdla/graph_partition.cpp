// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/graph_partition.h"

#include <algorithm>
#include <map>
#include <set>

#include "sim/model/view_nodes.h"

namespace npuscope {
namespace {

class Partitioner {
 public:
    Partitioner(const ModelFacts& model, GraphItems found) : model_(model) {
        result_.found = std::move(found);
        place_nodes();
    }

    GraphPartition run() {
        find_needed();
        number_phases();
        collect_segments();
        collect_outputs();
        collect_steps();
        return std::move(result_);
    }

 private:
    const std::vector<GraphItem>& items() const { return result_.found.items; }
    const std::vector<GraphNode>& nodes() const { return model_.graph.nodes; }
    std::string root(const std::string& tensor) const { return root_of(model_, result_, tensor); }

    void place_nodes() {
        result_.places.resize(nodes().size());
        for (std::size_t i = 0; i < nodes().size(); ++i) {
            if (moves_nothing(model_.graph, model_.facts, nodes()[i])) {
                result_.places[i].side = NodeSide::View;
            }
        }
        for (std::size_t i = 0; i < result_.found.refusals.size(); ++i) {
            for (const std::size_t node : result_.found.refusals[i].item.nodes) {
                result_.places[node].refusal = i;
            }
        }
        for (std::size_t i = 0; i < items().size(); ++i) {
            for (const std::size_t node : items()[i].nodes) {
                result_.places[node].side = NodeSide::Npu;
                result_.places[node].item = i;
            }
            makers_[items()[i].output] = i;
        }
    }

    /// The item that ends at this node; nothing where it does not.
    std::optional<std::size_t> ending_at(std::size_t node) const {
        const auto& item = result_.places[node].item;
        return item && items()[*item].at == node ? item : std::nullopt;
    }
    /// The item that gives a tensor.
    std::optional<std::size_t> maker(const std::string& tensor) const {
        const auto found = makers_.find(tensor);
        return found == makers_.end() ? std::nullopt : std::optional(found->second);
    }

    /// Backwards from the graph's outputs: what must run, and which views somebody looks at.
    void find_needed() {
        std::set<std::string> needed(model_.graph.outputs.begin(), model_.graph.outputs.end());
        const auto is_needed = [&](const std::string& tensor) {
            return !tensor.empty() && needed.contains(tensor);
        };
        needed_items_.resize(items().size());
        needed_nodes_.resize(nodes().size());
        for (std::size_t i = nodes().size(); i-- > 0;) {
            if (const auto item = ending_at(i)) {
                if (needed.contains(items()[*item].output)) {
                    needed_items_[*item] = true;
                    for (const ItemRead& read : items()[*item].reads) {
                        needed.insert(root(read.tensor));
                    }
                }
            } else if (!result_.places[i].item) {
                needed_nodes_[i] = std::ranges::any_of(nodes()[i].outputs, is_needed);
                if (needed_nodes_[i]) {
                    needed.insert(nodes()[i].inputs.begin(), nodes()[i].inputs.end());
                } else if (result_.places[i].side == NodeSide::Host) {
                    result_.places[i].side = NodeSide::Unused;
                }
            }
        }
        for (NodePlace& place : result_.places) {
            if (place.item && !needed_items_[*place.item]) {
                place.side = NodeSide::Unused;
            }
        }
    }

    /// Segment `n` and all that the host does between it and the next one have the phase `n`.
    void number_phases() {
        item_phases_.resize(items().size());
        node_phases_.resize(nodes().size());
        for (std::size_t i = 0; i < nodes().size(); ++i) {
            if (const auto item = ending_at(i)) {
                item_phases_[*item] = phase_of(items()[*item]);
                last_phase_ = std::max(last_phase_, needed_items_[*item] ? item_phases_[*item] : 0);
            } else if (!result_.places[i].item) {
                for (const std::string& input : nodes()[i].inputs) {
                    node_phases_[i] = std::max(node_phases_[i], phase_behind(root(input)));
                }
            }
        }
    }
    /// Of whoever makes a tensor; 0 for inputs and constants.
    std::size_t phase_behind(const std::string& tensor) const {
        if (const auto item = maker(tensor)) {
            return item_phases_[*item];
        }
        const auto node = model_.view.producer(tensor);
        return node ? node_phases_[*node] : 0;
    }
    /// What an item takes in another shape than it was made in goes through the host.
    std::size_t phase_of(const GraphItem& item) const {
        std::size_t phase = 1;
        for (const ItemRead& read : item.reads) {
            const std::string tensor = root(read.tensor);
            const auto from = maker(tensor);
            const bool direct = from && items()[*from].cube == read.cube;
            phase = std::max(phase, phase_behind(tensor) + (direct ? 0 : 1));
        }
        return phase;
    }

    void collect_segments() {
        result_.segments.resize(last_phase_);
        for (std::size_t i = 0; i < items().size(); ++i) {
            if (needed_items_[i]) {
                result_.segments[item_phases_[i] - 1].items.push_back(i);
            }
        }
    }

    void collect_outputs() {
        std::set<std::string> read;
        const auto note = [&](const std::string& tensor) { read.insert(root(tensor)); };
        std::ranges::for_each(model_.graph.outputs, note);
        for (std::size_t i = 0; i < nodes().size(); ++i) {
            if (!result_.places[i].item && needed_nodes_[i]) {
                std::ranges::for_each(nodes()[i].inputs, note);
            }
        }
        for (std::size_t i = 0; i < items().size(); ++i) {
            for (const ItemRead& one : items()[i].reads) {
                const auto from = maker(root(one.tensor));
                if (needed_items_[i] && from && item_phases_[*from] != item_phases_[i]) {
                    note(one.tensor);
                }
            }
        }
        for (Segment& segment : result_.segments) {
            for (const std::size_t item : segment.items) {
                if (read.contains(items()[item].output)) {
                    segment.outputs.push_back(items()[item].output);
                }
            }
        }
    }

    void collect_steps() {
        for (std::size_t phase = 0; phase <= last_phase_; ++phase) {
            if (phase > 0) {
                result_.steps.push_back({phase - 1, 0});
            }
            for (std::size_t i = 0; i < nodes().size(); ++i) {
                if (!result_.places[i].item && needed_nodes_[i] && node_phases_[i] == phase) {
                    result_.steps.push_back({std::nullopt, i});
                }
            }
        }
    }

    const ModelFacts& model_;
    GraphPartition result_;
    std::map<std::string, std::size_t> makers_;
    std::vector<bool> needed_items_;
    std::vector<bool> needed_nodes_;  ///< on the host, views among them
    std::vector<std::size_t> item_phases_;
    std::vector<std::size_t> node_phases_;
    std::size_t last_phase_ = 0;
};

}  // namespace

bool GraphPartition::is_whole() const { return segments.size() == 1 && count(NodeSide::Host) == 0; }

std::size_t GraphPartition::count(NodeSide side) const {
    return static_cast<std::size_t>(
        std::ranges::count(places, side, [](const NodePlace& place) { return place.side; }));
}

std::string root_of(const ModelFacts& model, const GraphPartition& partition,
                    const std::string& tensor) {
    std::string at = tensor;
    while (const auto producer = model.view.producer(at)) {
        if (partition.places[*producer].side != NodeSide::View) {
            break;
        }
        at = model.view.node(*producer).inputs.front();
    }
    return at;
}

GraphPartition partition_graph(const ModelFacts& model, GraphItems found) {
    return Partitioner(model, std::move(found)).run();
}

}  // namespace npuscope
