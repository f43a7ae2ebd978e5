// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/loadable_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "models/base/error.h"
#include "sim/config/file_name.h"
#include "sim/loadable/tensor_bytes.h"

namespace npuscope {
namespace {

void check(std::size_t one, std::size_t other) {
    if (one != other) {
        throw ConfigError("the loadable's tensors do not match its embedded host model",
                          "plan the loadable again");
    }
}

ByteRun bytes_of(const BoundTensor& bound) { return {bound.address, Bytes(bound.tensor.size)}; }

}  // namespace

LoadableHost::LoadableHost(HostEdges edges, std::size_t submits)
    : edges_(std::move(edges)), values_(edges_.graph, edges_.ranges) {
    check(edges_.ends.size(), submits);
}

LoadableInputs LoadableHost::read(const std::vector<BoundTensor>& tensors,
                                  const NetworkFiles& files) {
    const Graph& graph = edges_.graph;
    const Case inputs = files.inputs.empty()
                            ? zero_inputs()
                            : named_case(InputReader(graph, files.model.pixels), files.inputs);
    for (const std::string& name : graph.inputs) {
        values_.take_input(name, inputs);
    }
    evaluate();
    check(tensors.size(), edges_.inputs.size());
    LoadableInputs bytes;
    for (std::size_t i = 0; i < edges_.ends.front().first; ++i) {
        bytes[i] = input_bytes(tensors.at(i));
    }
    return bytes;
}

RunNode LoadableHost::before(std::size_t submit, const LoadableProgram& made) {
    check(made.inputs.size(), edges_.inputs.size());
    check(made.outputs.size(), edges_.outputs.size());
    const auto part = [](const std::vector<BoundTensor>& all, std::size_t first, std::size_t end) {
        const auto begin = all.begin();
        return std::vector(begin + static_cast<std::ptrdiff_t>(first),
                           begin + static_cast<std::ptrdiff_t>(end));
    };
    const auto& [inputs_before, outputs_before] = edges_.ends.at(submit - 1);
    const std::size_t outputs_known = submit > 1 ? edges_.ends[submit - 2].second : 0;
    const auto outputs = part(made.outputs, outputs_known, outputs_before);
    const auto inputs = part(made.inputs, inputs_before, edges_.ends.at(submit).first);
    RunNode node{.name = fmt::format("host_before_submit_{}", submit)};
    for (const BoundTensor& output : outputs) {
        node.reads.push_back(bytes_of(output));
    }
    for (const BoundTensor& input : inputs) {
        node.writes.push_back(bytes_of(input));
    }
    node.work = [self = shared_from_this(), inputs, outputs](HostMemory& memory) {
        for (const BoundTensor& output : outputs) {
            std::vector<std::uint8_t> bytes(output.tensor.size);
            memory.read(output.address, bytes);
            self->put_output(output.bind_id, tensor_value(output, bytes));
        }
        self->evaluate();
        for (const BoundTensor& input : inputs) {
            memory.load(input.address, self->input_bytes(input));
        }
    };
    return node;
}

Case LoadableHost::finish(const std::vector<GraphValue>& outputs) {
    const Graph& graph = edges_.graph;
    check(outputs.size(), edges_.outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        put_output(i, outputs[i]);
    }
    evaluate();
    Case results;
    for (const std::string& output : graph.outputs) {
        results[output] = values_.stored(output, std::nullopt);
    }
    return results;
}

Case LoadableHost::zero_inputs() const {
    Case one;
    for (const std::string& name : edges_.graph.inputs) {
        one[name] = zeros(edges_.graph.types.at(name));
    }
    return one;
}

Case LoadableHost::named_case(const InputReader& reader, const std::string& path) const {
    const bool folder = std::filesystem::is_directory(path);
    const auto named = [&](const std::string& name) {
        return InputReader::find(name, path).has_value();
    };
    if (folder && std::ranges::any_of(edges_.graph.inputs, named)) {
        Case one;
        for (const std::string& name : edges_.graph.inputs) {
            const auto file = InputReader::find(name, path);
            one[name] = reader.read(
                name, file ? *file : std::filesystem::path(path) / file_name(name, ".npy"));
        }
        return one;
    }
    std::vector<Case> cases = reader.cases(path);
    if (cases.size() != 1) {
        throw ConfigError(fmt::format("'{}' holds {} inputs", path, cases.size()),
                          "a loadable takes one at a time");
    }
    return std::move(cases.front());
}

std::vector<std::uint8_t> LoadableHost::input_bytes(const BoundTensor& bound) {
    const EdgeTensor& edge = edges_.inputs.at(bound.bind_id);
    GraphValue value{tensor_type(bound.tensor), values_.at(edge.tensor).numbers};
    for (double& number : value.numbers) {
        number -= edge.zero;
    }
    check(value.numbers.size(), count_elements(value.type.sizes));
    return tensor_bytes(bound, value);
}

void LoadableHost::put_output(std::size_t index, const GraphValue& output) {
    const EdgeTensor& edge = edges_.outputs[index];
    if (!known_.insert(edge.tensor).second) {
        return;
    }
    GraphValue value{edges_.graph.types.at(edge.tensor), output.numbers};
    for (double& number : value.numbers) {
        number += edge.zero;
    }
    check(value.numbers.size(), count_elements(value.type.sizes));
    values_.put(edge.tensor, std::move(value));
}

void LoadableHost::evaluate() {
    const Graph& graph = edges_.graph;
    known_.insert(graph.inputs.begin(), graph.inputs.end());
    for (const GraphNode& node : graph.nodes) {
        const bool ready = std::ranges::all_of(node.inputs, [&](const std::string& input) {
            return input.empty() || graph.is_constant(input) || known_.contains(input);
        });
        if (ready && !known_.contains(node.outputs.front())) {
            values_.evaluate(node);
            known_.insert(node.outputs.begin(), node.outputs.end());
        }
    }
}

}  // namespace npuscope
