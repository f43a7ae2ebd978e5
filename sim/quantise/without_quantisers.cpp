// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/model/graph_edit.h"
#include "sim/model/operators.h"
#include "sim/quantise/float_graph.h"

namespace npuscope {
namespace {

class Stripping {
 public:
    explicit Stripping(Graph& graph) : graph_(graph) {}

    void run() {
        std::vector<GraphNode> kept;
        for (GraphNode& node : graph_.nodes) {
            for (std::string& input : node.inputs) {
                const auto real = reals_.find(input);
                input = real == reals_.end() ? input : real->second;
            }
            if (node.op == "QuantizeLinear") {
                quantised_[node.outputs.front()] = node.inputs.front();
            }
            if (node.op != "DequantizeLinear" || !strip(node)) {
                kept.push_back(std::move(node));
            }
        }
        graph_.nodes = std::move(kept);
        drop_unread(graph_, [](const GraphNode& node) { return node.op == "QuantizeLinear"; });
    }

 private:
    /// Whether the node is no longer needed; a result of the model is kept by a copy.
    bool strip(GraphNode& node) {
        const std::string& result = node.outputs.front();
        const auto source = quantised_.find(node.inputs.front());
        if (source != quantised_.end()) {
            if (std::ranges::find(graph_.outputs, result) != graph_.outputs.end()) {
                node = {"Identity", node.name, {source->second}, {result}, {}};
                return false;
            }
            reals_[result] = source->second;
            return true;
        }
        auto value = constant_result(graph_, node);
        if (value) {
            graph_.constants[result] = *std::move(value);
        }
        return value.has_value();
    }

    Graph& graph_;
    std::map<std::string, std::string> reals_;      ///< of dequantised tensors
    std::map<std::string, std::string> quantised_;  ///< what integers were quantised from
};

}  // namespace

bool leaves_layers_in_float(const Graph& graph) {
    constexpr std::array<std::string_view, 4> products{"Conv", "ConvTranspose", "Gemm", "MatMul"};
    const GraphView view(graph);
    return std::ranges::any_of(graph.nodes, [&](const GraphNode& node) {
        if (std::ranges::find(products, node.op) == products.end() ||
            graph.types.at(node.outputs.front()).element != ElementType::Float32) {
            return false;
        }
        const auto producer = view.producer(node.input(1));
        return graph.is_constant(node.input(1)) ||
               (producer && view.node(*producer).op == "DequantizeLinear" &&
                graph.is_constant(view.node(*producer).inputs.front()));
    });
}

Graph without_quantisers(Graph graph) {
    Stripping(graph).run();
    return graph;
}

}  // namespace npuscope
