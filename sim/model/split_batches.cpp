// SPDX-License-Identifier: Apache-2.0
// Splits batched layers into layers of one input each, for NPUs whose layers have a batch of 1:
//
//     x [N ..] ─► Split ─► x/0 ─► conv ─► clip ─┬─► Concat ─► y [N ..]
//                     └──► x/1 ─► conv ─► clip ─┘
//
// Copies share their constants. Nodes between two layers are copied with them, so that maps stay in
// place. Products with several rows keep them: rows are lines of a map.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "sim/model/graph_edit.h"
#include "sim/model/operators.h"
#include "sim/model/prepare_graph.h"
#include "sim/model/quantised_form.h"

namespace npuscope {
namespace {

constexpr std::int64_t most_inputs = 64;                         // beyond, a plan would be
constexpr std::uint64_t most_weights = std::uint64_t{1} << 26U;  // mostly copies

bool is_layer(const std::string& op) {
    constexpr std::array layers{"Conv", "ConvInteger", "ConvTranspose", "MaxPool"};
    return std::ranges::find(layers, op) != layers.end() || op == scaled_sum_op ||
           op == scaled_product_op || op == scaled_prelu_op;
}
/// Computes every input of the batch independently.
bool is_separable(const std::string& op) {
    constexpr std::array words{"Add",
                               "Sub",
                               "Mul",
                               "Div",
                               "Floor",
                               "Clip",
                               "Relu",
                               "AveragePool",
                               "Concat",
                               "GlobalAveragePool",
                               "Cast",
                               "Round",
                               "QuantizeLinear",
                               "DequantizeLinear"};
    return is_layer(op) || std::ranges::find(words, op) != words.end();
}

bool is_batch(const Sizes& sizes) {
    return (sizes.size() == 3 || sizes.size() == 4) && sizes[0] > 1 && sizes[0] <= most_inputs;
}

class BatchSplitter : GraphRewrite {
 public:
    explicit BatchSplitter(Graph& graph) : GraphRewrite(graph) {
        for (std::size_t i = 0; i < before_.nodes.size(); ++i) {
            parts_.push_back(i);
            copied_.push_back(separates(before_.nodes[i]));
        }
    }

    /// Returns whether anything was split.
    bool run() {
        join_neighbours();
        keep_layers();
        if (std::ranges::count(copied_, true) == 0 || copied_weights() > most_weights) {
            return false;
        }
        graph_.nodes.clear();
        for (std::size_t i = 0; i < before_.nodes.size(); ++i) {
            copied_[i] ? copy(i) : graph_.nodes.push_back(before_.nodes[i]);
        }
        copy_remarks();
        return true;
    }

 private:
    const Sizes& sizes(const std::string& tensor) const { return view_.sizes(tensor); }
    /// Weights or a bias, stored directly or dequantised.
    bool is_weights(const GraphNode& node, std::size_t input) const {
        const std::string& tensor = node.inputs[input];
        const auto producer = view_.producer(tensor);
        const bool constant = before_.is_constant(tensor) ||
                              (producer && before_.nodes[*producer].op == "DequantizeLinear" &&
                               before_.is_constant(before_.nodes[*producer].inputs[0]));
        return input > 0 && is_layer(node.op) && node.op != scaled_sum_op && constant;
    }
    bool joins_batches(const GraphNode& node) const {
        const auto rank = static_cast<std::int64_t>(sizes(node.outputs[0]).size());
        return node.op == "Concat" && node.integer("axis", 1) % rank == 0;
    }
    bool separates(const GraphNode& node) const {
        if (!is_separable(node.op) || node.outputs.size() != 1 ||
            !is_batch(sizes(node.outputs[0])) || joins_batches(node)) {
            return false;
        }
        const std::size_t rank = sizes(node.outputs[0]).size();
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            const std::string& input = node.inputs[i];
            if (input.empty() || is_weights(node, i)) {
                continue;
            }
            const Sizes& own = sizes(input);
            const bool shared = before_.is_constant(input) && (own.size() < rank || own[0] == 1);
            // a tensor of fewer sizes has no batch: it is the same for every input
            const bool parted = own.size() == rank && own[0] == sizes(node.outputs[0])[0];
            if (!shared && (before_.is_constant(input) || !parted)) {
                return false;
            }
        }
        return true;
    }

    std::size_t first_of(std::size_t node) const {
        while (parts_[node] != node) {
            node = parts_[node];
        }
        return node;
    }
    void join_neighbours() {
        for (std::size_t i = 0; i < before_.nodes.size(); ++i) {
            for (const std::string& input : before_.nodes[i].inputs) {
                const auto producer = view_.producer(input);
                if (copied_[i] && producer && copied_[*producer]) {
                    parts_[first_of(*producer)] = first_of(i);
                }
            }
        }
    }
    /// Groups of neighbours without a layer are left unchanged.
    void keep_layers() {
        std::set<std::size_t> with_layer;
        for (std::size_t i = 0; i < before_.nodes.size(); ++i) {
            if (copied_[i] && is_layer(before_.nodes[i].op)) {
                with_layer.insert(first_of(i));
            }
        }
        for (std::size_t i = 0; i < before_.nodes.size(); ++i) {
            copied_[i] = copied_[i] && with_layer.contains(first_of(i));
        }
    }

    /// Each copy of a layer has its own weights in the NPU's memory.
    std::uint64_t copied_weights() const {
        std::uint64_t all = 0;
        for (std::size_t i = 0; i < before_.nodes.size(); ++i) {
            const GraphNode& node = before_.nodes[i];
            const GraphValue* weights =
                copied_[i] && is_layer(node.op) ? before_.constant(node.input(1)) : nullptr;
            if (weights != nullptr) {
                all += static_cast<std::uint64_t>(sizes(node.outputs[0])[0]) *
                       count_elements(weights->type.sizes);
            }
        }
        return all;
    }

    static std::string part(const std::string& name, std::int64_t number) {
        return name + '/' + std::to_string(number);
    }
    static std::vector<std::string> parts(const std::string& tensor, std::int64_t count) {
        std::vector<std::string> names;
        for (std::int64_t n = 0; n < count; ++n) {
            names.push_back(part(tensor, n));
        }
        return names;
    }

    void copy(std::size_t index) {
        const GraphNode& node = before_.nodes[index];
        const std::int64_t count = sizes(node.outputs[0])[0];
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            if (!is_weights(node, i)) {
                cut(node.inputs[i], count);
            }
        }
        for (std::int64_t n = 0; n < count; ++n) {
            GraphNode made = node;
            made.name = part(node_name(node), n);
            for (std::string& input : made.inputs) {
                input = cut_.contains(input) ? part(input, n) : input;
            }
            made.outputs = {part(node.outputs[0], n)};
            if (node.has(macs_attribute)) {
                made.attributes[macs_attribute] = node.integer(macs_attribute, 0) / count;
            }
            graph_.nodes.push_back(std::move(made));
        }
        cut_.insert(node.outputs[0]);
        join(node.outputs[0], count);
    }

    /// Splits a tensor into one per input of the batch.
    void cut(const std::string& tensor, std::int64_t count) {
        if (tensor.empty() || before_.is_constant(tensor) || !cut_.insert(tensor).second) {
            return;
        }
        graph_.nodes.push_back({"Split",
                                tensor + "/split",
                                {tensor},
                                parts(tensor, count),
                                {{"axis", std::int64_t{0}}}});
    }

    /// Joins the parts where one operator reads all of them.
    void join(const std::string& tensor, std::int64_t count) {
        bool read = std::ranges::find(before_.outputs, tensor) != before_.outputs.end();
        for (std::size_t i = 0; i < before_.nodes.size() && !read; ++i) {
            const auto& inputs = before_.nodes[i].inputs;
            read = !copied_[i] && std::ranges::find(inputs, tensor) != inputs.end();
        }
        if (!read) {
            return;
        }
        graph_.nodes.push_back({"Concat",
                                tensor + "/join",
                                parts(tensor, count),
                                {tensor},
                                {{"axis", std::int64_t{0}}}});
    }

    /// Each copy of a rounded layer is listed as rounded.
    void copy_remarks() {
        std::map<std::string, std::int64_t> counts;
        for (std::size_t i = 0; i < before_.nodes.size(); ++i) {
            if (copied_[i]) {
                const GraphNode& node = before_.nodes[i];
                counts[node_name(node)] = sizes(node.outputs[0])[0];
            }
        }
        graph_.rounded.clear();
        for (const RoundedLayer& layer : before_.rounded) {
            const auto found = counts.find(layer.name);
            if (found == counts.end()) {
                graph_.rounded.push_back(layer);
                continue;
            }
            for (std::int64_t n = 0; n < found->second; ++n) {
                graph_.rounded.push_back({part(layer.name, n), layer.deviation});
            }
        }
    }

    std::vector<std::size_t> parts_;  ///< per node: its group of neighbours, as a tree
    std::vector<bool> copied_;
    std::set<std::string> cut_;  ///< tensors stored in parts
};

}  // namespace

bool split_batches(Graph& graph) {
    const bool any = std::ranges::any_of(
        graph.types, [](const auto& named) { return is_batch(named.second.sizes); });
    return any && BatchSplitter(graph).run();
}

}  // namespace npuscope
