// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/layer_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ostream>

#include "sim/config/file_io.h"
#include "sim/config/override_field.h"
#include "sim/config/preset.h"
#include "sim/config/yaml_writer.h"
#include "sim/model/graph.h"
#include "sim/model/onnx_reader.h"
#include "sim/model/prepare_graph.h"
#include "sim/report/explain_report.h"
#include "sim/report/layer_report.h"
#include "sim/report/layer_timeline.h"

namespace npuscope {
namespace {

LayerSystem read_changed_system(const SystemArguments& arguments) {
    LayerSystem system = read_layer_system(configs_folder(), arguments.npu, arguments.memory);
    for (const std::string& change : arguments.changes) {
        override_field(system, change);
    }
    return system;
}

Graph read_model(const std::string& network) {
    if (is_network_file(network)) {
        return finish_graph(network_graph(read_network(network)));
    }
    if (!is_onnx_file(network)) {
        throw ConfigError(fmt::format("'{}' is no network that this NPU could run", network),
                          "it runs ONNX models (.onnx) and shape tables (.yaml)");
    }
    return load_graph(network);
}

/// Names of tensors may have slashes, names of files may not.
std::filesystem::path npy_path(const std::filesystem::path& folder, std::string tensor) {
    std::replace(tensor.begin(), tensor.end(), '/', '_');
    return folder / (tensor + ".npy");
}

std::map<std::string, GraphValue> read_inputs(const Graph& graph, const std::string& folder) {
    std::map<std::string, GraphValue> inputs;
    for (const std::string& name : graph.inputs) {
        inputs[name] = read_npy(npy_path(folder, name));
    }
    return inputs;
}

void write_reports(const LayerArguments& arguments, const LayerResult& result,
                   const Console& console) {
    const bool json_on_out = arguments.json == "-";
    const std::string json = layer_json(result);
    const std::string summary = layer_summary(result);
    if (!arguments.out.empty()) {
        const std::filesystem::path folder = arguments.out;
        write_atomically(folder / "result.json", json);
        write_atomically(folder / "summary.txt", summary);
        write_atomically(folder / "config.yaml", write_yaml(result.system));
    }
    if (json_on_out) {
        console.out << json;
    } else if (!arguments.json.empty()) {
        write_atomically(arguments.json, json);
    }
    if (!arguments.timeline.empty()) {
        write_atomically(arguments.timeline, layer_timeline(result));
    }
    for (const auto& [name, value] : result.run.outputs) {
        if (!arguments.outputs.empty()) {
            write_atomically(npy_path(arguments.outputs, name), npy_bytes(value));
        }
    }
    (json_on_out ? console.err : console.out) << summary;
}

}  // namespace

bool names_layer_npu(const std::string& npu) {
    const PresetFile preset = find_preset(configs_folder(), "npu", npu);
    return family_of(read_preset_text(preset), preset.shown) == NpuFamily::Tinpu;
}

ExitCode run_layer_network(const LayerArguments& arguments, const Console& console) {
    const auto begin = std::chrono::steady_clock::now();
    const LayerSystem system = read_changed_system(arguments.system);
    const Graph graph = read_model(arguments.network);
    const LayerPlan plan = plan_layers(graph, system.npu, system.memory);
    const bool values = arguments.values && !arguments.inputs.empty();
    if (!values && !arguments.outputs.empty()) {
        throw ConfigError("there are no inputs to compute outputs from",
                          "name their folder: --inputs DIR");
    }
    std::map<std::string, GraphValue> inputs;
    if (values) {
        inputs = read_inputs(graph, arguments.inputs);
    }
    LayerResult result{arguments.network,
                       graph,
                       plan,
                       system,
                       run_layers(graph, plan, system.npu, inputs,
                                  {values, !arguments.timeline.empty(), arguments.max_cycles}),
                       0,
                       values};
    result.wall_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    write_reports(arguments, result, console);
    return result.run.status() == RunStatus::Pass ? ExitCode::Good : ExitCode::ExpectationFailed;
}

ExitCode plan_layer_network(const LayerArguments& arguments, const Console& console) {
    const LayerSystem system = read_changed_system(arguments.system);
    const Graph graph = read_model(arguments.network);
    const LayerPlan plan = plan_layers(graph, system.npu, system.memory);
    const std::string text = explain_report(graph, plan, system.npu);
    if (!arguments.out.empty()) {
        write_atomically(std::filesystem::path(arguments.out) / "plan.txt", text);
    }
    console.out << text;
    return ExitCode::Good;
}

}  // namespace npuscope
