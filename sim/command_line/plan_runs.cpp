// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/plan_runs.h"

#include <zlib.h>

#include <algorithm>
#include <utility>

#include "models/base/check.h"
#include "models/base/error.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/compile/nvdla/plan_program.h"
#include "sim/compile/nvdla/shared_plan.h"
#include "sim/compile/nvdla/streamed_plan.h"

namespace npuscope {
namespace {

/// The results of the plan on a single NPU.
class Alone {
 public:
    /// With `options`, except for several instances and their timeline.
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
        programs.back().surfaces.clear();  // other instances write a part of them
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
        throw ConfigError("NPUs that share a network cannot use SRAM",
                          "leave `surfaces` out of the memory's second region");
    }
    Alone alone(one, system, options);
    const Plan plan = rows ? plan_for(static_cast<std::uint32_t>(options.instances)) : one;
    if (options.values) {
        alone.compute(plan, system);
    }
    const std::vector<Program> programs = rows ? programs_by_rows(plan, alone, system, options)
                                               : programs_by_layers(plan, alone, options);
    Result result = run_together(programs, system, options, by);
    SplitRecord split;
    split.by = by;
    split.alone = alone.cycles();
    split.interval = result.cycles;
    split.latency = rows ? split.interval : Cycles(split.interval.value * options.instances);
    result.split = split;
    result.program = plan.name;
    return result;
}

StreamRecord simulate_stream(const Plan& plan, std::size_t frames, const PlanTarget& target,
                             const SystemConfig& system, Cycles max_cycles) {
    NPU_CHECK(frames > 1, "--stream needs at least 2 frames");
    const Plan bare = without_images(plan);
    const Result result = run_program(plan_program(streamed_plan(bare, frames, target)), system,
                                      {.max_cycles = max_cycles, .values = false});
    const std::size_t layers = plan.layers.size();
    NPU_CHECK(result.layers.size() == frames * layers, "every frame has all layers");
    StreamRecord stream;
    stream.frames = frames;
    stream.simulated = true;
    std::vector<Cycles> ends;
    Cycles latencies;
    for (std::size_t frame = 0; frame < frames; ++frame) {
        Cycles start{UINT64_MAX};
        Cycles end;
        for (std::size_t i = frame * layers; i < (frame + 1) * layers; ++i) {
            for (const std::size_t operation : result.layers[i].operations) {
                start = std::min(start, result.operations[operation].start);
                end = std::max(end, result.operations[operation].end);
            }
        }
        ends.push_back(end);
        latencies += end - start;
        stream.most_latency = std::max(stream.most_latency, end - start);
    }
    stream.all = result.cycles;
    stream.latency = Cycles(latencies.value / frames);
    stream.interval = Cycles((ends.back() - ends.front()).value / (frames - 1));
    return stream;
}

StreamRecord estimate_stream(const Result& frame, std::size_t frames) {
    const Cycles host = frame.model ? frame.model->host.cycles : Cycles(0);
    const Cycles npu = frame.cycles - host;
    StreamRecord stream;
    stream.frames = frames;
    stream.interval = stream.latency = stream.most_latency = npu;
    add_host(stream, host);
    return stream;
}

void add_host(StreamRecord& stream, Cycles host) {
    stream.host = host;
    stream.interval = std::max(stream.interval, host);
    stream.latency += host;
    stream.most_latency += host;
    stream.all = stream.latency + Cycles((stream.frames - 1) * stream.interval.value);
}

ResultBytes simulated_results(const Program& program, std::span<const ExpectedResult> results,
                              const SystemConfig& system, RunOptions options) {
    options.check = false;
    options.keep.clear();
    for (const ExpectedResult& result : results) {
        options.keep.push_back({{result.address, result.bytes}, result.sync});
    }
    return run_program(program, system, options).kept;
}

std::vector<std::uint32_t> crcs_of(const ResultBytes& results) {
    std::vector<std::uint32_t> crcs;
    for (const std::vector<std::uint8_t>& bytes : results) {
        crcs.push_back(static_cast<std::uint32_t>(crc32_z(0, bytes.data(), bytes.size())));
    }
    return crcs;
}

}  // namespace npuscope
