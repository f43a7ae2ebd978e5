// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/shared_run.h"

#include <algorithm>
#include <utility>

#include "models/base/error.h"
#include "sim/command_line/plan_results.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/compile/nvdla/plan_program.h"
#include "sim/compile/nvdla/shared_plan.h"

namespace npuscope {
namespace {

/// What one NPU alone makes of the plan.
class Alone {
 public:
    /// As `options` have it, but for several instances and their timeline.
    Alone(const Plan& plan, const SystemConfig& system, RunOptions options) : options_(options) {
        options_.instances = 1;
        options_.timeline = false;
        options = options_;
        options.values = false;
        const Result timed = run_program(plan_program(without_images(plan)), system, options);
        cycles_ = timed.cycles;
        for (const LayerRecord& layer : timed.layers) {
            layer_cycles_.push_back(layer.cycles());
        }
    }

    /// The bytes of every layer's result.
    void compute(const Plan& plan, const SystemConfig& system) {
        maps_ = simulated_results(plan_program(plan), expected_results(plan), system, options_);
        crcs_ = crcs_of(maps_);
    }

    Cycles cycles() const { return cycles_; }
    const std::vector<Cycles>& layer_cycles() const { return layer_cycles_; }
    const std::vector<std::uint32_t>& crcs() const { return crcs_; }
    const std::vector<std::uint8_t>& map(std::size_t layer) const { return maps_[layer]; }

 private:
    RunOptions options_;
    Cycles cycles_;
    std::vector<Cycles> layer_cycles_;
    std::vector<std::uint32_t> crcs_;
    ResultBytes maps_;
};

/// A result is compared when all have come to the meeting after its layer.
void check_at_meetings(Program& program, const std::vector<ExpectedResult>& results,
                       const std::vector<std::uint32_t>& crcs) {
    std::vector<Statement> statements;
    std::size_t next = 0;
    for (Statement& statement : program.statements) {
        const bool meets = std::holds_alternative<MeetInstances>(statement.action);
        statements.push_back(std::move(statement));
        if (meets) {
            const ExpectedResult& one = results.at(next);
            statements.push_back({Place{one.layer, static_cast<unsigned>(next + 1), 0},
                                  CheckCrc{{}, one.memory, one.address, one.bytes, crcs.at(next)}});
            ++next;
        }
    }
    program.statements = std::move(statements);
}

std::vector<Program> programs_by_rows(const Plan& plan, const Alone& alone,
                                      const SystemConfig& system, const RunOptions& options) {
    std::vector<Program> programs;
    for (Plan& part : share_rows(plan, options.instances, nvdla_npu(system))) {
        programs.push_back(plan_program(std::move(part)));
        programs.back().surfaces.clear();  // of which others write a part
    }
    if (options.values) {
        check_at_meetings(programs.front(), expected_results(plan), alone.crcs());
    }
    return programs;
}

/// Maps of earlier parts that the part reads, as images.
void load_maps(Plan& part, const Plan& plan, const Alone& alone, std::size_t first_layer) {
    const std::size_t first = plan.layers[first_layer].first_operation;
    for (std::size_t i = 0; i < first_layer; ++i) {
        const PlannedLayer& layer = plan.layers[i];
        if (layer.last_reader < first || layer.readers == 0) {
            continue;
        }
        PlannedImage image{
            layer.name + "_input", layer.stored.cube.base, layer.stored.cube.extent(), {}};
        image.make_room();
        image.image.bytes = alone.map(i);
        part.images.push_back(std::move(image));
    }
}

std::vector<Program> programs_by_layers(const Plan& plan, const Alone& alone,
                                        const RunOptions& options) {
    std::vector<Program> programs;
    std::size_t first_layer = 0;
    for (Plan& part : share_layers(plan, alone.layer_cycles(), options.instances)) {
        const auto begin = static_cast<std::ptrdiff_t>(first_layer);
        const auto end = begin + static_cast<std::ptrdiff_t>(part.layers.size());
        const std::vector<ExpectedResult> results = expected_results(part);
        if (options.values) {
            load_maps(part, plan, alone, first_layer);
        }
        programs.push_back(plan_program(std::move(part)));
        if (options.values) {
            add_expectations(programs.back(), results,
                             {alone.crcs().begin() + begin, alone.crcs().begin() + end});
        }
        first_layer = static_cast<std::size_t>(end);
    }
    return programs;
}

}  // namespace

Result run_shared(NetworkSplit by, const PlanForParts& plan_for, const SystemConfig& system,
                  RunOptions options) {
    options.check = false;
    const bool rows = by == NetworkSplit::Rows;
    const Plan one = plan_for(1);
    if (one.sram > Bytes(0)) {
        throw ConfigError("NPUs that share a network share no SRAM",
                          "leave `surfaces` out of the memory's second region");
    }
    Alone alone(one, system, options);
    const Plan plan = rows ? plan_for(static_cast<std::uint32_t>(options.instances)) : one;
    if (options.values) {
        alone.compute(plan, system);
    }
    const std::vector<Program> programs = rows ? programs_by_rows(plan, alone, system, options)
                                               : programs_by_layers(plan, alone, options);
    Result result =
        run_together(programs, system, options, rows ? MemoryBytes::Shared : MemoryBytes::Own);
    SplitRecord split;
    split.by = by;
    split.alone = alone.cycles();
    for (InstanceRecord& instance : result.instances) {
        split.interval = std::max(split.interval, instance.cycles);
    }
    split.latency = rows ? split.interval : Cycles(split.interval.value * options.instances);
    result.split = split;
    result.cycles = split.interval;
    result.program = plan.name;
    return result;
}

}  // namespace npuscope
