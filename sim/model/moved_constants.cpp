// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "sim/model/graph_edit.h"
#include "sim/model/operator_parts.h"
#include "sim/model/quantiser_places.h"

namespace npuscope {
namespace {

/// Operators that keep every element.
bool reorders(const GraphNode& node) {
    constexpr std::array<std::string_view, 6> operators{"Transpose", "Reshape",   "Flatten",
                                                        "Squeeze",   "Unsqueeze", "Identity"};
    return std::ranges::find(operators, node.op) != operators.end();
}

class MovedConstants {
 public:
    explicit MovedConstants(Graph& graph) : graph_(graph) {}

    void run() {
        for (GraphNode& node : graph_.nodes) {
            if (node.op == "DequantizeLinear" && is_constant(node)) {
                dequantisers_[node.outputs[0]] = node;
            } else if (reorders(node) && dequantisers_.contains(node.inputs[0])) {
                move(node, dequantisers_.at(node.inputs[0]));
            }
        }
    }

 private:
    bool is_constant(const GraphNode& node) const {
        const auto known = [&](const std::string& input) {
            return input.empty() || graph_.is_constant(input);
        };
        return std::ranges::all_of(node.inputs, known) && !node.has("block_size");
    }

    /// Turns the mover of a dequantiser's result into a dequantiser of moved integers.
    void move(GraphNode& node, const GraphNode& dequantiser) {
        const GraphValue& integers = graph_.constants.at(dequantiser.inputs[0]);
        const auto axis = moved_axis(node, dequantiser, integers.type.sizes);
        auto moved = axis ? constant_result(graph_, node, &integers) : std::nullopt;
        if (!moved) {
            return;
        }
        GraphNode after = dequantiser;
        after.name = node.name;
        after.outputs = node.outputs;
        after.attributes["axis"] = *axis;
        after.inputs[0] = add_constant(graph_, node.outputs[0] + "_integers", *std::move(moved));
        node = std::move(after);
        dequantisers_[node.outputs[0]] = node;
    }

    /// The axis of the scales after a mover; nothing if elements of one scale are no longer those
    /// of one index.
    std::optional<std::int64_t> moved_axis(const GraphNode& node, const GraphNode& dequantiser,
                                           const Sizes& sizes) const {
        const std::size_t scales = graph_.constants.at(dequantiser.inputs[1]).numbers.size();
        if (scales == 1) {
            return 0;
        }
        const GraphValue indices =
            indices_along(sizes, host::axis_index(dequantiser.integer("axis", 1), sizes.size()));
        const auto moved = constant_result(graph_, node, &indices);
        for (std::size_t axis = 0; moved && axis < moved->type.sizes.size(); ++axis) {
            if (moved->type.sizes[axis] == static_cast<std::int64_t>(scales) &&
                moved->numbers == indices_along(moved->type.sizes, axis).numbers) {
                return static_cast<std::int64_t>(axis);
            }
        }
        return std::nullopt;
    }

    /// Every element's index along `axis`.
    static GraphValue indices_along(const Sizes& sizes, std::size_t axis) {
        GraphValue indices{{ElementType::Int64, sizes}, {}};
        std::size_t step = 1;
        for (std::size_t i = axis + 1; i < sizes.size(); ++i) {
            step *= static_cast<std::size_t>(sizes[i]);
        }
        indices.numbers.resize(count_elements(sizes));
        for (std::size_t i = 0; i < indices.numbers.size(); ++i) {
            indices.numbers[i] =
                static_cast<double>(i / step % static_cast<std::size_t>(sizes[axis]));
        }
        return indices;
    }

    Graph& graph_;
    std::map<std::string, GraphNode> dequantisers_;  ///< of constants, by result
};

}  // namespace

void move_integer_constants(Graph& graph) { MovedConstants(graph).run(); }

}  // namespace npuscope
