// SPDX-License-Identifier: Apache-2.0
#include "sim/lowering/register_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "sim/host/prepare_graph.h"
#include "sim/lowering/layer_names.h"
#include "sim/lowering/register_layer.h"
#include "sim/lowering/stored_zero.h"
#include "sim/pattern/candidate_reader.h"

namespace npuscope {
namespace {

/// Operators that give a tensor other sizes, or another type for the same numbers.
bool is_view(const GraphNode& node) {
    static const std::set<std::string> ops{"Reshape",  "Flatten", "Squeeze", "Unsqueeze",
                                           "Identity", "Dropout", "Cast"};
    return ops.contains(node.op);
}

/// A layer of the graph, at the node behind which all that it reads is there.
struct Item {
    std::size_t at = 0;
    std::optional<Candidate> layer;  ///< its weights are in `lowered`
    LoweredLayer lowered{};
    std::optional<Sum> sum;
};

class RegisterLowering {
 public:
    RegisterLowering(const Graph& graph, bool unsigned_input)
        : graph_(graph), view_(graph), facts_(number_facts(graph, inputs(unsigned_input))) {
        lowered_.network.name = graph.name.empty() ? "model" : graph.name;
        lowered_.network.file = graph.file;
    }

    RegisterNetwork run() {
        take_input();
        find_items();
        for (Item& item : items_) {
            if (item.layer) {
                add_layer(item);
            } else {
                add_sum(*item.sum, lower_sum({graph_, view_, facts_}, *item.sum, problems_));
            }
        }
        report_problems();
        take_output();
        return std::move(lowered_);
    }

 private:
    std::map<std::string, NumberRange> inputs(bool unsigned_input) const {
        std::map<std::string, NumberRange> ranges;
        for (const std::string& name : graph_.inputs) {
            if (is_float(graph_.types.at(name).element)) {
                ranges[name] = unsigned_input ? NumberRange{0, 255} : NumberRange{-128, 127};
            }
        }
        return ranges;
    }

    void take_input() {
        if (graph_.inputs.size() != 1 || graph_.outputs.size() != 1) {
            refuse(fmt::format("it has {} inputs and {} outputs", graph_.inputs.size(),
                               graph_.outputs.size()),
                   "a register program of this planner has one of each");
        }
        const std::string& name = graph_.inputs.front();
        const TensorType& type = graph_.types.at(name);
        Sizes sizes = type.sizes;
        const bool fits = (sizes.size() == 2 || sizes.size() == 4) && sizes[0] == 1 &&
                          (is_float(type.element) || fits_bits(range_of(type.element), 8));
        if (!fits) {
            refuse(fmt::format("its input '{}' is {} {}", name, enum_name(type.element),
                               sizes_text(type.sizes)),
                   "inputs are 1xC or 1xCxHxW, of 8 bits or of floats that hold them");
        }
        sizes.resize(4, 1);
        lowered_.network.input.channels = static_cast<std::uint32_t>(sizes[1]);
        lowered_.network.input.height = static_cast<std::uint32_t>(sizes[2]);
        lowered_.network.input.width = static_cast<std::uint32_t>(sizes[3]);
        if (stored_zero(facts_.at(name).range) != 0) {
            lowered_.network.input.type = InputType::Uint8;
        }
        sources_[name] = {"input", sizes};
        lowered_.ends.input = name;
    }

    void find_items() {
        std::set<std::size_t> taken;
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
            if (taken.contains(i) || is_view(graph_.nodes[i])) {
                continue;
            }
            Item item = item_at(i, taken);
            if (!item.layer && !item.sum) {
                problems_.push_back({i, "no layer of a register program computes it",
                                     "replace it in the model, or cut the model before it"});
                continue;
            }
            if (item.layer) {
                item.lowered = lower_layer({graph_, view_, facts_}, *item.layer, problems_);
                item.layer->weights = {};  // they may be large
            }
            const std::vector<std::size_t>& nodes =
                item.layer ? item.layer->nodes : item.sum->nodes;
            taken.insert(nodes.begin(), nodes.end());
            item.at = *std::ranges::max_element(nodes);
            items_.push_back(std::move(item));
        }
        std::ranges::stable_sort(items_, {}, &Item::at);
    }

    Item item_at(std::size_t node, const std::set<std::size_t>& taken) const {
        Item item;
        for (const bool with_residual : {true, false}) {
            auto candidate = read_candidate(view_, node, with_residual);
            if (!candidate) {
                break;
            }
            const bool free = std::ranges::none_of(
                candidate->nodes, [&](std::size_t part) { return taken.contains(part); });
            const bool joins = !candidate->norm.residual.empty();
            if (free && (!joins || can_join(*candidate))) {
                item.layer = std::move(candidate);
                return item;
            }
        }
        item.sum = read_sum(view_, node);
        return item;
    }

    void add_layer(Item& item) {
        const Candidate& candidate = *item.layer;
        LoweredLayer& lowered = item.lowered;
        const std::string& name = names_.of(node_name(graph_.nodes[candidate.anchor]));
        lowered.layer.name = name;
        lowered.layer.from = {source_of(candidate.input, candidate.in, candidate.anchor)};
        push(std::move(lowered.layer), std::move(lowered.numbers));
        sources_[candidate.output] = {name, candidate.out};
        if (!candidate.norm.residual.empty()) {
            Sum sum;
            sum.node = candidate.norm.residual_node;
            sum.terms = {candidate.output, candidate.norm.residual};
            sum.output = candidate.output;
            sum.clip = *candidate.norm.clip;
            add_sum(sum, {{}, lowered.relu_behind_residual});
        }
    }

    void add_sum(const Sum& sum, StagedSequence staged) {
        Layer layer;
        layer.name = names_.of(node_name(graph_.nodes[sum.node]));
        layer.kind = LayerKind::Add;
        layer.relu = staged.relu;
        const Sizes& sizes = view_.sizes(sum.output);
        for (const std::string& term : sum.terms) {
            layer.from.push_back(source_of(term, sizes, sum.node));
        }
        const std::string name = layer.name;
        push(std::move(layer), std::move(staged.numbers));
        sources_[sum.output] = {name, sizes};
    }

    void push(Layer layer, LayerNumbers numbers) {
        lowered_.network.layers.push_back(std::move(layer));
        lowered_.network.numbers.push_back(std::move(numbers));
    }

    /// The layer that gives a tensor, looked for through operators that move nothing.
    std::string source_of(const std::string& tensor, Sizes sizes, std::size_t reader) {
        std::string at = tensor;
        while (!sources_.contains(at)) {
            const auto producer = view_.producer(at);
            if (!producer || !is_view(graph_.nodes[*producer])) {
                problems_.push_back({reader, fmt::format("it reads '{}', which no layer gives", at),
                                     "see the nodes before it"});
                return "input";
            }
            at = graph_.nodes[*producer].inputs.front();
        }
        const Source& source = sources_.at(at);
        sizes.resize(4, 1);
        Sizes given = source.sizes;
        given.resize(4, 1);
        if (given != sizes) {
            problems_.push_back({reader,
                                 fmt::format("it reads '{}' as {}, which lies in memory as {}",
                                             tensor, sizes_text(sizes), sizes_text(given)),
                                 "only a fully connected layer may read a cube in another shape"});
        }
        return source.layer;
    }

    void take_output() {
        const std::string& name = graph_.outputs.front();
        std::string at = name;
        while (!sources_.contains(at)) {
            const auto producer = view_.producer(at);
            if (!producer || !is_view(graph_.nodes[*producer])) {
                refuse(fmt::format("no layer gives its output '{}'", name), "name another output");
            }
            at = graph_.nodes[*producer].inputs.front();
        }
        if (lowered_.network.layers.empty() ||
            sources_.at(at).layer != lowered_.network.layers.back().name) {
            refuse(fmt::format("its output '{}' is not what the last layer gives", name),
                   "take the layers out that nobody reads");
        }
        lowered_.ends.output = name;
        lowered_.ends.output_sizes = graph_.types.at(name).sizes;
        lowered_.ends.output_range = facts_.at(name).range;
    }

    void report_problems() const {
        if (problems_.empty()) {
            return;
        }
        const LoweringProblem& first = problems_.front();
        std::set<std::size_t> others;
        for (const LoweringProblem& problem : problems_) {
            others.insert(problem.node);
        }
        const std::string more =
            others.size() > 1 ? fmt::format(" ({} more nodes cannot run)", others.size() - 1) : "";
        refuse_node(graph_, graph_.nodes[first.node], first.sentence + more, first.remedy);
    }
    [[noreturn]] void refuse(const std::string& sentence, const std::string& remedy) const {
        throw ConfigError(Place{graph_.file, 0, 0}, sentence, remedy);
    }

    /// A layer's result, and its sizes as a cube.
    struct Source {
        std::string layer;
        Sizes sizes;
    };

    const Graph& graph_;
    GraphView view_;
    std::map<std::string, NumberFacts> facts_;
    RegisterNetwork lowered_;
    LayerNames names_;
    std::vector<Item> items_;
    std::map<std::string, Source> sources_;
    std::vector<LoweringProblem> problems_;
};

}  // namespace

RegisterNetwork register_network(const Graph& graph, bool unsigned_input) {
    return RegisterLowering(graph, unsigned_input).run();
}

}  // namespace npuscope
