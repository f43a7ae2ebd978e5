// SPDX-License-Identifier: Apache-2.0
// A quantised model layer by layer against tensors that another runtime stored: every layer gets
// the stored values, and its results are compared with the stored ones, in the form in which an NPU
// computes the model. An NPU computes the rewritten graph, bit by bit, as the tests ensure.
// scripts/layer_steps runs it over folders of models.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <map>

#include "sim/command_line/command.h"
#include "sim/config/file_io.h"
#include "sim/model/host_values.h"
#include "sim/model/onnx_reader.h"
#include "sim/model/prepare_graph.h"

namespace npuscope::bench {
namespace {

namespace fs = std::filesystem;

struct Arguments {
    std::string model;
    std::string form = "rounded";
    std::string inputs;
    std::string tensors;
    std::string outputs;
};

/// Arrays are named after the tensors, with these characters replaced.
fs::path array_of(const std::string& folder, std::string tensor, const std::string& letters,
                  char instead) {
    std::ranges::replace_if(
        tensor, [&](char letter) { return letters.find(letter) != std::string::npos; }, instead);
    return fs::path(folder) / (tensor + ".npy");
}

ScaleForm form_of(const std::string& name) {
    const std::map<std::string, ScaleForm> forms{{"exact", ScaleForm::Exact},
                                                 {"rounded", ScaleForm::Rounded},
                                                 {"twice", ScaleForm::RoundedTwice},
                                                 {"third", ScaleForm::RoundedThird},
                                                 {"folded", ScaleForm::Folded},
                                                 {"folded_twice", ScaleForm::FoldedTwice},
                                                 {"folded_near", ScaleForm::FoldedNear},
                                                 {"folded_real", ScaleForm::FoldedReal}};
    const auto found = forms.find(name);
    if (found == forms.end()) {
        throw ConfigError(
            fmt::format("'{}' is no form", name),
            "exact, rounded, twice, third, folded, folded_twice, folded_near or folded_real");
    }
    return found->second;
}

/// `tensor,operator,layer,elements,differ,worst` of a tensor.
std::string row(const GraphNode& node, const std::string& layer, const GraphValue& computed,
                const GraphValue& stored) {
    std::size_t differ = 0;
    double worst = 0;
    for (std::size_t i = 0; i < stored.numbers.size(); ++i) {
        const double steps = std::abs(computed.numbers[i] - stored.numbers[i]);
        differ += steps == 0 ? 0U : 1U;
        worst = std::max(worst, steps);
    }
    return fmt::format("{},{},{},{},{},{:.0f}\n", node.outputs.front(), node.op, layer,
                       stored.numbers.size(), differ, worst);
}

/// The rounded layer that a node belongs to: its name precedes the node's.
std::string layer_of(const Graph& graph, const GraphNode& node) {
    for (const RoundedLayer& layer : graph.rounded) {
        if (node.name == layer.name || node.name.starts_with(layer.name + '/')) {
            return layer.name;
        }
    }
    return "";
}

GraphValue stored_like(const GraphValue& computed, const fs::path& path) {
    GraphValue stored = read_npy(path);
    if (stored.type.sizes != computed.type.sizes) {
        throw ConfigError(
            fmt::format("'{}' is {}, the model's is {}", path.string(),
                        sizes_text(stored.type.sizes), sizes_text(computed.type.sizes)),
            "take the tensors of this model");
    }
    return stored;
}

/// `output,largest` difference of each output, where layers are given each other's results.
void compare_outputs(const Graph& graph, HostValues& values, const std::string& folder) {
    for (const GraphNode& node : graph.nodes) {
        values.evaluate(node);
    }
    std::cout << "output,largest\n";
    for (const std::string& output : graph.outputs) {
        const GraphValue& computed = values.at(output);
        const GraphValue stored = stored_like(computed, array_of(folder, output, "/", '_'));
        double largest = 0;
        for (std::size_t i = 0; i < stored.numbers.size(); ++i) {
            largest = std::max(largest, std::abs(computed.numbers[i] - stored.numbers[i]));
        }
        std::cout << fmt::format("{},{}\n", output, largest);
    }
}

void compare(const Arguments& arguments) {
    const Graph graph = finish_graph(read_onnx(arguments.model), form_of(arguments.form));
    HostValues values(graph, value_ranges(graph));
    std::map<std::string, GraphValue> inputs;
    for (const std::string& input : graph.inputs) {
        inputs[input] = read_npy(array_of(arguments.inputs, input, "/", '_'));
        values.take_input(input, inputs);
    }
    if (!arguments.outputs.empty()) {
        compare_outputs(graph, values, arguments.outputs);
        return;
    }
    std::cout << "tensor,operator,layer,elements,differ,worst\n";
    for (const GraphNode& node : graph.nodes) {
        values.evaluate(node);
        const std::string& output = node.outputs.front();
        const fs::path path = array_of(arguments.tensors, output, "/:", '.');
        if (!file_exists(path)) {
            continue;
        }
        GraphValue stored = stored_like(values.at(output), path);
        std::cout << row(node, layer_of(graph, node), values.at(output), stored);
        values.put(output, std::move(stored));
    }
}

}  // namespace
}  // namespace npuscope::bench

int main(int count, char** words) {
    using namespace npuscope;
    CLI::App app("Steps between a quantised model's layers and stored tensors.");
    bench::Arguments arguments;
    app.add_option("model", arguments.model, "ONNX model")->required();
    app.add_option(
           "--form", arguments.form,
           "exact, rounded (NPUs with registers), twice (those without the third stage "
           "of the SDP), third (those with it), folded, folded_twice or folded_near (TINPU), "
           "folded_real (a TINPU of real weights)")
        ->capture_default_str();
    app.add_option("--inputs", arguments.inputs, "folder of the model's inputs")->required();
    CLI::Option_group* stored = app.add_option_group("stored");
    stored->require_option(1);
    stored->add_option("--tensors", arguments.tensors,
                       "folder of its inner tensors, one array each");
    stored->add_option("--outputs", arguments.outputs,
                       "folder of its outputs: layers read each other's results");
    CLI11_PARSE(app, count, words);
    return static_cast<int>(guard(
        [&] {
            bench::compare(arguments);
            return ExitCode::Good;
        },
        std::cerr));
}
