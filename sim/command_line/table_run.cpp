// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/table_run.h"

#include <optional>

#include "sim/command_line/layer_comparison.h"
#include "sim/command_line/plan_runs.h"
#include "sim/compile/nvdla/network_planner.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/compile/nvdla/plan_program.h"
#include "sim/compile/surface_files.h"
#include "sim/model/network.h"

namespace npuscope {

Result run_table(const std::string& network, const NetworkFiles& files, const SystemConfig& system,
                 const PlanChoices& choices, RunOptions options, SurfaceQueries* queries) {
    options.check = false;
    const Network table = read_network(network);
    PlanTarget target = choices.target(system, options.values);
    target.alternatives = false;
    if (files.split != NetworkSplit::Batch) {
        const auto plan_for = [&](std::uint32_t parts) {
            target.parts = parts;
            return plan_network(table, target);
        };
        return run_shared(files.split, plan_for, system, options);
    }
    Plan plan = plan_network(table, target);
    std::optional<StreamRecord> stream;
    if (files.stream > 0) {
        stream = simulate_stream(plan, files.stream, choices.target(system, false), system,
                                 options.max_cycles);
    }
    NetworkSurfaces surfaces;
    if (files.any()) {
        surfaces = network_surfaces(table, plan, nvdla_npu(system).surfaces);
    }
    if (!files.inputs.empty()) {
        load_inputs(surfaces, files.inputs, plan);
    }
    std::size_t outputs = 0;
    if (!files.outputs.empty()) {
        for (const ByteRun& run : surfaces.output_bytes()) {
            options.keep.push_back({run});
        }
        outputs = options.keep.size();
    }
    if (queries != nullptr) {
        const std::vector<NamedSurface> named = plan_surfaces(plan);
        queries->ask(named, options);
        if (queries->wishes().compare_layers) {
            const bool given = !files.inputs.empty();
            queries->expect(table_expectations(table, plan, named, given), options);
        }
    }
    Result result = run_program(plan_program(std::move(plan)), system, options);
    result.stream = stream;
    if (queries != nullptr) {
        queries->answer(result);
    }
    if (!files.outputs.empty() && result.status() != RunStatus::Fail) {
        result.kept.resize(outputs);
        save_outputs(surfaces, result.kept, files.outputs);
    }
    return result;
}

}  // namespace npuscope
