// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/network_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/base/error.h"
#include "sim/convert/mapped_file.h"
#include "sim/convert/npy_file.h"
#include "sim/layers/load_graph.h"
#include "sim/lowering/stored_zero.h"
#include "sim/onnx/onnx_reader.h"
#include "sim/plan/network_planner.h"
#include "sim/plan/plan_program.h"
#include "sim/surface/surface_files.h"

namespace npuscope {
namespace {

/// Names of tensors may have slashes, names of files may not.
std::string file_name(std::string tensor) {
    std::ranges::replace(tensor, '/', '_');
    return tensor;
}

/// Files of a model are named after its tensors, and have their sizes.
void name_ends(const ModelEnds& ends, NetworkSurfaces& surfaces) {
    surfaces.inputs.front().name = file_name(ends.input);
    OutputSurface& output = surfaces.outputs.front();
    output.name = file_name(ends.output);
    output.extents.assign(ends.output_sizes.begin(), ends.output_sizes.end());
    output.type = ends.output_range.low >= 0 ? "uint8" : "int8";
    output.zero = stored_zero(ends.output_range);
}

/// What a model's input of floats holds: the file says so.
bool is_unsigned(const Graph& graph, const std::filesystem::path& folder) {
    if (graph.inputs.empty()) {
        return false;
    }
    const auto file = folder / (file_name(graph.inputs.front()) + ".npy");
    if (!std::filesystem::exists(file)) {
        return false;
    }
    const MappedInput mapped(file);
    return read_npy_header(mapped.bytes(), file.string()).type->name == "uint8";
}

LoadedNetwork lowered(const Graph& graph, bool unsigned_input) {
    RegisterNetwork model = register_network(graph, unsigned_input);
    return {std::move(model.network), std::move(model.ends)};
}

LoadedNetwork load_model(const std::string& path, const std::string& inputs) {
    const Graph graph = load_graph(path);
    return lowered(graph, !inputs.empty() && is_unsigned(graph, inputs));
}

}  // namespace

bool names_network(const std::string& path) { return is_network_file(path) || is_onnx_file(path); }

LoadedNetwork load_network(const std::string& path, InputType input) {
    return is_onnx_file(path) ? lowered(load_graph(path), input == InputType::Uint8)
                              : LoadedNetwork{read_network(path)};
}

Result run_network_files(const std::string& network, const NetworkFiles& files,
                         const SystemConfig& system, RunOptions options) {
    if (!names_network(network)) {
        throw ConfigError(fmt::format("'{}' is no network", network),
                          "--inputs and --outputs belong to networks");
    }
    if (!options.values) {
        throw ConfigError("--inputs and --outputs need values", "leave out --values off");
    }
    const auto [table, ends] =
        is_onnx_file(network) ? load_model(network, files.inputs) : load_network(network);
    Plan plan = plan_network(table, {system.npu, system.memory, true});
    NetworkSurfaces surfaces = network_surfaces(table, plan, system.npu.surfaces);
    if (ends) {
        name_ends(*ends, surfaces);
    }
    if (!files.inputs.empty()) {
        load_inputs(surfaces, files.inputs, plan);
    }
    if (!files.outputs.empty()) {
        options.keep = surfaces.output_bytes();
    }
    Result result = run_program(plan_program(std::move(plan)), system, options);
    if (!files.outputs.empty() && result.status() == RunStatus::Pass) {
        save_outputs(surfaces, result.kept, files.outputs);
    }
    return result;
}

}  // namespace npuscope
