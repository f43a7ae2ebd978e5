// SPDX-License-Identifier: Apache-2.0
// Sums of a layer's result, which has no quantiser of its own, and a dequantised map: the residual
// of a network that was quantised for TensorRT. NPUs add 8-bit maps, so the layer's result gets a
// quantiser. Its grid is as fine as 8 bits allow: it ends where the sum saturates for every value
// of the map.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/model/graph_edit.h"
#include "sim/model/quantised_form.h"
#include "sim/model/quantiser_places.h"

namespace npuscope {
namespace {

/// Integers of a map, as far as its producer determines them.
NumberRange codes_of(const GraphView& view, const std::string& tensor) {
    const NumberRange all = range_of(view.graph().types.at(tensor).element);
    const auto producer = view.producer(tensor);
    if (!producer) {
        return all;
    }
    const GraphNode& node = view.node(*producer);
    if (is_mover(node)) {
        return codes_of(view, node.inputs[0]);
    }
    if (node.op != "QuantizeLinear") {
        return all;
    }
    const auto before = view.producer(node.inputs[0]);
    const bool limits =
        before && (view.node(*before).op == "Relu" || view.node(*before).op == "Clip");
    const auto end = requantised(view, limits ? view.node(*before).inputs[0] : node.inputs[0]);
    return end && end->output == tensor ? NumberRange{end->low, end->high} : all;
}

class ResidualSums : GraphRewrite {
 public:
    using GraphRewrite::GraphRewrite;

    std::vector<ResidualSum> run() {
        for (std::size_t i = 0; i < before_.nodes.size(); ++i) {
            if (view_.node(i).op == "Add") {
                for (const std::size_t operand : {0U, 1U}) {
                    quantise(i, operand);
                }
            }
        }
        for (auto& [index, nodes] : after_) {
            nodes.insert(nodes.begin(), graph_.nodes[index]);
        }
        replace_nodes(graph_, std::move(after_));
        return std::move(sums_);
    }

 private:
    /// `operand`: of the Add, that may be a layer's result.
    void quantise(std::size_t add, std::size_t operand) {
        const GraphNode& node = view_.node(add);
        const std::string& tensor = node.inputs[operand];
        const auto product = product_before(tensor);
        const auto map = dequantised(view_, node.inputs[1 - operand]);
        const auto end = requantised(view_, node.outputs[0]);
        const bool fits = product && map && !before_.is_constant(map->tensor) && end &&
                          map->scales.size() == 1 && is_byte(end->type) &&
                          is_byte(before_.types.at(map->tensor).element) &&
                          view_.sizes(map->tensor) == view_.sizes(tensor);
        if (!fits) {
            return;
        }
        const NumberRange codes = codes_of(view_, map->tensor);
        const auto real = [&](double code) {
            return (code - map->zeros.front()) * map->scales.front();
        };
        const double low = (end->low - end->zero - 0.5) * end->scale - real(codes.high);
        const double high = (end->high - end->zero + 0.5) * end->scale - real(codes.low);
        const double scale =
            insert(add, operand, *product, {std::min(low, 0.0), std::max(high, 0.0)});
        sums_.push_back({node_name(node), node_name(view_.node(*product)), scale / end->scale});
    }

    /// The quantised product, with a bias that is added, whose result is `tensor`, if only one node
    /// reads it.
    std::optional<std::size_t> product_before(const std::string& tensor) const {
        auto producer = view_.only_reader(tensor) ? view_.producer(tensor) : std::nullopt;
        if (producer && view_.node(*producer).op == "Add") {  // a bias
            const GraphNode& add = view_.node(*producer);
            const std::size_t sum = before_.is_constant(add.inputs[0]) ? 1 : 0;
            const bool bias = before_.is_constant(add.inputs[1 - sum]);
            producer = bias ? view_.producer(add.inputs[sum]) : std::nullopt;
            if (!producer || view_.node(*producer).op != "MatMul") {
                return std::nullopt;
            }
        }
        return producer && has_dequantised_operands(view_.node(*producer)) ? producer
                                                                           : std::nullopt;
    }
    bool has_dequantised_operands(const GraphNode& node) const {
        if (node.op != "Conv" && node.op != "ConvTranspose" && node.op != "Gemm" &&
            node.op != "MatMul") {
            return false;
        }
        const auto data = dequantised(view_, node.inputs[0]);
        const auto weights = dequantised(view_, node.inputs[1]);
        return data && !before_.is_constant(data->tensor) && data->scales.size() == 1 &&
               is_byte(before_.types.at(data->tensor).element) && weights &&
               before_.is_constant(weights->tensor);
    }

    /// A quantiser and a dequantiser for values within `range`; returns their scale.
    double insert(std::size_t add, std::size_t operand, std::size_t product,
                  const NumberRange& range) {
        constexpr double steps = 254;  // one more is left for a zero that is a whole code
        const double scale = rounded_float((range.high - range.low) / steps * (1 + 0x1p-20));
        const double lowest = range_of(ElementType::Int8).low;
        const std::string tensor = before_.nodes[add].inputs[operand];
        const std::string name = node_name(view_.node(product));
        const std::string scales =
            add_number(graph_, name + "_sum_scale", ElementType::Float32, scale);
        const std::string zeros = add_number(graph_, name + "_sum_zero", ElementType::Int8,
                                             lowest + std::ceil(-range.low / scale));
        const auto add_node = [&](const std::string& op, const std::string& from,
                                  ElementType element) {
            const std::string made = free_name(graph_, name + '_' + op);
            graph_.types[made] = {element, view_.sizes(tensor)};
            after_[*view_.producer(tensor)].push_back(
                {op, made, {from, scales, zeros}, {made}, {}});
            return made;
        };
        const std::string integers = add_node("QuantizeLinear", tensor, ElementType::Int8);
        graph_.nodes[add].inputs[operand] =
            add_node("DequantizeLinear", integers, ElementType::Float32);
        return scale;
    }

    ReplacedNodes after_;  ///< what follows a node
    std::vector<ResidualSum> sums_;
};

Deviation deviation_of(const Graph& graph, const std::string& name) {
    const auto found = std::ranges::find(graph.rounded, name, &RoundedLayer::name);
    return found == graph.rounded.end() ? Deviation{} : found->deviation;
}

}  // namespace

std::vector<ResidualSum> quantise_residuals(Graph& graph) { return ResidualSums(graph).run(); }

void note_residuals(Graph& graph, const std::vector<ResidualSum>& sums) {
    for (const ResidualSum& sum : sums) {
        const Deviation layer = deviation_of(graph, sum.layer);
        Deviation own = deviation_of(graph, sum.name);
        // rounding is off by up to half a step of the grid, and by a quarter on average
        own.largest += sum.step * (0.5 + layer.largest);
        own.expected = std::min(1.0, own.expected + sum.step * (0.25 + layer.expected));
        std::erase_if(graph.rounded, [&](const RoundedLayer& one) { return one.name == sum.name; });
        graph.rounded.push_back({sum.name, own});
    }
}

}  // namespace npuscope
