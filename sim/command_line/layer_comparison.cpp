// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/layer_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "models/base/check.h"
#include "models/base/error.h"
#include "models/layout/relayout.h"
#include "sim/compile/nvdla/plain_network.h"
#include "sim/compile/nvdla/wide_layer.h"
#include "sim/compile/surface_files.h"
#include "sim/model/host_values.h"
#include "sim/model/prepare_graph.h"
#include "sim/quantise/signal_to_noise.h"

namespace npuscope {
namespace {

/// An input as in a plan's image: int8, or pixels from which the NPU subtracts 128.
plain::Values input_of(const StoredCube& stored, const Shape& shape, const PlannedImage& image,
                       bool less_128) {
    const Layout memory = memory_layout(stored, shape);
    const Layout dense = plain_layout(memory.shape, memory.element);
    std::vector<std::uint8_t> bytes(dense.bytes);
    relayout(memory, image.image.bytes, dense, bytes);
    plain::Values values{shape.channels, shape.height, shape.width, {}};
    for (const std::uint8_t byte : bytes) {
        values.values.push_back(static_cast<std::int8_t>(less_128 ? byte - 128 : byte));
    }
    return values;
}

plain::Results given_inputs(const Network& table, const Plan& plan) {
    plain::Results given;
    const auto image_of = [&](const std::string& name) -> const PlannedImage& {
        const auto found = std::ranges::find(plan.images, name, &PlannedImage::name);
        NPU_CHECK(found != plan.images.end(), "the plan has an image of every input");
        return *found;
    };
    const bool pixels = plan.input.pixels && table.input.type == InputType::Uint8;
    given["input"] = input_of(plan.input, table.input.shape(), image_of("input"), pixels);
    for (const PlannedInput& more : plan.more_inputs) {
        given[more.name] = input_of(more.stored, more.shape, image_of(more.image()), false);
    }
    return given;
}

}  // namespace

std::vector<LayerExpectation> table_expectations(const Network& table, const Plan& plan,
                                                 const std::vector<NamedSurface>& surfaces,
                                                 bool given) {
    const plain::Results results =
        plain::run_network(table, plan, given ? given_inputs(table, plan) : plain::Results{});
    std::vector<LayerExpectation> layers;
    for (const PlannedLayer& layer : plan.layers) {
        const auto surface = std::ranges::find_if(surfaces, [&](const NamedSurface& one) {
            return one.is_result && one.name == layer.name;
        });
        if (surface != surfaces.end()) {
            const std::vector<std::int8_t>& values = results.at(layer.name).values;
            layers.push_back({layer.name, *surface, 0, {values.begin(), values.end()}});
        }
    }
    if (layers.empty()) {
        throw ConfigError(fmt::format("the program names no result of a layer of '{}'", table.name),
                          "give the network that it was planned from");
    }
    return layers;
}

Diagnostic output_noise(const Graph& graph, const GraphInputs& inputs, const GraphInputs& outputs) {
    const HostValues values = run_on_host(graph, inputs, value_ranges(graph));
    double least = std::numeric_limits<double>::infinity();
    for (const std::string& name : measured_outputs(graph)) {
        least = std::min(least, decibels_between(values.at(name), outputs.at(name)));
    }
    const std::string outputs_are =
        least >= equal_decibels
            ? "outputs equal those that the host computes"
            : fmt::format(
                  "outputs have a signal-to-noise ratio of {:.1f} dB against those that "
                  "the host computes",
                  least);
    return {.severity = Severity::Note,
            .id = "wide_maps",
            .sentence = fmt::format(
                "feature maps are {}: sums and results are rounded at other points than in the "
                "model; {}",
                precision_name(map_precision(graph)), outputs_are)};
}

std::vector<LayerExpectation> model_expectations(const Graph& graph,
                                                 const std::vector<LayerResult>& layers,
                                                 const GraphInputs& inputs) {
    if (map_precision(graph) != Precision::Int8) {
        throw ConfigError(
            fmt::format("{} results approximate the host's and are not equal",
                        precision_name(map_precision(graph))),
            "leave out --compare-layers: the summary shows how close the outputs are");
    }
    const HostValues values = run_on_host(graph, inputs, value_ranges(graph));
    std::vector<LayerExpectation> expected;
    expected.reserve(layers.size());
    for (const LayerResult& layer : layers) {
        expected.push_back(
            {layer.surface.name, layer.surface, layer.zero, values.at(layer.tensor).numbers});
    }
    return expected;
}

}  // namespace npuscope
