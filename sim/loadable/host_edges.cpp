// SPDX-License-Identifier: Apache-2.0
#include "sim/loadable/host_edges.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/base/error.h"
#include "sim/model/onnx_reader.h"
#include "sim/model/onnx_writer.h"

namespace npuscope {
namespace {

constexpr const char* blob_name = "npuscope.host.onnx";
// constants of the edges' graph that no node reads
constexpr const char* zeros_name = "npuscope.zeros";    // of the loadable's inputs, then outputs
constexpr const char* counts_name = "npuscope.counts";  // of its inputs and outputs
constexpr const char* ends_name =
    "npuscope.ends";  // cumulative counts of both at the end of each submit
constexpr const char* ranges_name = "npuscope.ranges";  // of the model's outputs: known, low, high

GraphValue integers(std::vector<double> numbers) {
    return {{ElementType::Int64, {static_cast<std::int64_t>(numbers.size())}}, std::move(numbers)};
}

/// Pixels are stored unchanged.
std::int32_t zero_of(const SegmentTensor& input, const PlannedSegment& segment) {
    const bool pixels = input.layer == "input" && segment.plan.input.pixels &&
                        segment.lowered.network.input.type == InputType::Uint8;
    return pixels ? 0 : input.zero;
}

std::string stored_name(std::size_t index) { return fmt::format("npuscope.stored.{}", index); }

class EdgesWriter {
 public:
    EdgesWriter(const Graph& graph, const SegmentedPlan& plan) : graph_(graph), plan_(plan) {}

    Graph write() {
        edges_.name = graph_.name;
        edges_.opset = graph_.opset;
        edges_.inputs = graph_.inputs;
        edges_.outputs = graph_.outputs;
        for (const auto* names : {&graph_.inputs, &graph_.outputs}) {
            for (const std::string& name : *names) {
                edges_.types[name] = graph_.types.at(name);
            }
        }
        std::vector<double> zeros;
        for (const PlannedSegment& segment : plan_.segments) {
            for (const SegmentTensor& input : segment.lowered.inputs) {
                zeros.push_back(zero_of(input, segment));
            }
        }
        for (const PlannedSegment& segment : plan_.segments) {
            for (const SegmentTensor& output : segment.lowered.outputs) {
                zeros.push_back(output.zero);
                edges_.inputs.push_back(output.tensor);
                edges_.types[output.tensor] = graph_.types.at(output.tensor);
            }
        }
        add_nodes();
        std::vector<double> ends;
        std::size_t inputs = 0;
        std::size_t outputs = 0;
        for (const PlannedSegment& segment : plan_.segments) {
            add_stored(segment, inputs);
            inputs += segment.lowered.inputs.size();
            outputs += segment.lowered.outputs.size();
            ends.insert(ends.end(), {static_cast<double>(inputs), static_cast<double>(outputs)});
        }
        edges_.constants[counts_name] =
            integers({static_cast<double>(inputs), static_cast<double>(outputs)});
        edges_.constants[ends_name] = integers(ends);
        edges_.constants[zeros_name] = integers(zeros);
        edges_.constants[ranges_name] = integers(ranges());
        for (const auto& [name, value] : edges_.constants) {
            edges_.types[name] = value.type;
        }
        return std::move(edges_);
    }

 private:
    void add_nodes() {
        for (const PartitionStep& step : plan_.partition.steps) {
            if (step.segment) {
                continue;
            }
            const GraphNode& node = graph_.nodes[step.node];
            edges_.nodes.push_back(node);
            for (const std::string& input : node.inputs) {
                keep_constant(input);
            }
        }
        for (const std::string& output : graph_.outputs) {
            keep_constant(output);
        }
    }
    void keep_constant(const std::string& tensor) {
        if (const GraphValue* value = graph_.constant(tensor)) {
            edges_.constants[tensor] = *value;
        }
    }
    /// A loadable's input may be one of the model's: separate names make them outputs of a node.
    void add_stored(const PlannedSegment& segment, std::size_t first) {
        for (std::size_t i = 0; i < segment.lowered.inputs.size(); ++i) {
            const std::string& tensor = segment.lowered.inputs[i].tensor;
            const std::string name = stored_name(first + i);
            GraphNode node;
            node.op = "Identity";
            node.name = name;
            node.inputs = {tensor};
            node.outputs = {name};
            edges_.nodes.push_back(std::move(node));
            edges_.outputs.push_back(name);
            edges_.types[name] = graph_.types.at(tensor);
        }
    }
    std::vector<double> ranges() const {
        std::vector<double> numbers;
        for (const std::string& output : graph_.outputs) {
            const auto found = plan_.ranges.find(output);
            const bool known = found != plan_.ranges.end() && found->second.whole &&
                               !found->second.assumed && fits_bits(found->second.range, 8);
            numbers.push_back(known ? 1 : 0);
            numbers.push_back(known ? found->second.range.low : 0);
            numbers.push_back(known ? found->second.range.high : 0);
        }
        return numbers;
    }

    const Graph& graph_;
    const SegmentedPlan& plan_;
    Graph edges_;
};

/// Removes one of our constants from the graph.
std::vector<double> take(Graph& graph, const char* name, const std::string& file) {
    const auto found = graph.constants.find(name);
    if (found == graph.constants.end()) {
        throw ConfigError(Place{file}, fmt::format("blob '{}' has no '{}'", blob_name, name),
                          "plan the loadable again");
    }
    std::vector<double> numbers = std::move(found->second.numbers);
    graph.constants.erase(found);
    return numbers;
}

}  // namespace

LoadableBlob host_edges_blob(const Graph& graph, const SegmentedPlan& plan,
                             const std::string& version) {
    const std::string bytes = onnx_bytes(EdgesWriter(graph, plan).write(), version);
    LoadableBlob blob;
    blob.name = blob_name;
    blob.data.assign(bytes.begin(), bytes.end());
    return blob;
}

std::optional<HostEdges> read_host_edges(const Loadable& loadable, const std::string& file) {
    const LoadableBlob* blob = loadable.blob(blob_name);
    if (blob == nullptr) {
        return std::nullopt;
    }
    HostEdges edges;
    edges.graph = parse_onnx({blob->data.begin(), blob->data.end()}, file);
    Graph& graph = edges.graph;
    const std::vector<double> counts = take(graph, counts_name, file);
    const std::vector<double> zeros = take(graph, zeros_name, file);
    const std::vector<double> ranges = take(graph, ranges_name, file);
    const std::vector<double> ends = take(graph, ends_name, file);
    const auto fits = [](double count, std::size_t size) {
        return count >= 0 && count <= static_cast<double>(size);
    };
    const bool whole = counts.size() == 2 && fits(counts[0], graph.outputs.size()) &&
                       fits(counts[1], graph.inputs.size()) &&
                       static_cast<double>(zeros.size()) == counts[0] + counts[1];
    const auto inputs = whole ? static_cast<std::size_t>(counts[0]) : 0;
    const auto outputs = whole ? static_cast<std::size_t>(counts[1]) : 0;
    for (std::size_t i = 0; whole && i + 1 < ends.size(); i += 2) {
        const bool fit =
            ends[i] >= 0 && ends[i] <= counts[0] && ends[i + 1] >= 0 && ends[i + 1] <= counts[1];
        edges.ends.emplace_back(fit ? static_cast<std::size_t>(ends[i]) : inputs + 1,
                                fit ? static_cast<std::size_t>(ends[i + 1]) : outputs);
    }
    const bool ordered =
        !edges.ends.empty() && edges.ends.back() == std::pair{inputs, outputs} &&
        std::ranges::is_sorted(edges.ends, {}, &std::pair<std::size_t, std::size_t>::first) &&
        std::ranges::is_sorted(edges.ends, {}, &std::pair<std::size_t, std::size_t>::second);
    if (!whole || !ordered || ranges.size() != 3 * (graph.outputs.size() - inputs)) {
        throw ConfigError(Place{file},
                          fmt::format("blob '{}' contradicts itself: its counts do not fit its "
                                      "graph",
                                      blob_name),
                          "plan the loadable again");
    }
    const auto split = [&](std::vector<std::string>& names, std::size_t count, std::size_t first,
                           std::vector<EdgeTensor>& tensors) {
        const std::size_t own = names.size() - count;
        for (std::size_t i = 0; i < count; ++i) {
            tensors.push_back({names[own + i], static_cast<std::int32_t>(zeros[first + i])});
        }
        names.resize(own);
    };
    split(graph.outputs, inputs, 0, edges.inputs);
    split(graph.inputs, outputs, inputs, edges.outputs);
    for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
        if (ranges[3 * i] != 0) {
            edges.ranges[graph.outputs[i]] = {true, {ranges[3 * i + 1], ranges[3 * i + 2]}, false};
        }
    }
    return edges;
}

}  // namespace npuscope
