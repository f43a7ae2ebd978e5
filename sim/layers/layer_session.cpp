// SPDX-License-Identifier: Apache-2.0
#include "sim/layers/layer_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "models/data/packed_surface.h"
#include "sim/host/operators.h"
#include "sim/host/prepare_graph.h"
#include "sim/layers/host_cost.h"
#include "sim/pattern/number_ranges.h"

namespace npuscope {
namespace {

/// A map as bytes: a tensor of 2 to 4 sizes with a batch of 1.
Tensor<std::int32_t> cube_of(const GraphValue& value) {
    Sizes sizes = value.type.sizes;
    sizes.resize(std::max<std::size_t>(sizes.size(), 4), 1);
    const auto size = [&](std::size_t i) { return static_cast<std::uint32_t>(sizes[i]); };
    Tensor<std::int32_t> cube({size(1), size(2), size(3)});
    std::transform(value.numbers.begin(), value.numbers.end(), cube.values.begin(),
                   [](double number) { return static_cast<std::int32_t>(number); });
    return cube;
}

class LayerSession {
 public:
    LayerSession(const Graph& graph, const LayerPlan& plan, const LayerNpuConfig& config,
                 bool with_values)
        : graph_(graph),
          plan_(plan),
          config_(config),
          with_values_(with_values),
          facts_(number_facts(graph)),
          engine_(config.engine, memory_) {
        for (const MemoryBlock& block : plan.images) {
            memory_.write(block.base, block.bytes);
        }
    }

    LayerRun run(const std::map<std::string, GraphValue>& inputs) {
        for (const std::string& name : graph_.inputs) {
            take_input(name, inputs);
        }
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
            const Placement& placement = plan_.patterns.placements[i];
            if (!placement.layer) {
                run_on_host(i, placement.side == Side::View);
            } else if (is_last_node(i, *placement.layer)) {
                run_on_npu(*placement.layer);
            }
        }
        for (const std::string& output : graph_.outputs) {
            if (with_values_) {
                run_.outputs[output] = stored_output(output);
            }
        }
        return std::move(run_);
    }

 private:
    bool is_last_node(std::size_t node, std::size_t layer) const {
        const auto& nodes = plan_.patterns.layers[layer].candidate.nodes;
        return *std::max_element(nodes.begin(), nodes.end()) == node;
    }

    void take_input(const std::string& name, const std::map<std::string, GraphValue>& inputs) {
        const TensorType& type = graph_.types.at(name);
        if (!with_values_) {
            return;
        }
        const auto found = inputs.find(name);
        if (found == inputs.end()) {
            throw ConfigError(fmt::format("there are no numbers for the input '{}'", name),
                              "give one .npy file per input, named after it");
        }
        GraphValue value = found->second;
        if (value.type.sizes != type.sizes) {
            throw ConfigError(fmt::format("input '{}' is {}, but the model takes {}", name,
                                          sizes_text(value.type.sizes), sizes_text(type.sizes)),
                              "give an array of the model's sizes");
        }
        const NumberRange given = range_of(value.type.element);
        if (!is_float(value.type.element)) {
            signs_[name] = given.low < 0;
        }
        const NumberRange range = range_of(type.element);
        for (const double number : value.numbers) {
            const bool fits =
                is_float(type.element) ||
                (number == std::trunc(number) && number >= range.low && number <= range.high);
            if (!fits) {
                throw ConfigError(fmt::format("input '{}' holds {}, which is no {}", name, number,
                                              enum_name(type.element)),
                                  "give numbers of the model's own type");
            }
        }
        value.type = type;
        settle(value);
        values_[name] = std::move(value);
    }

    /// Writes a map into memory where it is not there yet.
    void place_map(const std::string& tensor, const GraphNode& reader) {
        if (!with_values_) {
            signs_.emplace(tensor, false);
            return;
        }
        if (placed_.contains(tensor)) {
            return;
        }
        const GraphValue* constant = graph_.constant(tensor);
        const GraphValue& value = constant != nullptr ? *constant : values_.at(tensor);
        NumberRange range{0, 0};
        for (const double number : value.numbers) {
            if (number != std::trunc(number)) {
                refuse_node(
                    graph_, reader,
                    fmt::format("its input '{}' holds {}, which is no integer", tensor, number),
                    "feature maps hold 8-bit integers");
            }
            range = {std::min(range.low, number), std::max(range.high, number)};
        }
        const auto known = signs_.find(tensor);
        const bool is_signed = known != signs_.end() ? known->second : range.low < 0;
        const NumberRange limits = is_signed ? NumberRange{-128, 127} : NumberRange{0, 255};
        if (range.low < limits.low || range.high > limits.high) {
            refuse_node(graph_, reader,
                        fmt::format("its input '{}' holds numbers from {} to {}", tensor, range.low,
                                    range.high),
                        "feature maps hold 8-bit integers, signed or unsigned");
        }
        signs_[tensor] = is_signed;
        memory_.write(plan_.maps.at(tensor), store_map(cube_of(value)));
        placed_.insert(tensor);
    }

    void run_on_npu(std::size_t index) {
        const NpuLayer& layer = plan_.patterns.layers[index];
        const Candidate& candidate = layer.candidate;
        place_map(candidate.input, graph_.nodes[candidate.anchor]);
        if (!candidate.norm.residual.empty()) {
            place_map(candidate.norm.residual, graph_.nodes[candidate.norm.residual_node]);
        }
        const TinpuJob job = layer_job(plan_, index, signs_);
        const TinpuRecord record = engine_.launch(job, with_values_);
        signs_[candidate.output] = job.output.is_signed;
        if (with_values_) {
            placed_.insert(candidate.output);
            read_back(candidate.output, job.output);
        }
        const Cycles took = record.cycles.total();
        run_.operations.push_back(
            {"tinpu", layer.name, std::string(enum_name(candidate.pattern)), run_.cycles(), took,
             job.macs(), std::string(record.cycles.bound_by()), record.traffic, record.cycles});
        run_.npu += took;
    }

    /// What a layer wrote, for whoever on the host reads it.
    void read_back(const std::string& tensor, const MapSurface& surface) {
        std::vector<std::uint8_t> bytes(surface.bytes().value);
        memory_.read(surface.base, bytes);
        const Tensor<std::int32_t> map = load_map(bytes, surface.shape, surface.is_signed);
        GraphValue value = zeros(graph_.types.at(tensor));
        std::copy(map.values.begin(), map.values.end(), value.numbers.begin());
        values_[tensor] = std::move(value);
    }

    void run_on_host(std::size_t index, bool is_view) {
        const GraphNode& node = graph_.nodes[index];
        const OperatorRow* row = find_operator(node.op);
        if (row == nullptr) {
            refuse_node(graph_, node, "the host has no such operator", "replace it in the model");
        }
        if (with_values_) {
            evaluate(*row, node);
        }
        if (is_view) {
            for (const std::string& output : node.outputs) {
                if (const auto sign = signs_.find(node.inputs.front()); sign != signs_.end()) {
                    signs_[output] = sign->second;
                }
            }
            return;
        }
        const HostCost cost = host_cost(graph_, node, config_.host);
        run_.operations.push_back({"host",
                                   node_name(node),
                                   node.op,
                                   run_.cycles(),
                                   cost.cycles,
                                   cost.macs,
                                   "host",
                                   {},
                                   {}});
        run_.host += cost.cycles;
    }

    void evaluate(const OperatorRow& row, const GraphNode& node) {
        Operands operands{node, graph_.opset, {}};
        for (const std::string& input : node.inputs) {
            const GraphValue* constant = graph_.constant(input);
            operands.values.push_back(input.empty()         ? nullptr
                                      : constant != nullptr ? constant
                                                            : &values_.at(input));
        }
        Values results = at_node(graph_, node, [&] { return evaluate_outputs(row, operands); });
        for (std::size_t i = 0; i < results.size() && i < node.outputs.size(); ++i) {
            values_[node.outputs[i]] = std::move(results[i]);
        }
    }

    /// 8-bit integers are stored as such, whatever type the model gives them.
    GraphValue stored_output(const std::string& output) const {
        const GraphValue* constant = graph_.constant(output);
        GraphValue value = constant != nullptr ? *constant : values_.at(output);
        const auto sign = signs_.find(output);
        const auto facts = facts_.find(output);
        if (sign != signs_.end()) {
            value.type.element = sign->second ? ElementType::Int8 : ElementType::Uint8;
        } else if (is_float(value.type.element) && facts != facts_.end() && facts->second.whole &&
                   !facts->second.assumed && fits_bits(facts->second.range, 8)) {
            value.type.element =
                facts->second.range.low < 0 ? ElementType::Int8 : ElementType::Uint8;
        }
        return value;
    }

    const Graph& graph_;
    const LayerPlan& plan_;
    const LayerNpuConfig& config_;
    bool with_values_;
    std::map<std::string, NumberFacts> facts_;
    SparseMemory memory_;
    Tinpu engine_;
    std::map<std::string, GraphValue> values_;
    Signs signs_;
    std::set<std::string> placed_;
    LayerRun run_;
};

}  // namespace

LayerRun run_layers(const Graph& graph, const LayerPlan& plan, const LayerNpuConfig& config,
                    const std::map<std::string, GraphValue>& inputs,
                    const LayerRunOptions& options) {
    return LayerSession(graph, plan, config, options.values).run(inputs);
}

}  // namespace npuscope
