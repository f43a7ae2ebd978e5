// SPDX-License-Identifier: Apache-2.0
#include "vector_plan.h"

#include <fmt/format.h>

#include <limits>
#include <set>
#include <utility>

#include "models/base/error.h"
#include "sim/compile/explain.h"
#include "sim/model/host_values.h"
#include "sim/model/prepare_graph.h"
#include "vector_job.h"
#include "vector_math.h"
#include "vector_timing.h"

namespace vector_npu {

using npuscope::Address;
using npuscope::Bytes;
using npuscope::Graph;
using npuscope::GraphInputs;
using npuscope::HostMemory;
using npuscope::NodeGroup;
using npuscope::ValueRange;

namespace {

using Maps = std::map<std::string, Address>;

Bytes bytes_of(const Graph& graph, const std::string& tensor) {
    return Bytes(npuscope::count_elements(graph.types.at(tensor).sizes) * sizeof(npuscope::Fp16));
}

/// Values of a graph while it runs, on both sides.
class VectorRun {
 public:
    VectorRun(const Graph& graph, npuscope::ValueRanges facts, Maps maps)
        : values(graph, std::move(facts)), graph_(graph), maps_(std::move(maps)) {}

    void store(const std::string& tensor, HostMemory& memory) {
        const std::vector<double>& numbers = values.at(tensor).numbers;
        std::vector<std::uint8_t> bytes(bytes_of(graph_, tensor).value);
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            store_element(bytes, i, npuscope::to_float16(numbers[i]));
        }
        memory.load(maps_.at(tensor), bytes);
    }

    /// Reads back what a job wrote.
    void load(const std::string& tensor, const HostMemory& memory) {
        std::vector<std::uint8_t> bytes(bytes_of(graph_, tensor).value);
        memory.read(maps_.at(tensor), bytes);
        npuscope::GraphValue value{graph_.types.at(tensor), {}};
        for (std::size_t i = 0; 2 * i < bytes.size(); ++i) {
            value.numbers.push_back(npuscope::from_float16(load_element(bytes, i)));
        }
        values.put(tensor, std::move(value));
    }

    npuscope::HostValues values;

 private:
    const Graph& graph_;
    Maps maps_;
};

class VectorPlan final : public npuscope::ModelPlan {
 public:
    VectorPlan(const Graph& graph, const VectorSystem& system, npuscope::ValueRanges facts)
        : graph_(graph), config_(system.config), facts_(std::move(facts)) {
        partition_ = npuscope::partition_graph(npuscope::GraphView(graph, facts_), system.target);
        if (system.memory.regions.empty()) {
            throw npuscope::ConfigError("the memory has no region", "add one to memory.regions");
        }
        for (const NodeGroup& group : partition_.groups) {
            for (const npuscope::GroupRead& read : group.reads) {
                place(read.tensor, group, system.memory.regions.front());
            }
            place(group.output, group, system.memory.regions.front());
        }
    }

    const npuscope::Partition& partition() const override { return partition_; }
    npuscope::Diagnostics findings() const override { return findings_; }
    std::vector<std::string> layers() const override {
        std::vector<std::string> layers;
        for (const NodeGroup& group : partition_.groups) {
            layers.push_back(group.name + ", 1 operation");
        }
        return layers;
    }
    std::string summary(std::size_t /*width*/) const override {
        std::string text = fmt::format(
            "{} on {}: {} nodes, {} of them in {} jobs of the vector unit, {} bytes of maps\n",
            name(), config_.name, graph_.nodes.size(), partition_.count(npuscope::NodeSide::Npu),
            partition_.groups.size(), used_.value);
        for (const NodeGroup& group : partition_.groups) {
            text += fmt::format("  {}: at least {} cycles\n", group.name,
                                vector_cycles(*job_of(group), config_.engine).value);
        }
        return text + '\n';
    }

    npuscope::ModelProgram program(const npuscope::HostConfig& host,
                                   const GraphInputs* inputs) const override {
        const auto run = std::make_shared<VectorRun>(graph_, facts_, maps_);
        for (const std::string& input : inputs == nullptr ? Names{} : graph_.inputs) {
            run->values.take_input(input, *inputs);
        }
        npuscope::ModelProgram model;
        model.program.name = name();
        model.values = inputs != nullptr;
        const auto add = [&](npuscope::Action action) {
            model.program.statements.push_back({{}, std::move(action)});
        };
        std::set<std::string> in_memory;
        for (const npuscope::PartitionStep& step : partition_.steps) {
            if (!step.segment) {
                add(npuscope::WaitForJobs{});
                add(host_node(step.node, host, run));
                continue;
            }
            for (const std::size_t group : partition_.segments[*step.segment].groups) {
                add(launch_of(partition_.groups[group], in_memory, run));
            }
        }
        add(npuscope::WaitForJobs{});
        model.outputs = [run, names = graph_.outputs] {
            GraphInputs outputs;
            for (const std::string& output : names) {
                outputs[output] = run->values.at(output);
            }
            return outputs;
        };
        model.refused = npuscope::refused_layers(partition_);
        model.findings = findings_;
        model.memory = npuscope::ModelMemory{Bytes(0), used_};
        return model;
    }

 private:
    using Names = std::vector<std::string>;

    std::string name() const { return graph_.name.empty() ? "model" : graph_.name; }

    void place(const std::string& tensor, const NodeGroup& group,
               const npuscope::MemoryRegionConfig& region) {
        const auto [map, is_new] = maps_.emplace(tensor, region.base + used_);
        if (!is_new) {
            return;
        }
        const std::uint64_t beat = config_.mcif.bus_width.value;
        used_ += Bytes(npuscope::round_up(bytes_of(graph_, tensor).value, beat));
        if (used_ > region.surfaces.value_or(region.size)) {
            findings_.push_back({.id = "memory_room",
                                 .sentence = fmt::format("the region '{}' has no room for '{}'",
                                                         region.name, tensor),
                                 .address = map->second,
                                 .unit = "plan",
                                 .surface = tensor,
                                 .operation = group.name});
        }
    }

    std::shared_ptr<VectorJob> job_of(const NodeGroup& group) const {
        const VectorLayer& layer = vector_layer(group);
        auto job = std::make_shared<VectorJob>();
        job->name = group.name;
        job->kind = group.pattern;
        job->elements = npuscope::count_elements(group.cube);
        job->a = maps_.at(layer.a);
        if (!layer.b.empty()) {
            job->b = maps_.at(layer.b);
        }
        job->constant = layer.constant;
        job->scale = layer.scale;
        job->relu = layer.relu;
        job->output = maps_.at(group.output);
        return job;
    }

    /// The host stores what the job reads and is not `in_memory` yet. That is determined here, not
    /// while the program runs: several instances may run it at once, each on a memory of its own.
    npuscope::LaunchJob launch_of(const NodeGroup& group, std::set<std::string>& in_memory,
                                  const std::shared_ptr<VectorRun>& run) const {
        npuscope::LaunchJob launch{.job = job_of(group)};
        Names stored;
        for (const npuscope::GroupRead& read : group.reads) {
            if (in_memory.insert(read.tensor).second) {
                stored.push_back(read.tensor);
            }
        }
        in_memory.insert(group.output);
        launch.before = [run, stored](HostMemory& memory) {
            for (const std::string& tensor : stored) {
                run->store(tensor, memory);
            }
        };
        launch.on_end = [run, output = group.output](HostMemory& memory) {
            run->load(output, memory);
        };
        return launch;
    }

    npuscope::RunNode host_node(std::size_t index, const npuscope::HostConfig& host,
                                const std::shared_ptr<VectorRun>& run) const {
        const npuscope::GraphNode& node = graph_.nodes[index];
        npuscope::check_host_runs(graph_, node);
        npuscope::RunNode statement = npuscope::run_node_statement(graph_, partition_, index, host);
        statement.work = [run, &node](HostMemory& /*memory*/) { run->values.evaluate(node); };
        return statement;
    }

    const Graph& graph_;
    const VectorNpuConfig config_;
    const npuscope::ValueRanges facts_;
    npuscope::Partition partition_;
    Maps maps_;
    Bytes used_;
    npuscope::Diagnostics findings_;
};

}  // namespace

std::unique_ptr<npuscope::ModelPlan> plan_vector(const Graph& graph, const VectorSystem& system,
                                                 npuscope::ValueRanges given) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    for (const std::string& input : graph.inputs) {
        given.emplace(input, ValueRange{false, {-infinite, infinite}, false});
    }
    return std::make_unique<VectorPlan>(graph, system, npuscope::value_ranges(graph, given));
}

}  // namespace vector_npu
