// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/graph_items.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sim/model/candidate_reader.h"

namespace npuscope {
namespace {

Sizes as_cube(Sizes sizes) {
    sizes.resize(std::max<std::size_t>(sizes.size(), 4), 1);
    return sizes;
}

class ItemFinder {
 public:
    ItemFinder(const ModelFacts& model, const PlanProblems& planning)
        : model_(model), planning_(planning) {}

    GraphItems run() {
        for (std::size_t i = 0; i < model_.graph.nodes.size(); ++i) {
            if (!taken_.contains(i)) {
                try_anchor(i);
            }
        }
        std::ranges::stable_sort(found_.items, {}, &GraphItem::at);
        return std::move(found_);
    }

 private:
    /// With its residual first; without it where that is refused or belongs to another layer.
    void try_anchor(std::size_t anchor) {
        bool refused = false;
        for (const bool with_residual : {true, false}) {
            auto candidate = read_candidate(model_.view, anchor, with_residual);
            if (!candidate) {
                return try_sum(anchor);
            }
            const bool joined = !candidate->norm.residual.empty();
            if (is_free(candidate->nodes) && (!joined || can_join(*candidate))) {
                ItemRefusal tried = try_layer(std::move(*candidate));
                if (tried.problems.empty()) {
                    if (refused) {
                        found_.refusals.back().partly_taken = true;
                    }
                    return take(std::move(tried.item));
                }
                if (!refused) {
                    refuse(std::move(tried));
                    refused = true;
                }
            }
            if (!joined) {
                return;
            }
        }
    }

    bool is_free(const std::vector<std::size_t>& nodes) const {
        return std::ranges::none_of(nodes, [&](std::size_t node) { return taken_.contains(node); });
    }

    ItemRefusal try_layer(Candidate candidate) const {
        ItemRefusal tried;
        GraphItem& item = tried.item;
        item.anchor = candidate.anchor;
        item.nodes = candidate.nodes;
        item.output = candidate.output;
        item.cube = candidate.out;
        item.reads.push_back({candidate.input, candidate.in, candidate.anchor});
        if (!candidate.norm.residual.empty()) {
            item.reads.push_back(
                {candidate.norm.residual, candidate.out, candidate.norm.residual_node});
        }
        item.lowered = lower_layer(model_, candidate, tried.problems);
        candidate.weights = {};  // they may be large
        item.layer = std::move(candidate);
        add_planning(tried);
        return tried;
    }

    void try_sum(std::size_t node) {
        std::optional<Sum> sum = read_sum(model_.view, node);
        if (!sum || !is_free(sum->nodes)) {
            return;
        }
        ItemRefusal tried;
        GraphItem& item = tried.item;
        item.anchor = node;
        item.nodes = sum->nodes;
        item.output = sum->output;
        item.cube = as_cube(model_.view.sizes(sum->output));
        if (item.cube.size() != 4 || item.cube[0] != 1) {
            tried.problems.push_back(
                {node,
                 fmt::format("it adds maps of {}", sizes_text(model_.view.sizes(sum->output))),
                 "feature maps are 1xC or 1xCxHxW"});
        }
        for (const std::string& term : sum->terms) {
            item.reads.push_back({term, item.cube, node});
        }
        StagedSequence staged = lower_sum(model_, *sum, tried.problems);
        item.lowered.layer.relu = staged.relu;
        item.lowered.numbers = std::move(staged.numbers);
        item.sum = std::move(sum);
        add_planning(tried);
        tried.problems.empty() ? take(std::move(item)) : refuse(std::move(tried));
    }

    void add_planning(ItemRefusal& tried) const {
        const auto found = planning_.find({tried.item.anchor, tried.item.joins()});
        if (found != planning_.end()) {
            tried.problems.push_back(found->second);
        }
    }

    void refuse(ItemRefusal tried) {
        tried.item.lowered = {};
        found_.refusals.push_back(std::move(tried));
    }
    void take(GraphItem item) {
        taken_.insert(item.nodes.begin(), item.nodes.end());
        item.at = *std::ranges::max_element(item.nodes);
        found_.items.push_back(std::move(item));
    }

    const ModelFacts& model_;
    const PlanProblems& planning_;
    std::set<std::size_t> taken_;
    GraphItems found_;
};

}  // namespace

std::string GraphItem::pattern() const {
    return layer ? std::string(enum_name(layer->pattern)) : "ADD";
}

GraphItems find_items(const ModelFacts& model, const PlanProblems& planning) {
    return ItemFinder(model, planning).run();
}

}  // namespace npuscope
