// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/tinpu/tinpu_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "models/base/rule_ids.h"
#include "models/npu/layer_npu.h"
#include "models/tinpu/tinpu_descriptor.h"
#include "models/tinpu/tinpu_port.h"
#include "models/tinpu/tinpu_timing.h"
#include "sim/compile/explain.h"
#include "sim/compile/tinpu/layer_plan.h"
#include "sim/compile/tinpu/restrictions.h"
#include "sim/config/text_table.h"
#include "sim/config/typed_config.h"
#include "sim/model/candidate.h"

namespace npuscope {

template class TypedFamily<LayerNpuConfig>;

namespace {

std::optional<MapWidth> width_of(const NumberRange& range) {
    for (const unsigned bits : {2U, 4U, 8U}) {
        if (fits_bits(range, bits)) {
            return MapWidth{bits, range.low < 0};
        }
    }
    return std::nullopt;
}

/// Problems of numbers that a job's descriptor does not hold.
Diagnostics beyond_descriptor(const GraphView& model, const Candidate& candidate) {
    constexpr std::int64_t most_size = 65536;  // of a map
    constexpr std::int64_t most_steps = 65535;
    Diagnostics problems;
    const auto check = [&](const char* what, std::int64_t number, std::int64_t most) {
        if (number > most) {
            problems.push_back(broken_rule(model.node(candidate.anchor), rule_ids::descriptor,
                                           std::to_string(number), std::to_string(most),
                                           fmt::format("its {} is more than {}", what, most)));
        }
    };
    const auto check_map = [&](const char* what, const Sizes& sizes) {
        check(what, *std::max_element(sizes.begin() + 1, sizes.end()), most_size);
    };
    check_map("largest input size", candidate.in);
    check_map("largest output size", candidate.out);
    for (const WindowAxis& axis : {candidate.window.height(), candidate.window.width()}) {
        check("kernel", axis.kernel, most_steps);
        check("stride", axis.stride, most_steps);
        check("dilation", axis.dilation, most_steps);
        check("padding", std::max(axis.pad_begin, axis.pad_end), most_steps);
    }
    return problems;
}

std::optional<MapWidth> known_width(const GraphView& model, const std::string& tensor) {
    const ValueRange* known = model.range(tensor);
    return known != nullptr && known->whole && !known->assumed ? width_of(known->range)
                                                               : std::nullopt;
}

/// The layers that the NPU runs, with their cycles on a memory without latency.
std::string layer_table(const LayerPlan& plan, const LayerNpuConfig& config, std::size_t width) {
    TextTable table({{"layer", Align::Left},
                     {"pattern", Align::Left},
                     {"weights", Align::Right},
                     {"input [H,W,C]", Align::Left},
                     {"output [H,W,C]", Align::Left},
                     {"kernel", Align::Left},
                     {"strides", Align::Left},
                     {"padding", Align::Left},
                     {"cycles", Align::Right}});
    Signs signs;  // they cost no cycles
    for (std::size_t i = 0; i < plan.partition.groups.size(); ++i) {
        const NodeGroup& layer = plan.partition.groups[i];
        const Candidate& candidate = *layer.layer;
        const std::uint32_t weight_bits = tinpu_layer(layer).weight_bits;
        signs.emplace(candidate.input, false);
        signs.emplace(candidate.norm.residual, false);
        const Cycles cycles =
            tinpu_cycles(layer_job(plan, i, signs), config.engine, config.mcif.bus_width).total();
        const WindowAxis height = candidate.window.height();
        const WindowAxis columns = candidate.window.width();
        table.add_row(
            {layer.name, layer.pattern, weight_bits == 0 ? "-" : fmt::format("{}-bit", weight_bits),
             fmt::format("{},{},{}", candidate.in[2], candidate.in[3], candidate.in[1]),
             fmt::format("{},{},{} {}", candidate.out[2], candidate.out[3], candidate.out[1],
                         candidate.norm.clip ? width_text(clip_width(candidate)) : ""),
             fmt::format("{}x{}", height.kernel, columns.kernel),
             fmt::format("{}x{}", height.stride, columns.stride), padding_text(candidate.window),
             with_separators(cycles.value)});
    }
    return table.empty() ? "" : table.text(width) + '\n';
}

class TinpuPlan final : public ModelPlan {
 public:
    TinpuPlan(const Graph& graph, LayerPlan plan, const LayerNpuConfig& config)
        : graph_(graph), plan_(std::move(plan)), config_(config) {}

    const Partition& partition() const override { return plan_.partition; }
    Diagnostics findings() const override {
        Diagnostics all = plan_.findings;
        std::ranges::move(host_only_findings(graph_, plan_.partition), std::back_inserter(all));
        return all;
    }
    std::vector<std::string> layers() const override {
        std::vector<std::string> layers;
        for (const NodeGroup& group : plan_.partition.groups) {
            layers.push_back(group.name + ", 1 operation");
        }
        return layers;
    }
    std::string summary(std::size_t width) const override {
        const std::string headline = fmt::format(
            "{} on {}: {}, {} of them in {} of the NPU\n"
            "weights and constants {} bytes, live feature maps at most {} bytes{}\n"
            "\n",
            graph_.name.empty() ? graph_.file : graph_.name, config_.name,
            counted(graph_.nodes.size(), "node"), plan_.partition.count(NodeSide::Npu),
            counted(plan_.partition.groups.size(), "layer"), with_separators(plan_.weights.value),
            with_separators(plan_.peak_maps.value),
            plan_.peak_maps > config_.engine.memory
                ? fmt::format(", more than the NPU's {}", config_.engine.memory.value)
                : "");
        return fitted(headline, width) + layer_table(plan_, config_, width);
    }
    ModelProgram program(const HostConfig& host, const GraphInputs* inputs) const override {
        return layer_program(graph_, plan_, config_, host, inputs);
    }

 private:
    const Graph& graph_;
    LayerPlan plan_;
    LayerNpuConfig config_;
};

}  // namespace

std::optional<MapWidth> clip_width(const Candidate& candidate) {
    return candidate.norm.clip ? width_of({candidate.norm.clip->low, candidate.norm.clip->high})
                               : std::nullopt;
}

std::string width_text(const std::optional<MapWidth>& width) {
    return width ? fmt::format("{}-bit {}", width->bits, width->is_signed ? "signed" : "unsigned")
                 : std::string("8-bit");
}

const TinpuLayer& tinpu_layer(const NodeGroup& group) {
    return std::any_cast<const TinpuLayer&>(group.lowered);
}

std::unique_ptr<ModelPlan> TinpuTarget::plan(const Graph& graph, const ValueRanges& given) const {
    return std::make_unique<TinpuPlan>(graph, plan_layers(graph, config_, memory_, given), config_);
}

std::optional<NodeGroup> TinpuTarget::group_at(const GraphView& model, std::size_t anchor,
                                               bool with_residual) const {
    std::optional<Candidate> candidate = read_candidate(model, anchor, with_residual);
    return candidate ? std::optional(pattern_group(*std::move(candidate))) : std::nullopt;
}

Diagnostics TinpuTarget::lower(const GraphView& model, NodeGroup& group) const {
    CheckedLayer checked = check_restrictions(model, config_.restrictions, *group.layer);
    std::ranges::move(beyond_descriptor(model, *group.layer), std::back_inserter(checked.problems));
    group.lowered = TinpuLayer{checked.weight_bits, known_width(model, group.layer->input)};
    return std::move(checked.problems);
}

std::string TinpuTarget::unit_of(const NodeGroup& /*group*/, std::size_t /*node*/) const {
    return "tinpu";
}

std::string TinpuTarget::configuration(const NodeGroup& group) const {
    const Candidate& candidate = *group.layer;
    const TinpuLayer& layer = tinpu_layer(group);
    std::string text = fmt::format("input {} {} NHWC, output {} {} NHWC\n  ",
                                   width_text(layer.input), hwc_text(candidate.in),
                                   width_text(clip_width(candidate)), hwc_text(candidate.out));
    if (has_weights(candidate.pattern)) {
        text += fmt::format("weights {} HWIO, ", layer.weight_bits == 0
                                                     ? "of no width"
                                                     : fmt::format("{}-bit", layer.weight_bits));
    }
    return text + window_text(candidate);
}

LimitRows TinpuFamily::limits() const {
    // source: the values of the presets, and what the equations of tinpu_timing divide by
    static constexpr std::array rows{
        Limit{"npu.engine.input_lanes", 1, largest_count},
        Limit{"npu.engine.output_lanes", 1, largest_count},
        Limit{"npu.engine.weight_buffers", 1, largest_count},
        Limit{"npu.engine.launch_queue", 1, largest_count},
        Limit{"npu.engine.read_buffer", 1, largest_count},
        Limit{"npu.engine.alignment", 1, 65536, true}, Limit{"npu.engine.memory", 1, 1ULL << 40U},
        // source: TI Neural Network Compiler for MCUs, weights of 2, 4 and 8 bits; sums have 32 bits
        Limit{"npu.restrictions.weights[].bits", 2, 8},
        Limit{"npu.restrictions.weights[].bias_bits", 1, 32},
        Limit{"npu.restrictions.weights[].scale_bits", 0, 16},
        Limit{"npu.restrictions.pooling.bits", 2, 8},
        Limit{"npu.restrictions.pooling.bias_bits", 1, 32},
        Limit{"npu.restrictions.pooling.scale_bits", 0, 16},
        Limit{"npu.restrictions.preclip_bits", 1, 32}, Limit{"npu.restrictions.shift_bits", 1, 6},
        Limit{"npu.restrictions.batch", 0, 1}};
    return {.limits = rows};
}

std::unique_ptr<Machine> TinpuFamily::build(const AnyConfig& npu, DiagnosticLog& log) const {
    const LayerNpuConfig& config = typed(npu);
    return std::make_unique<LayerNpu>("npu", LayerNpu::Config{config.mcif, config.engine}, log);
}

std::shared_ptr<const Target> TinpuFamily::target(const AnyConfig& npu, const MemoryConfig& memory,
                                                  bool /*values*/) const {
    return std::make_shared<TinpuTarget>(typed(npu), memory);
}

FamilyRegisters TinpuFamily::registers(const AnyConfig& /*npu*/) const {
    return {.blocks = {&tinpu_registers(), 1},
            .note =
                "The vendor's programming interface is not public; this one is specific to the "
                "simulator."};
}

std::string_view TinpuFamily::fields_of(Cause cause) const {
    switch (cause) {
        case Cause::Mac:
            return "npu.engine.input_lanes, npu.engine.output_lanes";
        case Cause::WeightFetch:
            return "npu.engine.cycles_per_100_weight_bytes, npu.engine.weight_buffers";
        case Cause::StartUp:
            return "npu.engine.layer_overhead";
        case Cause::Work:
            return "npu.engine.cycles_per_100_pool_taps";
        case Cause::Memory:
            return "npu.engine.read_buffer, memory.beat_interval, memory.read_latency";
        default:
            return {};
    }
}

std::shared_ptr<UnitJob> TinpuFamily::read_job(std::span<const std::uint8_t> descriptor) const {
    std::array<std::uint8_t, descriptor_bytes> bytes{};
    if (descriptor.size() > bytes.size()) {
        throw ConfigError(fmt::format("the job has {} words, but a descriptor has {}",
                                      descriptor.size() / sizeof(std::uint32_t),
                                      bytes.size() / sizeof(std::uint32_t)),
                          "docs/tinpu.md has the format");
    }
    std::ranges::copy(descriptor, bytes.begin());
    return std::make_shared<TinpuJob>(load_descriptor(bytes));
}

std::vector<std::uint8_t> TinpuFamily::write_job(const UnitJob& job) const {
    const auto* layer = dynamic_cast<const TinpuJob*>(&job);
    NPU_CHECK(layer != nullptr, "a family meets its own jobs");
    std::vector<std::uint8_t> bytes = store_descriptor(*layer);
    while (bytes.back() == 0) {
        bytes.pop_back();
    }
    return bytes;
}

SystemConfig tinpu_system(LayerNpuConfig npu, MemoryConfig memory, HostConfig host) {
    static const TinpuFamily family;
    return {&family, AnyConfig(std::move(npu)), std::move(memory), host};
}

const LayerNpuConfig& tinpu_npu(const SystemConfig& system) {
    const auto* npu = system.npu.find<LayerNpuConfig>();
    if (npu == nullptr) {
        throw ConfigError(system.npu_name() + " is not an NPU of the family tinpu");
    }
    return *npu;
}

}  // namespace npuscope
