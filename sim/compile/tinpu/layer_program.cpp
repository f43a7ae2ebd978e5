// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/tinpu/layer_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "models/layout/packed_surface.h"
#include "sim/compile/explain.h"
#include "sim/compile/host_cost.h"
#include "sim/compile/tinpu/signed_values.h"

namespace npuscope {
namespace {

/// What the statements of a program share while it runs.
class LayerRun {
 public:
    LayerRun(const Graph& graph, LayerPlan plan)
        : graph_(graph), plan_(std::move(plan)), values_(graph) {}

    const LayerPlan& plan() const { return plan_; }
    SignedValues& values() { return values_; }

    /// Stores what layer `index` reads where it does not lie there yet, and completes its job.
    void prepare(std::size_t index, TinpuJob& job, HostMemory& memory) {
        const Candidate& candidate = *plan_.partition.groups[index].layer;
        place_map(candidate.input, graph_.nodes[candidate.anchor], memory);
        if (!candidate.norm.residual.empty()) {
            place_map(candidate.norm.residual, graph_.nodes[candidate.norm.residual_node], memory);
        }
        job = layer_job(plan_, index, values_.signs);
        values_.signs[candidate.output] = job.output.is_signed;
        placed_.insert(candidate.output);
    }

    /// What a layer wrote, for what the host computes of it.
    void read_back(std::size_t index, const TinpuJob& job, const HostMemory& memory) {
        const MapSurface& surface = job.output;
        std::vector<std::uint8_t> bytes(surface.bytes().value);
        if (plan_.memory.holds(surface.base, surface.bytes())) {
            memory.read(surface.base, bytes);
        }
        values_.take_map(plan_.partition.groups[index].output,
                         load_map(bytes, surface.shape, surface.is_signed));
    }

    void evaluate(std::size_t index) {
        const GraphNode& node = graph_.nodes[index];
        values_.evaluate(node);
        if (plan_.partition.places[index].side == NodeSide::View) {
            keep_sign(node, values_.signs);
        }
    }

    /// A view's output is as signed as its input.
    static void keep_sign(const GraphNode& node, Signs& signs) {
        const auto sign = signs.find(node.inputs.front());
        if (sign == signs.end()) {
            return;
        }
        const bool is_signed = sign->second;
        for (const std::string& output : node.outputs) {
            signs[output] = is_signed;
        }
    }

    GraphInputs outputs() const {
        GraphInputs outputs;
        for (const std::string& output : graph_.outputs) {
            outputs[output] = values_.stored_output(output);
        }
        return outputs;
    }

 private:
    /// What lies outside of memory stays away; the plan has told of it.
    void place_map(const std::string& tensor, const GraphNode& reader, HostMemory& memory) {
        if (!placed_.insert(tensor).second) {
            return;
        }
        const std::vector<std::uint8_t> bytes = values_.map_bytes(tensor, reader);
        const Address base = plan_.maps.at(tensor);
        if (plan_.memory.holds(base, Bytes(bytes.size()))) {
            memory.load(base, bytes);
        }
    }

    const Graph& graph_;
    const LayerPlan plan_;
    SignedValues values_;
    std::set<std::string> placed_;  ///< maps that lie in memory
};

class LayerProgrammer {
 public:
    LayerProgrammer(const Graph& graph, LayerPlan plan, const HostConfig& host)
        : graph_(graph),
          host_(host),
          run_(std::make_shared<LayerRun>(graph, std::move(plan))),
          plan_(run_->plan()) {}

    ModelProgram program(const GraphInputs* inputs) {
        if (inputs != nullptr) {
            for (const std::string& name : graph_.inputs) {
                run_->values().take_input(name, *inputs);
            }
        }
        signs_ = run_->values().signs;
        for (const MemoryBlock& block : plan_.images) {
            load(block);
        }
        for (const PartitionStep& step : plan_.partition.steps) {
            if (!step.segment) {
                run_node(step.node);
                continue;
            }
            for (const std::size_t layer : plan_.partition.segments[*step.segment].groups) {
                launch(layer);
            }
        }
        add(WaitForJobs{});
        return {.program = std::move(program_),
                .values = inputs != nullptr,
                .outputs = [run = run_] { return run->outputs(); }};
    }

 private:
    void add(Action action) { program_.statements.push_back({{}, std::move(action)}); }

    void load(const MemoryBlock& block) {
        if (plan_.memory.holds(block.base, Bytes(block.bytes.size()))) {
            LoadMemory load;
            load.address = block.base;
            load.image.bytes = block.bytes;
            load.image.runs = {{0, 0, block.bytes.size()}};
            add(std::move(load));
        }
    }

    void launch(std::size_t index) {
        const Candidate& layer = *plan_.partition.groups[index].layer;
        signs_.emplace(layer.input, false);
        signs_.emplace(layer.norm.residual, false);
        const auto job = std::make_shared<TinpuJob>(layer_job(plan_, index, signs_));
        signs_[layer.output] = job->output.is_signed;
        LaunchJob launch{.job = job};
        launch.before = [run = run_, job, index](HostMemory& memory) {
            run->prepare(index, *job, memory);
        };
        launch.on_end = [run = run_, job, index](HostMemory& memory) {
            run->read_back(index, *job, memory);
        };
        add(std::move(launch));
    }

    void run_node(std::size_t index) {
        const GraphNode& node = graph_.nodes[index];
        check_host_runs(graph_, node);
        RunNode run{.name = node_name(node)};
        run.work = [shared = run_, index](HostMemory& /*memory*/) { shared->evaluate(index); };
        if (plan_.partition.places[index].side == NodeSide::View) {
            LayerRun::keep_sign(node, signs_);
        } else {
            const HostCost cost = host_cost(graph_, node, host_);
            run.op = node.op;
            run.cycles = cost.cycles;
            run.macs = cost.macs;
        }
        add(WaitForJobs{});
        add(std::move(run));
    }

    const Graph& graph_;
    const HostConfig& host_;
    std::shared_ptr<LayerRun> run_;
    const LayerPlan& plan_;
    Signs signs_;  ///< as far as they are known before the run
    Program program_;
};

}  // namespace

ModelProgram layer_program(const Graph& graph, LayerPlan plan, const LayerNpuConfig& config,
                           const HostConfig& host, const GraphInputs* inputs) {
    Diagnostics findings = plan.findings;
    const ModelMemory memory{plan.weights, plan.peak_maps};
    if (memory.peak_maps > config.engine.memory) {
        findings.push_back(
            {.severity = Severity::Warning,
             .id = "memory_size",
             .sentence = fmt::format("feature maps take {} bytes at a time, the NPU has {}",
                                     memory.peak_maps.value, config.engine.memory.value)});
    }
    std::vector<RefusedLayer> refused = refused_layers(plan.partition);
    ModelProgram model = LayerProgrammer(graph, std::move(plan), host).program(inputs);
    model.program.name = graph.name.empty() ? "model" : graph.name;
    model.findings = std::move(findings);
    model.refused = std::move(refused);
    model.memory = memory;
    return model;
}

}  // namespace npuscope
