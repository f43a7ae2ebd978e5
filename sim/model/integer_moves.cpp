// SPDX-License-Identifier: Apache-2.0
// Converts data-movement operators between a DequantizeLinear and a QuantizeLinear to integers.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/model/graph_edit.h"
#include "sim/model/operator_parts.h"
#include "sim/model/operators.h"
#include "sim/model/prepare_graph.h"
#include "sim/model/quantised_form.h"
#include "sim/model/quantiser_places.h"

namespace npuscope {
namespace {

/// Of 8-bit integers. `integers`: the tensor that the scale belongs to.
std::optional<TensorScale> byte_scale(const Graph& graph, const GraphNode& node,
                                      const std::string& integers) {
    const auto scale = tensor_scale(graph, node, integers);
    return scale && is_byte(scale->type) ? scale : std::nullopt;
}
std::optional<TensorScale> quantiser_scale(const Graph& graph, const GraphNode& node) {
    return node.op == "QuantizeLinear" ? byte_scale(graph, node, node.outputs[0]) : std::nullopt;
}
std::optional<TensorScale> dequantiser_scale(const Graph& graph, const GraphNode& node) {
    return node.op == "DequantizeLinear" && !graph.is_constant(node.inputs[0])
               ? byte_scale(graph, node, node.inputs[0])
               : std::nullopt;
}

// --- Activations after a quantiser of the same scale ---

/// Whether the node's result is that of a layer whose sums a quantiser rounds.
bool is_layer(const GraphNode& node) {
    constexpr std::array<std::string_view, 5> layers{"Conv", "ConvTranspose", "Gemm", "MatMul",
                                                     "Add"};
    return std::ranges::find(layers, node.op) != layers.end();
}

/// Layer, QuantizeLinear, DequantizeLinear, Relu or Clip, QuantizeLinear of the same scale: the
/// first two quantisers change nothing, as rounding and clipping to the same codes can be swapped.
void join_activations(Graph& graph) {
    const Graph before = graph;
    const GraphView view(before);
    std::set<std::string> gone;
    const auto only_reader = [&](const GraphNode& node) -> const GraphNode* {
        const auto reader = view.only_reader(node.outputs[0]);
        return reader ? &view.node(*reader) : nullptr;
    };
    for (GraphNode& node : graph.nodes) {
        const auto dequantiser =
            node.op == "Relu" || node.op == "Clip" ? view.producer(node.inputs[0]) : std::nullopt;
        const GraphNode* end = dequantiser ? only_reader(node) : nullptr;
        const auto scale =
            dequantiser ? dequantiser_scale(before, view.node(*dequantiser)) : std::nullopt;
        const auto first = scale ? view.producer(view.node(*dequantiser).inputs[0]) : std::nullopt;
        if (end == nullptr || !first || quantiser_scale(before, view.node(*first)) != scale ||
            quantiser_scale(before, *end) != scale ||
            only_reader(view.node(*first)) != &view.node(*dequantiser) ||
            only_reader(view.node(*dequantiser)) == nullptr) {
            continue;
        }
        const std::string& real = view.node(*first).inputs[0];
        const auto layer = view.producer(real);
        if (layer && is_layer(view.node(*layer)) && view.readers(real) == 1) {
            gone.insert(view.node(*first).outputs[0]);
            gone.insert(node.inputs[0]);
            node.inputs[0] = real;
        }
    }
    std::erase_if(graph.nodes,
                  [&](const GraphNode& node) { return gone.contains(node.outputs.front()); });
}

// --- Data-movement operators ---

/// Rewrites a graph node by node so that integers are moved.
class IntegerMoves : GraphRewrite {
 public:
    using GraphRewrite::GraphRewrite;

    void run() {
        for (const GraphNode& node : before_.nodes) {
            if (dropped_.contains(node.outputs.front())) {
                continue;
            }
            const bool moved = node.op == "com.microsoft.QLinearConcat" ? concat_quantised(node)
                               : node.op == "Concat"                    ? concat(node)
                                                                        : move(node);
            if (!moved) {
                nodes_.push_back(node);
            }
        }
        graph_.nodes = std::move(nodes_);
    }

 private:
    static bool moves(const GraphNode& node) { return node.op == "Split" || is_mover(node); }

    /// The DequantizeLinear that now produces a tensor; null if none has a per-tensor scale.
    const GraphNode* dequantiser_of(const std::string& tensor) const {
        const auto moved = moved_.find(tensor);
        if (moved != moved_.end()) {
            return &moved->second;
        }
        const auto producer = view_.producer(tensor);
        return producer && dequantiser_scale(before_, view_.node(*producer))
                   ? &view_.node(*producer)
                   : nullptr;
    }
    TensorScale scale_of(const GraphNode& dequantiser) const {
        return *byte_scale(before_, dequantiser,
                           roots_.contains(dequantiser.inputs[0]) ? roots_.at(dequantiser.inputs[0])
                                                                  : dequantiser.inputs[0]);
    }

    /// Turns DequantizeLinear, mover into mover, DequantizeLinear.
    bool move(const GraphNode& node) {
        const GraphNode* from = node.inputs.empty() ? nullptr : dequantiser_of(node.inputs[0]);
        const bool pads = node.op == "Pad" && pads_with_zeros(node);
        if (from == nullptr || !(moves(node) || pads)) {
            return false;
        }
        const GraphNode dequantiser = *from;
        GraphNode mover = node;
        mover.inputs[0] = dequantiser.inputs[0];
        if (pads) {
            mover.inputs.resize(std::max<std::size_t>(mover.inputs.size(), 3));
            const TensorScale scale = scale_of(dequantiser);
            mover.inputs[2] =
                add_number(graph_, node.outputs[0] + "_padding", scale.type, scale.zero);
        }
        for (std::string& output : mover.outputs) {
            output = integers_of(output, dequantiser);
        }
        node.op == "Split" ? add_slices(node, mover) : nodes_.push_back(std::move(mover));
        for (const std::string& output : node.outputs) {
            dequantise(output, integers_of(output, dequantiser), dequantiser);
        }
        return true;
    }

    /// `like`: a dequantiser of the scale that the integers have.
    void dequantise(const std::string& output, const std::string& integers, const GraphNode& like) {
        GraphNode after = like;
        after.name = output + "_DequantizeLinear";
        after.inputs[0] = integers;
        after.outputs = {output};
        nodes_.push_back(after);
        moved_[output] = std::move(after);
    }

    /// `mover`: the integer Split. Each part becomes a Slice.
    void add_slices(const GraphNode& node, const GraphNode& mover) {
        const std::int64_t axis = node.integer("axis", 0);
        const std::size_t at = host::axis_index(axis, view_.sizes(node.inputs[0]).size());
        std::int64_t begin = 0;
        for (std::size_t i = 0; i < node.outputs.size(); ++i) {
            const std::int64_t end = begin + view_.sizes(node.outputs[i])[at];
            const auto bound = [&](const char* name, std::int64_t number) {
                return add_constant(graph_, mover.outputs[i] + name, integer_list({number}));
            };
            nodes_.push_back({"Slice",
                              i == 0 ? node_name(node) : node_name(node) + "_" + std::to_string(i),
                              {mover.inputs[0], bound("_begin", begin), bound("_end", end),
                               bound("_axis", axis)},
                              {mover.outputs[i]},
                              {}});
            begin = end;
        }
    }

    bool pads_with_zeros(const GraphNode& node) const {
        const GraphValue* value = before_.constant(node.input(2));
        return node.text("mode", "constant") == "constant" && node.inputs.size() > 1 &&
               (node.input(2).empty() ||
                (value != nullptr && value->numbers == std::vector<double>{0}));
    }

    /// The same name for the same `wish`.
    std::string free_name(std::string wish) const {
        return npuscope::free_name(before_, std::move(wish));
    }

    /// The name of the integers that a real-valued tensor is dequantised from.
    std::string integers_of(const std::string& real, const GraphNode& dequantiser) {
        std::string name = free_name(real + "_integers");
        const std::string& from = dequantiser.inputs[0];
        roots_[name] = roots_.contains(from) ? roots_.at(from) : from;
        return name;
    }

    /// A Concat that only a quantiser reads joins integers of its scale; any other one joins maps
    /// that have one scale.
    bool concat(const GraphNode& node) {
        std::vector<GraphNode> maps;
        for (const std::string& input : node.inputs) {
            const GraphNode* dequantiser = dequantiser_of(input);
            if (dequantiser == nullptr) {
                return false;
            }
            maps.push_back(*dequantiser);
            maps.back().inputs.resize(3);
        }
        const auto reader = view_.only_reader(node.outputs[0]);
        const auto scale = reader ? quantiser_scale(before_, view_.node(*reader)) : std::nullopt;
        if (!scale) {
            return concat_of_one_scale(node, maps);
        }
        const GraphNode& quantiser = view_.node(*reader);
        join(node, maps, {quantiser.inputs[1], quantiser.input(2)}, *scale, quantiser.outputs[0]);
        dropped_.insert(quantiser.outputs[0]);
        return true;
    }

    bool concat_of_one_scale(const GraphNode& node, const std::vector<GraphNode>& maps) {
        const TensorScale scale = scale_of(maps.front());
        if (!std::ranges::all_of(maps,
                                 [&](const GraphNode& map) { return scale_of(map) == scale; })) {
            return false;
        }
        const std::string& output = node.outputs[0];
        const std::string joined = integers_of(output, maps.front());
        join(node, maps, {}, scale, joined);
        dequantise(output, joined, maps.front());
        return true;
    }

    /// `maps`: the DequantizeLinear of each map.
    void join(const GraphNode& node, const std::vector<GraphNode>& maps,
              const std::pair<std::string, std::string>& scale_names, const TensorScale& scale,
              const std::string& output) {
        GraphNode joined{
            "Concat", node_name(node), {}, {output}, {{"axis", node.integer("axis", 1)}}};
        for (std::size_t i = 0; i < maps.size(); ++i) {
            if (scale_of(maps[i]) == scale) {
                joined.inputs.push_back(maps[i].inputs[0]);
                continue;
            }
            const std::string name = free_name(node_name(node) + "_input_" + std::to_string(i));
            GraphNode real = maps[i];
            real.op = "DequantizeLinear";
            real.name = free_name(name + "_DequantizeLinear");
            real.attributes.clear();
            real.outputs = {real.name};
            joined.inputs.push_back(name);
            nodes_.push_back(real);
            nodes_.push_back({"QuantizeLinear",
                              name,
                              {real.name, scale_names.first, scale_names.second},
                              {name},
                              {}});
        }
        nodes_.push_back(std::move(joined));
    }

    /// Operands: the result's scale and zero point, then each map with its scale and zero point.
    bool concat_quantised(const GraphNode& node) {
        std::vector<GraphNode> maps;
        const GraphNode end{{}, {}, {"", node.input(0), node.input(1)}, {}, {}};
        const auto scale = byte_scale(before_, end, node.outputs[0]);
        for (std::size_t i = 2; i + 2 < node.inputs.size(); i += 3) {
            GraphNode map{"DequantizeLinear",
                          {},
                          {node.inputs[i], node.input(i + 1), node.input(i + 2)},
                          {},
                          {}};
            if (before_.is_constant(map.inputs[0]) || !byte_scale(before_, map, map.inputs[0])) {
                return false;
            }
            maps.push_back(std::move(map));
        }
        if (!scale || maps.empty()) {
            return false;
        }
        join(node, maps, {node.input(0), node.input(1)}, *scale, node.outputs[0]);
        return true;
    }

    std::vector<GraphNode> nodes_;
    std::map<std::string, GraphNode> moved_;    ///< dequantisers after movers, by output
    std::map<std::string, std::string> roots_;  ///< tensor whose type new integers have
    std::set<std::string> dropped_;
};

}  // namespace

void move_between_quantisers(Graph& graph) {
    join_activations(graph);
    IntegerMoves(graph).run();
}

}  // namespace npuscope
