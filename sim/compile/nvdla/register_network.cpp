// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/register_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

#include "sim/compile/nvdla/layer_names.h"
#include "sim/compile/nvdla/stored_zero.h"

namespace npuscope {
namespace {

class SegmentLowering {
 public:
    SegmentLowering(const ModelFacts& model, const GraphPartition& partition)
        : model_(model), partition_(partition) {}

    RegisterNetwork run(std::span<const std::size_t> items, std::span<const std::string> outputs) {
        find_inputs(items);
        for (const std::size_t index : items) {
            const GraphItem& item = partition_.found.items[index];
            lowered_.layers.emplace_back();
            item.layer ? add_layer(item) : add_sum(item, item.sum->node, item.reads);
        }
        for (const std::string& tensor : outputs) {
            const Source& source = sources_.at(tensor);
            lowered_.outputs.push_back(
                {tensor, source.layer, source.cube, source.node, zero_of(tensor)});
            lowered_.network.outputs.push_back(source.layer);
        }
        return std::move(lowered_);
    }

 private:
    /// A layer's result, and its sizes as a cube.
    struct Source {
        std::string layer;
        Sizes cube;
        std::size_t node = 0;
    };

    std::int32_t zero_of(const std::string& tensor) const {
        return stored_zero(model_.facts.at(tensor).range);
    }
    std::string root(const std::string& tensor) const {
        return root_of(model_, partition_, tensor);
    }

    /// What no item before gives in the shape that is read. Inputs stand before all layers.
    void find_inputs(std::span<const std::size_t> items) {
        std::map<std::string, Sizes> given;
        for (const std::size_t index : items) {
            const GraphItem& item = partition_.found.items[index];
            for (const ItemRead& read : item.reads) {
                const std::string tensor = root(read.tensor);
                const auto found = given.find(tensor);
                const bool inside = found != given.end() && found->second == read.cube;
                const bool known = std::ranges::any_of(lowered_.inputs, [&](const auto& input) {
                    return input.tensor == tensor && input.cube == read.cube;
                });
                if (!inside && !known) {
                    add_input({tensor, read.cube, read.node});
                }
            }
            given[item.output] = item.cube;
        }
    }
    void add_input(const ItemRead& read) {
        const auto size = [&](std::size_t i) { return static_cast<std::uint32_t>(read.cube[i]); };
        const std::int32_t zero = zero_of(read.tensor);
        if (lowered_.inputs.empty()) {
            lowered_.network.input.channels = size(1);
            lowered_.network.input.height = size(2);
            lowered_.network.input.width = size(3);
            lowered_.inputs.push_back({read.tensor, "input", read.cube, read.node, zero});
            if (zero == 128) {  // which the NPU takes from pixels itself
                lowered_.network.input.type = InputType::Uint8;
            }
            return;
        }
        Layer layer;
        layer.name = names_.of(read.tensor);
        layer.kind = LayerKind::Input;
        layer.output = fmt::format("{}x{}x{}", size(1), size(2), size(3));
        lowered_.inputs.push_back({read.tensor, layer.name, read.cube, read.node, zero});
        push(std::move(layer), {});
    }

    void add_layer(const GraphItem& item) {
        const Candidate& candidate = *item.layer;
        Layer layer = item.lowered.layer;
        layer.name = names_.of(node_name(model_.graph.nodes[candidate.anchor]));
        layer.from = {layer_of(item.reads[0])};
        sources_[item.output] = {layer.name, item.cube, item.at};
        push_work(std::move(layer), item.lowered.numbers);
        if (item.joins()) {
            GraphItem sum;  // of what the convolution gives and the residual
            sum.output = item.output;
            sum.cube = item.cube;
            sum.at = item.at;
            sum.lowered.layer.relu = item.lowered.relu_behind_residual;
            const std::size_t node = candidate.norm.residual_node;
            add_sum(sum, node, {{item.output, item.cube, node}, item.reads[1]});
        }
    }

    void add_sum(const GraphItem& item, std::size_t node, const std::vector<ItemRead>& terms) {
        Layer layer;
        layer.name = names_.of(node_name(model_.graph.nodes[node]));
        layer.kind = LayerKind::Add;
        layer.relu = item.lowered.layer.relu;
        for (const ItemRead& term : terms) {
            layer.from.push_back(layer_of(term));
        }
        sources_[item.output] = {layer.name, item.cube, item.at};
        push_work(std::move(layer), item.lowered.numbers);
    }

    void push_work(Layer layer, LayerNumbers numbers) {
        lowered_.layers.back().push_back(layer.name);
        push(std::move(layer), std::move(numbers));
    }
    void push(Layer layer, LayerNumbers numbers) {
        lowered_.network.layers.push_back(std::move(layer));
        lowered_.network.numbers.push_back(std::move(numbers));
    }

    std::string layer_of(const ItemRead& read) const {
        const std::string tensor = root(read.tensor);
        const auto source = sources_.find(tensor);
        if (source != sources_.end() && source->second.cube == read.cube) {
            return source->second.layer;
        }
        return std::ranges::find_if(lowered_.inputs,
                                    [&](const SegmentTensor& input) {
                                        return input.tensor == tensor && input.cube == read.cube;
                                    })
            ->layer;
    }

    const ModelFacts& model_;
    const GraphPartition& partition_;
    RegisterNetwork lowered_;
    LayerNames names_;
    std::map<std::string, Source> sources_;
};

RegisterNetwork lower(const ModelFacts& model, const GraphPartition& partition, std::size_t index,
                      std::size_t items) {
    const Segment& segment = partition.segments[index];
    const bool all = items == segment.items.size();
    RegisterNetwork lowered =
        SegmentLowering(model, partition)
            .run(std::span(segment.items).first(items),
                 all ? std::span(segment.outputs) : std::span<const std::string>());
    Network& network = lowered.network;
    network.name = model.graph.name.empty() ? "model" : model.graph.name;
    if (partition.segments.size() > 1 || !partition.is_whole()) {
        network.name += fmt::format("_segment_{}", index + 1);
    }
    network.file = model.graph.file;
    return lowered;
}

}  // namespace

RegisterNetwork register_network(const ModelFacts& model, const GraphPartition& partition,
                                 std::size_t index) {
    return lower(model, partition, index, partition.segments[index].items.size());
}

RegisterNetwork begin_of_segment(const ModelFacts& model, const GraphPartition& partition,
                                 std::size_t index, std::size_t items) {
    return lower(model, partition, index, items);
}

}  // namespace npuscope
