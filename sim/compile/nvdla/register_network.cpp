// SPDX-License-Identifier: Apache-2.0
// A segment of a model as the network of layers that is planned for it.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <span>

#include "sim/compile/nvdla/nvdla_target.h"
#include "sim/compile/nvdla/register_layer.h"
#include "sim/compile/nvdla/wide_layer.h"

namespace npuscope {
namespace {

/// Names for layers from names of nodes: files are named after them, so letters, digits, dots,
/// dashes and underscores stay and other characters become underscores; duplicates get a number.
class LayerNames {
 public:
    /// A name that has not been used before.
    const std::string& of(const std::string& node) {
        std::string name = node.empty() ? "layer" : node;
        std::ranges::replace_if(
            name,
            [](unsigned char letter) {
                return std::isalnum(letter) == 0 && letter != '.' && letter != '-' && letter != '_';
            },
            '_');
        std::string tried = name;
        for (int number = 2; given_.contains(tried); ++number) {
            tried = name + '_' + std::to_string(number);
        }
        return *given_.insert(tried).first;
    }

 private:
    std::set<std::string> given_{"input"};  // the network's own
};

class SegmentLowering {
 public:
    SegmentLowering(const GraphView& model, const Partition& partition)
        : model_(model), partition_(partition) {}

    RegisterNetwork run(std::span<const std::size_t> groups, std::span<const std::string> outputs) {
        lowered_.network.precision = map_precision(model_.graph());
        find_inputs(groups);
        for (const std::size_t index : groups) {
            const NodeGroup& group = partition_.groups[index];
            const auto& lowered = std::any_cast<const Layer&>(group.lowered);
            lowered_.layers.emplace_back();
            std::vector<std::string>& reads = lowered_.reads.emplace_back();
            for (const GroupRead& read : group.reads) {
                reads.push_back(layer_of(read));
            }
            const bool joins = group.reads.size() > 1 && !group.layer;
            joins ? add_joining(group, group.reads, lowered) : add_layer(group, lowered);
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
        const bool wide = lowered_.network.precision != Precision::Int8;
        return wide ? 0 : stored_zero(model_.ranges().at(tensor).range);
    }
    std::string root(const std::string& tensor) const {
        return root_of(model_, partition_, tensor);
    }

    /// What no preceding group produces in the shape that is read. Inputs come before all layers.
    void find_inputs(std::span<const std::size_t> groups) {
        std::map<std::string, Sizes> given;
        for (const std::size_t index : groups) {
            const NodeGroup& group = partition_.groups[index];
            for (const GroupRead& read : group.reads) {
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
            given[group.output] = group.cube;
        }
    }
    void add_input(const GroupRead& read) {
        const auto size = [&](std::size_t i) { return static_cast<std::uint32_t>(read.cube[i]); };
        const std::int32_t zero = zero_of(read.tensor);
        if (lowered_.inputs.empty()) {
            lowered_.network.input.channels = size(1);
            lowered_.network.input.height = size(2);
            lowered_.network.input.width = size(3);
            lowered_.inputs.push_back({read.tensor, "input", read.cube, read.node, zero});
            if (zero == 128) {  // which the NPU subtracts from pixels itself
                lowered_.network.input.type = InputType::Uint8;
            }
            return;
        }
        Layer layer;
        layer.name = names_.of(read.tensor);
        layer.kind = LayerKind::Input;
        layer.output = fmt::format("{}x{}x{}", size(1), size(2), size(3));
        lowered_.inputs.push_back({read.tensor, layer.name, read.cube, read.node, zero});
        push(std::move(layer));
    }

    void add_layer(const NodeGroup& group, Layer layer) {
        layer.name = names_.of(group.name);
        layer.from = {layer_of(group.reads[0])};
        sources_[group.output] = {layer.name, group.cube, group.last_node()};
        Layer sum;
        sum.kind = LayerKind::Add;
        sum.relu = layer.numbers && layer.numbers->relu_after_join;
        push_work(std::move(layer));
        if (group.has_residual()) {  // added to the convolution's result
            const std::size_t node = group.layer->norm.residual_node;
            add_joining(group, {{group.output, group.cube, node}, group.reads[1]}, std::move(sum));
        }
    }

    void add_joining(const NodeGroup& group, const std::vector<GroupRead>& terms, Layer layer) {
        layer.name = names_.of(node_name(model_.graph().nodes[terms.front().node]));
        for (const GroupRead& term : terms) {
            layer.from.push_back(layer_of(term));
        }
        sources_[group.output] = {layer.name, group.cube, group.last_node()};
        push_work(std::move(layer));
    }

    void push_work(Layer layer) {
        lowered_.layers.back().push_back(layer.name);
        push(std::move(layer));
    }
    /// A layer without work for the stages gets neutral values.
    void push(Layer layer) {
        if (!layer.numbers) {
            layer.numbers.emplace();
        }
        lowered_.network.layers.push_back(std::move(layer));
    }

    std::string layer_of(const GroupRead& read) const {
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

    const GraphView& model_;
    const Partition& partition_;
    RegisterNetwork lowered_;
    LayerNames names_;
    std::map<std::string, Source> sources_;
};

}  // namespace

RegisterNetwork register_network(const GraphView& model, const Partition& partition,
                                 std::size_t index) {
    const Segment& segment = partition.segments[index];
    RegisterNetwork lowered =
        SegmentLowering(model, partition).run(segment.groups, segment.outputs);
    Network& network = lowered.network;
    network.name = model.graph().name.empty() ? "model" : model.graph().name;
    if (partition.segments.size() > 1 || !partition.is_whole()) {
        network.name += fmt::format("_segment_{}", index + 1);
    }
    network.file = model.graph().file;
    return lowered;
}

}  // namespace npuscope
