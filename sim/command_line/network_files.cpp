// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/network_files.h"

#include <fmt/format.h>

#include "models/base/error.h"
#include "sim/plan/network_planner.h"
#include "sim/plan/plan_program.h"
#include "sim/surface/surface_files.h"

namespace npuscope {

Result run_network_files(const std::string& network, const NetworkFiles& files,
                         const SystemConfig& system, RunOptions options) {
    if (!is_network_file(network)) {
        throw ConfigError(fmt::format("'{}' is no network", network),
                          "--inputs and --outputs belong to networks");
    }
    if (!options.values) {
        throw ConfigError("--inputs and --outputs need values", "leave out --values off");
    }
    const Network table = read_network(network);
    Plan plan = plan_network(table, {system.npu, system.memory, true});
    const NetworkSurfaces surfaces = network_surfaces(table, plan, system.npu.surfaces);
    if (!files.inputs.empty()) {
        load_input(surfaces, files.inputs, plan);
    }
    if (!files.outputs.empty()) {
        options.keep = {surfaces.output};
    }
    Result result = run_program(plan_program(std::move(plan)), system, options);
    if (!files.outputs.empty() && result.status() == RunStatus::Pass) {
        save_output(surfaces, result.kept.front(), files.outputs);
    }
    return result;
}

}  // namespace npuscope
