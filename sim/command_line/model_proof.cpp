// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "models/layout/packed_surface.h"
#include "models/memory/memory.h"
#include "sim/check/job_maps.h"
#include "sim/command_line/model_source.h"
#include "sim/command_line/network_files.h"
#include "sim/command_line/proof_run.h"
#include "sim/compile/nvdla/nvdla_target.h"
#include "sim/compile/nvdla/segmented_program.h"
#include "sim/compile/nvdla/wide_layer.h"
#include "sim/config/text_table.h"
#include "sim/convert/surface_spec.h"
#include "sim/model/host_values.h"
#include "sim/model/prepare_graph.h"

namespace npuscope {
namespace {

const NamedSurface* find_named(const Program& program, const std::string& name) {
    const auto found = std::ranges::find(program.surfaces, name, &NamedSurface::name);
    return found == program.surfaces.end() ? nullptr : &*found;
}

/// Its name within its own segment.
std::string own_name(const LayerResult& layer) {
    const std::string prefix = fmt::format("segment_{}.", layer.surface.segment);
    return layer.surface.name.starts_with(prefix) ? layer.surface.name.substr(prefix.size())
                                                  : layer.surface.name;
}

/// The segment most of whose results the program names, counted from 1; 0: none.
std::size_t segment_of(const Program& program, const std::vector<LayerResult>& layers) {
    std::map<std::size_t, std::size_t> named;
    for (const LayerResult& layer : layers) {
        const NamedSurface* surface = find_named(program, own_name(layer));
        named[layer.surface.segment] += surface != nullptr && surface->is_result ? 1U : 0U;
    }
    std::size_t best = 0;
    for (const auto& [segment, count] : named) {
        best = count > named[best] ? segment : best;
    }
    return best;
}

/// The values that the program's files hold for an input of the segment; uint8 pixels are stored
/// unchanged.
GraphValue loaded_input(const Program& program, const SparseMemory& memory, const std::string& name,
                        const SegmentTensor& input, const PlannedSegment& segment,
                        const TensorType& type) {
    const bool pixels = name == "input" && segment.plan.input.pixels &&
                        segment.lowered.network.input.type == InputType::Uint8;
    const NamedSurface* surface = find_named(program, name);
    if (surface == nullptr) {
        throw ConfigError(fmt::format("the program names no surface '{}', which holds the model's "
                                      "tensor '{}'",
                                      name, input.tensor),
                          "name it in a comment: // surface NAME = ADDRESS:SHAPE:TYPE:LAYOUT");
    }
    const SurfaceSpec spec = parse_surface_spec(surface->spec);
    std::vector<std::uint8_t> bytes(spec.layout.used);
    memory.read(spec.base, bytes);
    GraphValue value{type, {}};
    for (const std::uint8_t element : spec.elements(bytes)) {
        value.numbers.push_back(pixels ? static_cast<double>(element)
                                       : static_cast<std::int8_t>(element) + input.zero);
    }
    std::size_t wanted = 1;
    for (const std::int64_t size : type.sizes) {
        wanted *= static_cast<std::size_t>(size);
    }
    if (value.numbers.size() != wanted) {
        throw ConfigError(fmt::format("surface '{}' has {}, but the model's tensor '{}' has {}",
                                      name, counted(value.numbers.size(), "element"), input.tensor,
                                      with_separators(wanted)),
                          "give the model that the program was planned from");
    }
    return value;
}

SparseMemory loaded_files(const Program& program) {
    SparseMemory memory;
    for (const Statement& statement : program.statements) {
        if (const auto* load = std::get_if<LoadMemory>(&statement.action)) {
            for (const MemoryImage::Run& run : load->image.runs) {
                memory.write(load->address + Bytes(run.offset),
                             std::span(load->image.bytes).subspan(run.position, run.size));
            }
        }
    }
    return memory;
}

/// Computes every node whose inputs are known.
void evaluate_known(const Graph& graph, HostValues& values, std::set<std::string>& known) {
    const auto is_known = [&](const std::string& tensor) {
        return tensor.empty() || graph.is_constant(tensor) || known.contains(tensor);
    };
    for (const GraphNode& node : graph.nodes) {
        const bool done = std::ranges::all_of(node.outputs, is_known);
        if (!done && host_knows(node) && std::ranges::all_of(node.inputs, is_known)) {
            values.evaluate(node);
            known.insert(node.outputs.begin(), node.outputs.end());
        }
    }
}

[[noreturn]] void refuse_strange_model(const std::string& model) {
    throw ConfigError(fmt::format("the program names no result of a layer of '{}'", model),
                      "give the model that it was planned from, or name its results: // result "
                      "LAYER = ADDRESS:SHAPE:TYPE:LAYOUT after ID");
}

/// `values`: null if the layer's tensor is not known.
void add_layer(const Program& program, const LayerResult& layer, const std::string& name,
               const HostValues* values, ModelLayers& result) {
    const NamedSurface* surface = find_named(program, name);
    if (surface == nullptr || values == nullptr) {
        result.without_result.push_back(name);
        return;
    }
    result.expected.push_back({name, *surface, layer.zero, values->at(layer.tensor).numbers});
}

void add_strange_results(const Program& program, const std::set<std::string>& names,
                         ModelLayers& result) {
    for (const NamedSurface& surface : program.surfaces) {
        if (surface.is_result && !names.contains(surface.name)) {
            result.without_layer.push_back(surface.name);
        }
    }
}

/// Legal random values of an input: codes of its map if it is one, else codes that fit every map,
/// or reals if the model quantises its inputs itself.
GraphValue drawn_input(const Program& program, const Graph& graph, const std::string& name) {
    const TensorType& type = graph.types.at(name);
    const NamedSurface* surface = find_named(program, name);
    const std::optional<NamedMap> map = surface == nullptr ? std::nullopt : map_of(*surface);
    const bool real = !map && is_float(type.element) && takes_reals(graph);
    NumberRange range{0, range_of(ElementType::Int8).high};
    if (map) {
        range = range_of(map->map.is_signed ? ElementType::Int8 : ElementType::Uint8);
    } else if (real) {
        range = {-1, 1};
    }
    std::seed_seq seeds(name.begin(), name.end());
    std::mt19937 random(seeds);
    std::uniform_real_distribution<> uniform(range.low, real ? range.high : range.high + 1);
    GraphValue value = zeros(type);
    std::ranges::generate(value.numbers, [&] {
        const double number = uniform(random);
        return real ? number : std::floor(number);
    });
    return value;
}

/// What the host stores for a tensor that is a map.
std::vector<std::uint8_t> map_bytes(const NamedMap& map, const GraphValue& value) {
    Tensor<std::int32_t> cube(map.map.shape);
    if (value.numbers.size() != cube.values.size()) {
        throw ConfigError(
            map.place,
            fmt::format("surface '{}' has {}, but the model's tensor of this name has {}", map.name,
                        counted(cube.values.size(), "element"),
                        with_separators(value.numbers.size())),
            "give the model that the program was planned from");
    }
    std::ranges::transform(value.numbers, cube.values.begin(), [](double number) {
        return static_cast<std::int32_t>(std::clamp(number, -128.0, 255.0));
    });
    return store_map(cube);
}

ModelLayers job_layers(const Program& program, const Graph& graph, const std::string& model,
                       const Experiment& experiment, const SystemConfig& system) {
    const auto target = system.family->target(system.npu, system.memory, true);
    const ValueRanges given = declared_inputs(model, graph, experiment.plan.input_type);
    const auto plan = target->plan(graph, given);
    const ModelProgram planned = plan->program(system.host, nullptr);
    HostValues values(graph, value_ranges(graph, given));
    std::set<std::string> known;
    for (const std::string& input : graph.inputs) {
        values.put(input, drawn_input(program, graph, input));
        known.insert(input);
    }
    evaluate_known(graph, values, known);
    ModelLayers result;
    std::set<std::string> names;
    for (const LayerResult& layer : planned.layers) {
        names.insert(layer.surface.name);
        add_layer(program, layer, layer.surface.name,
                  known.contains(layer.tensor) ? &values : nullptr, result);
    }
    if (result.expected.empty()) {
        refuse_strange_model(model);
    }
    for (const NamedSurface& surface : program.surfaces) {
        const std::optional<NamedMap> map = map_of(surface);
        if (map && !surface.is_result && known.contains(surface.name)) {
            result.maps[surface.name] = map_bytes(*map, values.at(surface.name));
        }
    }
    add_strange_results(program, names, result);
    return result;
}

}  // namespace

ModelLayers model_layers(const Program& program, const std::string& model,
                         const Experiment& experiment, const SystemConfig& system) {
    const Graph graph =
        read_any_network(model, system, experiment.model, ModelUse::Values, experiment.inputs);
    if (launches_known_jobs(program)) {
        return job_layers(program, graph, model, experiment, system);
    }
    if (map_precision(graph) != Precision::Int8) {
        throw ConfigError("--model: 16-bit results approximate the host's and are not equal",
                          "give a model whose maps are int8");
    }
    const SegmentedPlan plan = plan_segments(graph, experiment.plan.target(system, true));
    const ModelProgram planned = segmented_program(graph, plan, system.host, nullptr);
    const std::size_t number = segment_of(program, planned.layers);
    if (number == 0) {
        refuse_strange_model(model);
    }
    const PlannedSegment& segment = plan.segments[number - 1];
    const SparseMemory memory = loaded_files(program);
    HostValues values(graph, value_ranges(graph));
    std::set<std::string> known;
    for (const SegmentTensor& input : segment.lowered.inputs) {
        values.put(input.tensor, loaded_input(program, memory, input.layer, input, segment,
                                              graph.types.at(input.tensor)));
        known.insert(input.tensor);
    }
    evaluate_known(graph, values, known);
    ModelLayers result;
    std::set<std::string> names;
    for (const LayerResult& layer : planned.layers) {
        const std::string name = own_name(layer);
        if (layer.surface.segment != number) {
            continue;
        }
        names.insert(name);
        add_layer(program, layer, name, known.contains(layer.tensor) ? &values : nullptr, result);
    }
    add_strange_results(program, names, result);
    return result;
}

}  // namespace npuscope
