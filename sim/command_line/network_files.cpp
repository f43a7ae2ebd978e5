// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/network_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "models/base/error.h"
#include "sim/compile/nvdla/network_planner.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/compile/nvdla/plan_program.h"
#include "sim/compile/partition.h"
#include "sim/compile/surface_files.h"
#include "sim/config/file_io.h"
#include "sim/model/onnx_reader.h"
#include "sim/model/prepare_graph.h"

namespace npuscope {
namespace {

/// Names of tensors may have slashes, names of files may not.
std::filesystem::path npy_path(const std::filesystem::path& folder, std::string tensor) {
    std::ranges::replace(tensor, '/', '_');
    return folder / (tensor + ".npy");
}

/// On an NPU without surfaces in files of their own: inputs and outputs are arrays.
Result run_arrays(const std::string& network, const NetworkFiles& files, const SystemConfig& system,
                  const RunOptions& options) {
    const Graph graph = read_any_network(network);
    const bool values = options.values && !files.inputs.empty();
    if (!values && !files.outputs.empty()) {
        throw ConfigError("there are no inputs to compute outputs from",
                          "name their folder: --inputs DIR");
    }
    GraphInputs inputs;
    for (const std::string& name : values ? graph.inputs : std::vector<std::string>{}) {
        inputs[name] = read_npy(npy_path(files.inputs, name));
    }
    const auto target = system.family->target(system.npu, system.memory, values);
    ModelResult run = run_model(
        target->plan(graph)->program(system.host, values ? &inputs : nullptr), system, options);
    if (!files.outputs.empty() && run.result.status() != RunStatus::Fail) {
        for (const auto& [name, value] : run.outputs) {
            write_atomically(npy_path(files.outputs, name), npy_bytes(value));
        }
    }
    return std::move(run.result);
}

}  // namespace

bool names_network(const std::string& path) { return is_network_file(path) || is_onnx_file(path); }

std::span<const RegisterBlock> registers_of_programs(const std::string& path,
                                                     const SystemConfig& system) {
    const FamilyRegisters registers = system.family->registers(system.npu);
    if (!registers.programs) {
        throw ConfigError(fmt::format("'{}' is not a network, and {} has no public registers", path,
                                      system.npu_name()),
                          "it runs ONNX models (.onnx) and shape tables (.yaml)");
    }
    return registers.blocks;
}

Graph read_any_network(const std::string& network) {
    if (is_network_file(network)) {
        return finish_graph(network_graph(read_network(network)));
    }
    if (!is_onnx_file(network)) {
        throw ConfigError(fmt::format("'{}' is not a network", network),
                          "networks are ONNX models (.onnx) and shape tables (.yaml)");
    }
    return load_graph(network);
}

Result run_network_files(const std::string& network, const NetworkFiles& files,
                         const SystemConfig& system, RunOptions options) {
    if (system.npu.find<NpuConfig>() == nullptr) {
        return run_arrays(network, files, system, options);
    }
    if (is_onnx_file(network)) {
        return run_model_files(network, files, system, options);
    }
    if (!is_network_file(network)) {
        throw ConfigError(fmt::format("'{}' is not a network", network),
                          "--inputs and --outputs belong to networks");
    }
    if (files.any() && !options.values) {
        throw ConfigError("--inputs and --outputs need values", "leave out --values off");
    }
    const Network table = read_network(network);
    Plan plan = plan_network(table, {nvdla_npu(system), system.memory, options.values});
    if (!files.any()) {
        return run_program(plan_program(std::move(plan)), system, options);
    }
    const NetworkSurfaces surfaces = network_surfaces(table, plan, nvdla_npu(system).surfaces);
    if (!files.inputs.empty()) {
        load_inputs(surfaces, files.inputs, plan);
    }
    if (!files.outputs.empty()) {
        options.keep = surfaces.output_bytes();
    }
    Result result = run_program(plan_program(std::move(plan)), system, options);
    if (!files.outputs.empty() && result.status() != RunStatus::Fail) {
        save_outputs(surfaces, result.kept, files.outputs);
    }
    return result;
}

}  // namespace npuscope
