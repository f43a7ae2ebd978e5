// SPDX-License-Identifier: Apache-2.0
#include "sim/run/layer_session.h"

#include <algorithm>
#include <set>

#include "models/layout/packed_surface.h"
#include "sim/compile/tinpu/signed_values.h"
#include "sim/model/prepare_graph.h"
#include "sim/run/host_cost.h"
#include "sim/run/layer_machine.h"

namespace npuscope {
namespace {

class LayerSession {
 public:
    LayerSession(const Graph& graph, const LayerPlan& plan, const LayerNpuConfig& config,
                 const LayerRunOptions& options)
        : graph_(graph),
          plan_(plan),
          config_(config),
          with_values_(options.values),
          values_(graph),
          machine_(config, plan.memory, options) {
        run_.findings = plan.findings;
        for (const MemoryBlock& block : plan.images) {
            load(block.base, block.bytes);
        }
    }

    LayerRun run(const std::map<std::string, GraphValue>& inputs) {
        if (with_values_) {
            for (const std::string& name : graph_.inputs) {
                values_.take_input(name, inputs);
            }
        }
        machine_.run([this] { run_program(); });
        for (const std::string& output : graph_.outputs) {
            if (with_values_) {
                run_.outputs[output] = values_.stored_output(output);
            }
        }
        run_.gather(machine_);
        return std::move(run_);
    }

 private:
    /// What happens at one node: a layer that ends there, or the node's own work.
    struct Step {
        std::size_t node = 0;
        std::optional<std::size_t> layer;
    };

    std::vector<Step> steps() const {
        std::vector<Step> steps;
        for (const PartitionStep& step : plan_.partition.steps) {
            if (!step.segment) {
                steps.push_back({step.node, std::nullopt});
                continue;
            }
            for (const std::size_t layer : plan_.partition.segments[*step.segment].groups) {
                steps.push_back({0, layer});
            }
        }
        return steps;
    }

    /// Layers that follow each other directly may be launched ahead.
    void run_program() {
        const std::vector<Step> all = steps();
        std::size_t launched = 0;  // steps before have begun
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (!all[i].layer) {
                run_on_host(all[i].node);
                launched = i + 1;
                continue;
            }
            for (launched = std::max(launched, i);
                 launched < all.size() && all[launched].layer &&
                 machine_.under_way() < config_.engine.launch_queue;
                 ++launched) {
                launch(*all[launched].layer);
            }
            finish(*all[i].layer);
        }
    }

    /// What lies outside of memory stays away; the plan has told of it.
    void load(Address base, std::span<const std::uint8_t> bytes) {
        if (holds(plan_.memory, {base, Bytes(bytes.size())})) {
            machine_.memory().load(base, bytes);
        }
    }

    /// Writes a map into memory where it is not there yet.
    void place_map(const std::string& tensor, const GraphNode& reader) {
        if (!with_values_) {
            values_.signs.emplace(tensor, false);
        } else if (placed_.insert(tensor).second) {
            load(plan_.maps.at(tensor), values_.map_bytes(tensor, reader));
        }
    }

    void launch(std::size_t index) {
        const NodeGroup& layer = plan_.partition.groups[index];
        const Candidate& candidate = *layer.layer;
        place_map(candidate.input, graph_.nodes[candidate.anchor]);
        if (!candidate.norm.residual.empty()) {
            place_map(candidate.norm.residual, graph_.nodes[candidate.norm.residual_node]);
        }
        const TinpuJob job = layer_job(plan_, index, values_.signs);
        values_.signs[candidate.output] = job.output.is_signed;
        if (with_values_) {
            placed_.insert(candidate.output);
        }
        machine_.launch(job);
        jobs_[index] = job;
    }

    void finish(std::size_t index) {
        const NodeGroup& layer = plan_.partition.groups[index];
        const OperationRecord record = machine_.await();
        const TinpuJob& job = jobs_.at(index);
        if (with_values_) {
            read_back(layer.output, job.output);
        }
        run_.operations.push_back({record.unit, layer.name, layer.pattern, record.start,
                                   record.cycles(), record.macs, record.causes,
                                   tinpu_traffic(job)});
        run_.npu += record.cycles();
    }

    /// What a layer wrote, for whoever on the host reads it.
    void read_back(const std::string& tensor, const MapSurface& surface) {
        std::vector<std::uint8_t> bytes(surface.bytes().value);
        if (holds(plan_.memory, {surface.base, surface.bytes()})) {
            machine_.memory().read(surface.base, bytes);
        }
        values_.take_map(tensor, load_map(bytes, surface.shape, surface.is_signed));
    }

    void run_on_host(std::size_t index) {
        const GraphNode& node = graph_.nodes[index];
        check_host_runs(graph_, node);
        if (with_values_) {
            values_.evaluate(node);
        }
        if (plan_.partition.places[index].side == NodeSide::View) {
            for (const std::string& output : node.outputs) {
                if (const auto sign = values_.signs.find(node.inputs.front());
                    sign != values_.signs.end()) {
                    values_.signs[output] = sign->second;
                }
            }
            return;
        }
        const HostCost cost = host_cost(graph_, node, config_.host);
        LayerOperation operation{"host",      node_name(node), node.op, run_.cycles(),
                                 cost.cycles, cost.macs,       {},      {}};
        operation.causes[Cause::Work] = cost.cycles;
        run_.operations.push_back(std::move(operation));
        run_.host += cost.cycles;
        machine_.spend(cost.cycles);
    }

    const Graph& graph_;
    const LayerPlan& plan_;
    const LayerNpuConfig& config_;
    bool with_values_;
    SignedValues values_;
    LayerMachine machine_;
    std::set<std::string> placed_;
    std::map<std::size_t, TinpuJob> jobs_;  // by layer
    LayerRun run_;
};

}  // namespace

LayerRun run_layers(const Graph& graph, const LayerPlan& plan, const LayerNpuConfig& config,
                    const std::map<std::string, GraphValue>& inputs,
                    const LayerRunOptions& options) {
    return LayerSession(graph, plan, config, options).run(inputs);
}

}  // namespace npuscope
