// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/network_files.h"

#include <fmt/format.h>

#include "models/base/error.h"
#include "sim/compile/nvdla/network_planner.h"
#include "sim/compile/nvdla/plan_program.h"
#include "sim/compile/surface_files.h"
#include "sim/model/onnx_reader.h"

namespace npuscope {

bool names_network(const std::string& path) { return is_network_file(path) || is_onnx_file(path); }

Result run_network_files(const std::string& network, const NetworkFiles& files,
                         const SystemConfig& system, RunOptions options) {
    if (is_onnx_file(network)) {
        return run_model_files(network, files, system, options);
    }
    if (!is_network_file(network)) {
        throw ConfigError(fmt::format("'{}' is no network", network),
                          "--inputs and --outputs belong to networks");
    }
    if (files.any() && !options.values) {
        throw ConfigError("--inputs and --outputs need values", "leave out --values off");
    }
    const Network table = read_network(network);
    Plan plan = plan_network(table, {system.npu, system.memory, options.values});
    if (!files.any()) {
        return run_program(plan_program(std::move(plan)), system, options);
    }
    const NetworkSurfaces surfaces = network_surfaces(table, plan, system.npu.surfaces);
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
