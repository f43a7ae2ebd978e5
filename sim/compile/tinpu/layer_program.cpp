// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "models/base/error.h"
#include "models/layout/packed_surface.h"
#include "sim/compile/explain.h"
#include "sim/compile/tinpu/layer_plan.h"
#include "sim/model/host_values.h"
#include "sim/model/prepare_graph.h"

namespace npuscope {
namespace {

/// A map as bytes: a tensor of 2 to 4 dimensions with a batch of 1.
Tensor<std::int32_t> cube_of(const GraphValue& value) {
    const Sizes sizes = as_cube(value.type.sizes);
    const auto size = [&](std::size_t i) { return static_cast<std::uint32_t>(sizes[i]); };
    Tensor<std::int32_t> cube({size(1), size(2), size(3)});
    std::transform(value.numbers.begin(), value.numbers.end(), cube.values.begin(),
                   [](double number) { return static_cast<std::int32_t>(number); });
    return cube;
}

/// A map that the host stores before a layer that reads it is launched.
struct HostMap {
    std::string tensor;
    std::size_t reader;  ///< node
};

/// State that a program's statements share while it runs: the values of the graph's tensors as the
/// host holds them, and which feature maps are signed. For timing only, nothing but signs is kept.
/// Several instances that run the program at once have memories of their own and the same values.
class LayerRun {
 public:
    LayerRun(const Graph& graph, LayerPlan plan)
        : graph_(graph), plan_(std::move(plan)), values_(graph, plan_.ranges) {
        for (const auto& [tensor, type] : graph.types) {
            if (const std::optional<bool> sign = stated_sign(graph, tensor)) {
                signs_[tensor] = *sign;
            }
        }
    }

    const LayerPlan& plan() const { return plan_; }
    const Signs& signs() const { return signs_; }

    /// ConfigError where there is no such input or it does not fit the graph.
    void take_input(const std::string& name, const GraphInputs& inputs) {
        if (const std::optional<bool> sign = values_.take_input(name, inputs)) {
            signs_.emplace(name, *sign);
        }
    }

    /// Stores `maps`, which layer `index` reads, and completes its job.
    void prepare(std::size_t index, const std::vector<HostMap>& maps, TinpuJob& job,
                 HostMemory& memory) {
        for (const HostMap& map : maps) {
            place_map(map.tensor, graph_.nodes[map.reader], memory);
        }
        job = layer_job(plan_, index, signs_);
        signs_[plan_.partition.groups[index].layer->output] = job.output.is_signed;
    }

    /// Reads back a layer's output, for the host's computations.
    void read_back(std::size_t index, const TinpuJob& job, const HostMemory& memory) {
        const MapSurface& surface = job.output;
        std::vector<std::uint8_t> bytes(surface.bytes().value);
        if (plan_.memory.holds(surface.base, surface.bytes())) {
            memory.read(surface.base, bytes);
        }
        const std::string& tensor = plan_.partition.groups[index].output;
        const Tensor<std::int32_t> map = load_map(bytes, surface.shape, surface.is_signed);
        values_.put(tensor, {graph_.types.at(tensor), {map.values.begin(), map.values.end()}});
    }

    void evaluate(std::size_t index) {
        const GraphNode& node = graph_.nodes[index];
        values_.evaluate(node);
        if (plan_.partition.places[index].side == NodeSide::View) {
            keep_sign(node, signs_);
        }
    }

    /// A view's output has its input's sign.
    static void keep_sign(const GraphNode& node, Signs& signs) {
        if (const auto sign = signs.find(node.inputs.front()); sign != signs.end()) {
            const bool is_signed = sign->second;
            for (const std::string& output : node.outputs) {
                signs[output] = is_signed;
            }
        }
    }

    /// 8-bit integers are stored as such, where the model does not state their type.
    GraphInputs outputs() const {
        GraphInputs outputs;
        for (const std::string& output : graph_.outputs) {
            const auto sign = signs_.find(output);
            const bool by_map = sign != signs_.end() && !stated_sign(graph_, output).has_value();
            outputs[output] =
                values_.stored(output, by_map ? std::optional(sign->second) : std::nullopt);
        }
        return outputs;
    }

 private:
    /// What is outside memory is not stored; the plan has reported it.
    void place_map(const std::string& tensor, const GraphNode& reader, HostMemory& memory) {
        const std::vector<std::uint8_t> bytes = map_bytes(tensor, reader);
        const Address base = plan_.maps.at(tensor);
        if (plan_.memory.holds(base, Bytes(bytes.size()))) {
            memory.load(base, bytes);
        }
    }

    /// A tensor as bytes of a feature map; determines its sign. ConfigError where it does not fit 8
    /// bits; `reader` reads it.
    std::vector<std::uint8_t> map_bytes(const std::string& tensor, const GraphNode& reader) {
        const GraphValue& value = values_.at(tensor);
        NumberRange range{0, 0};
        for (const double number : value.numbers) {
            if (number != std::trunc(number)) {
                refuse_node(
                    graph_, reader,
                    fmt::format("its input '{}' holds {}, which is not an integer", tensor, number),
                    "feature maps hold 8-bit integers");
            }
            range = {std::min(range.low, number), std::max(range.high, number)};
        }
        const bool is_signed = signs_.emplace(tensor, range.low < 0).first->second;
        const NumberRange limits = range_of(is_signed ? ElementType::Int8 : ElementType::Uint8);
        if (range.low < limits.low || range.high > limits.high) {
            refuse_node(graph_, reader,
                        fmt::format("its input '{}' holds numbers from {} to {}", tensor, range.low,
                                    range.high),
                        "feature maps hold 8-bit integers, signed or unsigned");
        }
        return store_map(cube_of(value));
    }

    const Graph& graph_;
    const LayerPlan plan_;
    HostValues values_;
    Signs signs_;
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
                run_->take_input(name, *inputs);
            }
        }
        signs_ = run_->signs();
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
        program_.surfaces = surfaces_;
        return {.program = std::move(program_),
                .values = inputs != nullptr,
                .outputs = [run = run_] { return run->outputs(); },
                .layers = std::move(layers_)};
    }

 private:
    void add(Action action) { program_.statements.push_back({{}, std::move(action)}); }

    void load(const MemoryBlock& block) {
        if (plan_.memory.holds(block.base, Bytes(block.bytes.size()))) {
            LoadMemory load;
            load.address = block.base;
            load.file = fmt::format("constants_{}.dat", images_++);
            load.image.bytes = block.bytes;
            load.image.runs = {{0, 0, block.bytes.size()}};
            add(std::move(load));
        }
    }

    void launch(std::size_t index) {
        const Candidate& layer = *plan_.partition.groups[index].layer;
        expect_sign(layer.input);
        if (!layer.norm.residual.empty()) {
            expect_sign(layer.norm.residual);
        }
        const auto job = std::make_shared<TinpuJob>(layer_job(plan_, index, signs_));
        std::vector<HostMap> maps;
        const auto read_map = [&](const HostMap& map, const MapSurface& surface) {
            if (written_.insert(map.tensor).second) {
                surfaces_.push_back({.name = map.tensor, .spec = spec_of(surface)});
                maps.push_back(map);
            }
        };
        read_map({layer.input, layer.anchor}, job->input);
        if (job->residual) {
            read_map({layer.norm.residual, layer.norm.residual_node}, *job->residual);
        }
        signs_[layer.output] = job->output.is_signed;
        written_.insert(layer.output);
        const GraphNode& anchor = graph_.nodes[layer.anchor];
        LaunchJob launch{.job = job,
                         .macs = static_cast<std::uint64_t>(anchor.integer(macs_attribute, 0))};
        launch.before = [run = run_, job, index, maps = std::move(maps)](HostMemory& memory) {
            run->prepare(index, maps, *job, memory);
        };
        launch.on_end = [run = run_, job, index](HostMemory& memory) {
            run->read_back(index, *job, memory);
        };
        name_result(index, *job);
        add(std::move(launch));
    }

    /// Of a map that the host provides.
    void expect_sign(const std::string& tensor) {
        if (!signs_.contains(tensor)) {
            signs_[tensor] = expected_sign(graph_, plan_, tensor);
        }
    }

    /// Maps are in the order H W C, one byte per element.
    static std::string spec_of(const MapSurface& map) {
        return fmt::format("{}:1x{}x{}x{}:{}:N H W C", to_hex(map.base), map.shape.channels,
                           map.shape.height, map.shape.width, map.is_signed ? "int8" : "uint8");
    }

    void name_result(std::size_t index, const TinpuJob& job) {
        const NamedSurface surface{
            .name = job.name, .spec = spec_of(job.output), .after = job.name, .is_result = true};
        surfaces_.push_back(surface);
        layers_.push_back({surface, plan_.partition.groups[index].output, 0});
    }

    void run_node(std::size_t index) {
        const GraphNode& node = graph_.nodes[index];
        check_host_runs(graph_, node);
        RunNode run = run_node_statement(graph_, plan_.partition, index, host_);
        run.work = [shared = run_, index](HostMemory& /*memory*/) { shared->evaluate(index); };
        if (plan_.partition.places[index].side == NodeSide::View) {
            LayerRun::keep_sign(node, signs_);
        }
        add(WaitForJobs{});
        add(std::move(run));
    }

    const Graph& graph_;
    const HostConfig& host_;
    std::shared_ptr<LayerRun> run_;
    const LayerPlan& plan_;
    Signs signs_;  ///< as far as known before the run
    Program program_;
    std::size_t images_ = 0;         ///< loaded
    std::set<std::string> written_;  ///< maps that a layer or the host writes
    std::vector<NamedSurface> surfaces_;
    std::vector<LayerResult> layers_;
};

}  // namespace

ModelProgram layer_program(const Graph& graph, LayerPlan plan, const LayerNpuConfig& config,
                           const HostConfig& host, const GraphInputs* inputs) {
    Diagnostics findings = plan.findings;
    std::ranges::move(host_only_findings(graph, plan.partition), std::back_inserter(findings));
    std::ranges::move(rounding_findings(graph), std::back_inserter(findings));
    const ModelMemory memory{plan.weights, plan.peak_maps};
    if (memory.peak_maps > config.engine.memory) {
        findings.push_back(
            {.severity = Severity::Warning,
             .id = "memory_size",
             .sentence = fmt::format("live feature maps need up to {} bytes, but the NPU has {}",
                                     memory.peak_maps.value, config.engine.memory.value),
             .remedy = "use a smaller model or input, or a larger npu.engine.memory"});
    }
    std::vector<RefusedLayer> refused = refused_layers(plan.partition);
    ModelProgram model = LayerProgrammer(graph, std::move(plan), host).program(inputs);
    model.program.name = graph.name.empty() ? "model" : graph.name;
    model.findings = std::move(findings);
    for (const RoundedLayer& layer : graph.rounded) {
        model.deviations[layer.name] = layer.deviation;
    }
    model.refused = std::move(refused);
    model.memory = memory;
    return model;
}

}  // namespace npuscope
