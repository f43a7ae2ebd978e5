// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "sim/model/graph_edit.h"
#include "sim/model/prepare_graph.h"
#include "sim/quantise/insert_quantisers.h"

namespace npuscope {
namespace {

class HalfWriter {
 public:
    HalfWriter(const Graph& graph, const Places& places) : before_(graph), places_(places) {
        for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
            if (places.roles[i] != Role::Float) {
                end_half(i);
            }
        }
    }

    QuantisedGraph run() {
        half_.graph = before_;
        half_.graph.nodes.clear();
        for (std::size_t i = 0; i < before_.nodes.size(); ++i) {
            halves_.contains(i) ? add_half(before_.nodes[i]) : add_plain(before_.nodes[i]);
        }
        for (const std::string& output : before_.outputs) {
            widen(output);
        }
        Graph& graph = half_.graph;
        std::map<std::string, TensorType> types;
        for (const std::string& input : graph.inputs) {
            types[input] = before_.types.at(input);
        }
        graph.types = std::move(types);
        drop_unread(graph, [](const GraphNode& /*node*/) { return false; });
        prepare_graph(graph);
        return std::move(half_);
    }

 private:
    /// An fp16 node, and those up to its result: a bias and an activation.
    void end_half(std::size_t index) {
        halves_.insert(index);
        makes_half_.insert(before_.nodes[index].outputs.front());
        std::string at = before_.nodes[index].outputs.front();
        for (std::size_t i = index + 1; i < before_.nodes.size() && at != places_.results[index];
             ++i) {
            const auto& inputs = before_.nodes[i].inputs;
            if (std::ranges::find(inputs, at) != inputs.end()) {
                halves_.insert(i);
                at = before_.nodes[i].outputs.front();
                makes_half_.insert(at);
            }
        }
    }

    static std::string half_of(const std::string& tensor) { return tensor + "_half"; }

    void cast(const std::string& from, const std::string& to, ElementType type) {
        const std::int64_t code = element_row(type).onnx;
        half_.graph.nodes.push_back({"Cast", to + "_Cast", {from}, {to}, {{"to", code}}});
    }
    /// The tensor as fp16.
    std::string narrow(const std::string& tensor) {
        if (tensor.empty() || !is_float(type_of(tensor))) {
            return tensor;
        }
        if (!narrowed_.insert(tensor).second || makes_half_.contains(tensor)) {
            return half_of(tensor);
        }
        if (const GraphValue* value = before_.constant(tensor)) {
            GraphValue rounded = *value;
            rounded.type.element = ElementType::Float16;
            settle(rounded);
            half_.graph.constants[half_of(tensor)] = std::move(rounded);
        } else {
            cast(tensor, half_of(tensor), ElementType::Float16);
        }
        return half_of(tensor);
    }
    /// Back to its original type, if an fp16 node produces it.
    void widen(const std::string& tensor) {
        if (makes_half_.contains(tensor) && widened_.insert(tensor).second) {
            cast(half_of(tensor), tensor, ElementType::Float32);
            half_.same.emplace_back(tensor, tensor);
        }
    }
    ElementType type_of(const std::string& tensor) const {
        const auto found = before_.types.find(tensor);
        return found == before_.types.end() ? ElementType::Float32 : found->second.element;
    }

    void add_half(GraphNode node) {
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            if (i == 0 || node.op != "Resize") {  // whose scales are float32
                node.inputs[i] = narrow(node.inputs[i]);
            }
        }
        const std::string result = node.outputs.front();
        node.outputs.front() = half_of(result);
        half_.graph.nodes.push_back(std::move(node));
    }
    void add_plain(const GraphNode& node) {
        for (const std::string& input : node.inputs) {
            widen(input);
        }
        half_.graph.nodes.push_back(node);
    }

    const Graph& before_;
    const Places& places_;
    QuantisedGraph half_;
    std::set<std::size_t> halves_;      ///< nodes that compute in fp16
    std::set<std::string> makes_half_;  ///< tensors that they produce
    std::set<std::string> narrowed_;
    std::set<std::string> widened_;
};

}  // namespace

QuantisedGraph half_floats(const Graph& graph, const Places& places) {
    return HalfWriter(graph, places).run();
}

}  // namespace npuscope
