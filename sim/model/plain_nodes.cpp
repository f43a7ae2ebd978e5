// SPDX-License-Identifier: Apache-2.0
// Nodes that exporters write in several forms, in one: copies are left out, a mean over all of a
// map is a global pool, a maximum over all of it a pool, and averages are over maps, with explicit
// padding.
#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "sim/model/graph_edit.h"
#include "sim/model/operator_parts.h"
#include "sim/model/prepare_graph.h"
#include "sim/model/window.h"

namespace npuscope {
namespace {

/// Identity, or Dropout as it computes outside of training.
bool copies(const Graph& graph, const GraphNode& node) {
    if (node.op != "Identity" && node.op != "Dropout") {
        return false;
    }
    const std::string& training = node.input(2);
    const GraphValue* trains = graph.constant(training);
    const bool infers =
        training.empty() || (trains != nullptr && trains->numbers == std::vector<double>{0});
    return infers && node.outputs.size() == 1 && !graph.is_constant(node.inputs.front()) &&
           is_float(graph.types.at(node.outputs.front()).element);
}

void drop_copies(Graph& graph) {
    std::map<std::string, std::string> sources;  // of the copies
    std::erase_if(graph.nodes, [&](GraphNode& node) {
        for (std::string& input : node.inputs) {
            const auto source = sources.find(input);
            input = source == sources.end() ? input : source->second;
        }
        const bool dropped =
            copies(graph, node) &&
            std::ranges::find(graph.outputs, node.outputs.front()) == graph.outputs.end();
        if (dropped) {
            sources[node.outputs.front()] = node.inputs.front();
        }
        return dropped;
    });
}

/// Whether a ReduceMean is over height and width.
bool is_mean_of_map(const Graph& graph, const GraphNode& node) {
    if (node.op != "ReduceMean" || graph.types.at(node.inputs.front()).sizes.size() != 4 ||
        !is_float(graph.types.at(node.inputs.front()).element)) {
        return false;
    }
    return host::reduced_axes(graph, node) == Sizes{2, 3};
}

std::vector<GraphNode> global_pool(const Graph& graph, const GraphNode& node) {
    if (!is_mean_of_map(graph, node)) {
        return {};
    }
    GraphNode pool{"GlobalAveragePool", node.name, {node.inputs.front()}, node.outputs, {}};
    if (node.integer("keepdims", 1) != 0) {
        return {pool};
    }
    const std::string& result = node.outputs.front();
    pool.outputs = {result + "/map"};
    return {pool, {"Flatten", result + "/flat", pool.outputs, {result}, {}}};
}

void name_max_pools(Graph& graph) {
    for (GraphNode& node : graph.nodes) {
        if (node.op == "GlobalMaxPool" && graph.types.at(node.inputs.front()).sizes.size() == 4) {
            const Sizes& sizes = graph.types.at(node.inputs.front()).sizes;
            node.op = "MaxPool";
            node.attributes["kernel_shape"] =
                std::vector<std::int64_t>(sizes.begin() + 2, sizes.end());
        }
    }
}

/// The padding of averages as their attribute states it, and sizes that are rounded up only where
/// that adds a window.
void resolve_averages(Graph& graph) {
    for (GraphNode& node : graph.nodes) {
        if (node.op != "AveragePool" || node.has(unread_attribute)) {
            continue;
        }
        const Window window = pool_window(node, graph.types.at(node.inputs.front()).sizes);
        if (node.attributes.erase("auto_pad") != 0) {
            std::vector<std::int64_t> pads;
            for (const auto pad : {&WindowAxis::pad_begin, &WindowAxis::pad_end}) {
                std::ranges::transform(window.axes, std::back_inserter(pads), pad);
            }
            node.attributes["pads"] = std::move(pads);
        }
        if (std::ranges::none_of(window.axes, &WindowAxis::overhangs)) {
            node.attributes.erase("ceil_mode");
        }
    }
}

/// The attribute of a window over a line as one over its map of one column.
void add_column(GraphNode& node, const char* attribute, std::int64_t number) {
    if (node.has(attribute)) {
        std::vector<std::int64_t> numbers = node.integers(attribute);
        if (numbers.size() == 2) {
            numbers.insert(numbers.begin() + 1, number);
        }
        numbers.push_back(number);
        node.attributes[attribute] = std::move(numbers);
    }
}

/// An average over a line as one over a map of one column.
std::vector<GraphNode> column_pool(Graph& graph, GraphNode node) {
    const bool pools = node.op == "AveragePool" || node.op == "GlobalAveragePool";
    if (!pools || graph.types.at(node.inputs.front()).sizes.size() != 3) {
        return {};
    }
    const auto reshape = [&](const std::string& from, const std::string& to, const Sizes& sizes) {
        const std::string shape = to + "/shape";
        graph.constants[shape] = integer_list(sizes);
        return GraphNode{"Reshape", to + "/reshape", {from, shape}, {to}, {}};
    };
    Sizes map = graph.types.at(node.inputs.front()).sizes;
    map.push_back(1);
    const std::string result = node.outputs.front();
    const GraphNode before = reshape(node.inputs.front(), result + "/column", map);
    node.inputs = {result + "/column"};
    node.outputs = {result + "/pooled"};
    for (const auto& [attribute, number] : {std::pair("kernel_shape", 1), std::pair("strides", 1),
                                            std::pair("dilations", 1), std::pair("pads", 0)}) {
        add_column(node, attribute, number);
    }
    return {before, std::move(node),
            reshape(result + "/pooled", result, graph.types.at(result).sizes)};
}

/// A part of a Split: `bounds` are its begin and end.
GraphNode slice_of(Graph& graph, const GraphNode& split, const std::string& part,
                   std::pair<std::int64_t, std::int64_t> bounds, std::int64_t axis) {
    GraphNode slice{"Slice", part + "/slice", {split.inputs.front()}, {part}, {}};
    const auto operand = [&](const char* name, std::int64_t number) {
        slice.inputs.push_back(slice.name + '/' + name);
        graph.constants[slice.inputs.back()] = integer_list({number});
    };
    operand("begin", bounds.first);
    operand("end", bounds.second);
    operand("axis", axis);
    return slice;
}

std::vector<GraphNode> slices(Graph& graph, const GraphNode& node) {
    if (node.op != "Split" || !is_float(graph.types.at(node.inputs.front()).element)) {
        return {};
    }
    const std::int64_t axis = node.integer("axis", 0);
    const std::size_t at = host::axis_index(axis, graph.types.at(node.inputs.front()).sizes.size());
    std::vector<GraphNode> parts;
    std::int64_t begin = 0;
    for (const std::string& part : node.outputs) {
        const std::int64_t end = begin + (part.empty() ? 0 : graph.types.at(part).sizes[at]);
        if (!part.empty()) {
            parts.push_back(slice_of(graph, node, part, {begin, end}, axis));
        }
        begin = end;
    }
    return parts;
}

}  // namespace

void slice_parts(Graph& graph) { replace_each(graph, slices); }

void use_plain_nodes(Graph& graph) {
    drop_copies(graph);
    replace_each(graph, global_pool);
    name_max_pools(graph);
    resolve_averages(graph);
    replace_each(graph, column_pool);
}

}  // namespace npuscope
