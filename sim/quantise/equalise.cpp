// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "sim/quantise/float_graph.h"

namespace npuscope {
namespace {

constexpr double largest_factor = 16;  // of a channel, in one step
constexpr int equalise_rounds = 3;

/// Two products with only a ReLU (leaky or not) and a concatenation between them, if anything.
struct Neighbours {
    std::size_t first = 0;
    std::size_t second = 0;
    std::size_t offset = 0;  ///< of the first one's channels among the second one's input channels
};

/// A weight tensor, indexed by kernel and channel.
struct WeightAxes {
    std::size_t first;   ///< size of its first dimension
    std::size_t second;  ///< size of its second dimension
    std::size_t inner;   ///< product of all others

    explicit WeightAxes(const Sizes& sizes)
        : first(static_cast<std::size_t>(sizes[0])),
          second(static_cast<std::size_t>(sizes[1])),
          inner(count_elements(sizes) / std::max<std::size_t>(first * second, 1)) {}
    std::size_t of_first(std::size_t weight) const { return weight / (inner * second); }
    std::size_t of_second(std::size_t weight) const { return weight / inner % second; }
};

class Equaliser {
 public:
    explicit Equaliser(Graph& graph) : graph_(graph) {}

    bool run() {
        const std::vector<Neighbours> pairs = find_pairs();
        for (const Neighbours& pair : pairs) {
            own_constant(graph_.nodes[pair.first], 1);
            own_constant(graph_.nodes[pair.first], 2);
            own_constant(graph_.nodes[pair.second], 1);
        }
        for (int round = 0; round < equalise_rounds; ++round) {
            for (const Neighbours& pair : pairs) {
                equalise(graph_.nodes[pair.first], graph_.nodes[pair.second], pair.offset);
            }
        }
        return !pairs.empty();
    }

 private:
    std::vector<Neighbours> find_pairs() const {
        const GraphView view(graph_);
        std::vector<Neighbours> pairs;
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
            if (!is_plain_conv(graph_.nodes[i])) {
                continue;
            }
            std::string tensor = graph_.nodes[i].outputs.front();
            auto reader = view.only_reader(tensor);
            std::size_t offset = 0;
            if (reader && keeps_factors(graph_.nodes[*reader], tensor)) {
                tensor = graph_.nodes[*reader].outputs.front();
                reader = view.only_reader(tensor);
            }
            if (reader && joins_channels(graph_.nodes[*reader])) {
                const GraphNode& joint = graph_.nodes[*reader];
                for (std::size_t j = 0; joint.inputs[j] != tensor; ++j) {
                    offset += static_cast<std::size_t>(view.sizes(joint.inputs[j])[1]);
                }
                reader = view.only_reader(joint.outputs.front());
            }
            if (reader && is_plain_conv(graph_.nodes[*reader]) &&
                (offset == 0 || !is_depthwise(graph_.nodes[*reader]))) {
                pairs.push_back({i, *reader, offset});
            }
        }
        return pairs;
    }

    /// Whether scaling a channel by n scales the result by n.
    bool keeps_factors(const GraphNode& node, const std::string& map) const {
        return node.op == "Relu" || node.op == "LeakyRelu" ||
               (node.op == "PRelu" && node.inputs[0] == map && graph_.is_constant(node.inputs[1]));
    }
    bool joins_channels(const GraphNode& node) const {
        return node.op == "Concat" && node.integer("axis", 0) == 1;
    }
    /// One group, or one per channel.
    bool is_plain_conv(const GraphNode& node) const {
        if ((node.op != "Conv" && node.op != "ConvTranspose") || !is_product(graph_, node)) {
            return false;
        }
        const Sizes& sizes = graph_.constants.at(node.inputs[1]).type.sizes;
        const std::int64_t groups = node.integer("group", 1);
        return groups == 1 || (node.op == "Conv" && sizes[1] == 1 && sizes[0] == groups);
    }
    static bool is_depthwise(const GraphNode& node) { return node.integer("group", 1) > 1; }

    void own_constant(GraphNode& node, std::size_t input) {
        if (!node.input(input).empty()) {
            const std::string name =
                node.outputs.front() + (input == 1 ? "_equal_weights" : "_equal_bias");
            graph_.constants[name] = graph_.constants.at(node.inputs[input]);
            graph_.types[name] = graph_.constants[name].type;
            node.inputs[input] = name;
        }
    }

    /// The kernel that a weight belongs to.
    static std::size_t kernel_of(const GraphNode& node, const WeightAxes& axes,
                                 std::size_t weight) {
        return node.op == "Conv" ? axes.of_first(weight) : axes.of_second(weight);
    }
    /// The channel that a weight multiplies.
    static std::size_t channel_of(const GraphNode& node, const WeightAxes& axes,
                                  std::size_t weight) {
        const bool by_first = node.op == "ConvTranspose" || is_depthwise(node);
        return by_first ? axes.of_first(weight) : axes.of_second(weight);
    }

    void equalise(const GraphNode& first, const GraphNode& second, std::size_t offset) {
        GraphValue& before = graph_.constants.at(first.inputs[1]);
        GraphValue& after = graph_.constants.at(second.inputs[1]);
        const WeightAxes made(before.type.sizes);
        const WeightAxes read(after.type.sizes);
        const std::size_t channels = first.op == "Conv" ? made.first : made.second;
        std::vector<double> made_most(channels);
        std::vector<double> read_most(channels);
        for (std::size_t i = 0; i < before.numbers.size(); ++i) {
            double& most = made_most[kernel_of(first, made, i)];
            most = std::max(most, std::abs(before.numbers[i]));
        }
        const auto channel = [&](std::size_t i) { return channel_of(second, read, i) - offset; };
        for (std::size_t i = 0; i < after.numbers.size(); ++i) {
            if (channel(i) < channels) {  // unsigned: earlier ones wrap around
                read_most[channel(i)] = std::max(read_most[channel(i)], std::abs(after.numbers[i]));
            }
        }
        std::vector<double> factor(channels, 1);
        for (std::size_t c = 0; c < channels; ++c) {
            if (made_most[c] > 0 && read_most[c] > 0) {
                factor[c] = std::clamp(std::sqrt(made_most[c] / read_most[c]), 1 / largest_factor,
                                       largest_factor);
            }
        }
        scale(before, [&](std::size_t i) { return 1 / factor[kernel_of(first, made, i)]; });
        scale(after, [&](std::size_t i) { return channel(i) < channels ? factor[channel(i)] : 1; });
        if (!first.input(2).empty()) {
            scale(graph_.constants.at(first.inputs[2]),
                  [&](std::size_t i) { return 1 / factor[i]; });
        }
    }
    template <class Factor>
    static void scale(GraphValue& value, Factor factor) {
        for (std::size_t i = 0; i < value.numbers.size(); ++i) {
            value.numbers[i] *= factor(i);
        }
        settle(value);
    }

    Graph& graph_;
};

}  // namespace

bool equalise_channels(Graph& graph) { return Equaliser(graph).run(); }

}  // namespace npuscope
