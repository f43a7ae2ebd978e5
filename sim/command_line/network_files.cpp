// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/network_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/base/error.h"
#include "sim/layers/load_graph.h"
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
    surfaces.outputs.front().name = file_name(ends.output);
    surfaces.outputs.front().extents.assign(ends.output_sizes.begin(), ends.output_sizes.end());
}

}  // namespace

bool names_network(const std::string& path) { return is_network_file(path) || is_onnx_file(path); }

LoadedNetwork load_network(const std::string& path) {
    if (!is_onnx_file(path)) {
        return {read_network(path)};
    }
    RegisterNetwork lowered = register_network(load_graph(path));
    return {std::move(lowered.network), std::move(lowered.ends)};
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
    const auto [table, ends] = load_network(network);
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
