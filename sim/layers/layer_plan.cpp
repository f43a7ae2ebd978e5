// SPDX-License-Identifier: Apache-2.0
#include "sim/layers/layer_plan.h"

#include <algorithm>
#include <cmath>

#include "models/data/packed_surface.h"
#include "models/tinpu/tinpu.h"
#include "sim/pattern/graph_view.h"

namespace npuscope {
namespace {

constexpr std::uint64_t alignment = 4;  // of every block; a word of the host's

std::uint32_t size_of(std::int64_t value) { return static_cast<std::uint32_t>(value); }

Shape cube_of(const Sizes& sizes) {
    return {size_of(sizes[1]), size_of(sizes[2]), size_of(sizes[3])};
}

/// Kernels in the order [k][c][r][s] whatever the pattern's own is.
Kernels<std::int8_t> kernels_of(const Candidate& candidate) {
    const Shape in = cube_of(candidate.in);
    const std::uint32_t outputs = size_of(candidate.out[1]);
    const std::uint32_t rows = size_of(candidate.window.height().kernel);
    const std::uint32_t columns = size_of(candidate.window.width().kernel);
    const auto& weights = candidate.weights.numbers;
    KernelShape shape{outputs, in.channels, rows, columns};
    if (candidate.pattern == Pattern::Dwconv) {
        shape = {1, in.channels, rows, columns};
    } else if (candidate.pattern == Pattern::Fc) {
        shape = {outputs, in.channels, in.height, in.width};
    }
    Kernels<std::int8_t> kernels(shape);
    const std::size_t inner = kernels.values.size() / std::max<std::uint32_t>(shape.kernels, 1);
    const std::size_t taps = std::size_t{shape.rows} * shape.columns;
    for (std::size_t i = 0; i < kernels.values.size(); ++i) {
        std::size_t from = i;
        if (candidate.pattern == Pattern::Fc) {  // [C K]
            from = i % inner * outputs + i / inner;
        } else if (candidate.pattern == Pattern::Tconv) {  // [C K R S]
            const std::size_t c = i % inner / taps;
            from = (c * outputs + i / inner) * taps + i % taps;
        }
        kernels.values[i] = static_cast<std::int8_t>(weights[from]);
    }
    return kernels;
}

std::vector<BnormChannel> constants_of(const Candidate& candidate) {
    std::vector<BnormChannel> channels(static_cast<std::size_t>(candidate.out[1]));
    for (std::size_t c = 0; c < channels.size(); ++c) {
        const NormSequence& norm = candidate.norm;
        if (norm.bias) {
            channels[c].bias = static_cast<std::int32_t>(norm.bias->at(c));
        }
        if (norm.scale) {
            channels[c].scale = static_cast<std::uint8_t>(norm.scale->at(c));
        }
        if (norm.divisor) {
            channels[c].shift = static_cast<std::uint8_t>(std::ilogb(norm.divisor->at(c)));
        }
    }
    return channels;
}

class LayerPlanner {
 public:
    LayerPlanner(const Graph& graph, const LayerNpuConfig& config) : graph_(graph) {
        plan_.patterns = plan_patterns(graph, config.restrictions);
    }

    LayerPlan run() {
        for (const NpuLayer& layer : plan_.patterns.layers) {
            place_constants(layer.candidate, layer.weight_bits);
        }
        plan_.weights = Bytes(next_);
        for (const NpuLayer& layer : plan_.patterns.layers) {
            for (const std::string& tensor : maps_of(layer.candidate)) {
                place_map(tensor);
            }
        }
        plan_.peak_maps = peak_maps();
        return std::move(plan_);
    }

 private:
    static std::vector<std::string> maps_of(const Candidate& candidate) {
        std::vector<std::string> maps{candidate.input, candidate.output};
        if (!candidate.norm.residual.empty()) {
            maps.push_back(candidate.norm.residual);
        }
        return maps;
    }

    Address take(std::uint64_t bytes) {
        const Address base{next_};
        next_ = round_up(next_ + bytes, alignment);
        return base;
    }

    void place_constants(const Candidate& candidate, std::uint32_t bits) {
        LayerSurfaces surfaces;
        if (has_weights(candidate.pattern)) {
            const Kernels<std::int8_t> kernels = kernels_of(candidate);
            std::vector<std::uint8_t> bytes = store_weights(kernels, bits);
            surfaces.weights = WeightSurface{take(bytes.size()), kernels.shape, bits};
            plan_.images.push_back({surfaces.weights->base, std::move(bytes)});
        }
        if (candidate.pattern != Pattern::Maxpool) {
            std::vector<std::uint8_t> bytes = store_constants(constants_of(candidate));
            surfaces.constants = take(bytes.size());
            plan_.images.push_back({*surfaces.constants, std::move(bytes)});
        }
        plan_.surfaces.push_back(surfaces);
    }

    std::uint64_t map_bytes(const std::string& tensor) const {
        return count_elements(graph_.types.at(tensor).sizes);
    }

    void place_map(const std::string& tensor) {
        if (!plan_.maps.contains(tensor)) {
            plan_.maps[tensor] = take(map_bytes(tensor));
        }
    }

    /// A map lives from the node that makes it to the last that reads it, views of it included.
    Bytes peak_maps() const {
        const GraphView view(graph_);
        std::map<std::string, std::size_t> last;
        for (std::size_t i = graph_.nodes.size(); i-- > 0;) {
            for (const std::string& input : graph_.nodes[i].inputs) {
                last.emplace(input, i);
            }
        }
        for (const NpuLayer& layer : plan_.patterns.layers) {
            std::size_t& end = last[layer.candidate.input];
            end = std::max(end, layer.candidate.nodes.back());
        }
        std::uint64_t peak = 0;
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
            std::uint64_t alive = 0;
            for (const auto& [tensor, base] : plan_.maps) {
                const auto made = view.producer(tensor);
                const auto read = last.find(tensor);
                const bool begun = !made || *made <= i;
                const bool needed = read == last.end() ? made && *made == i : read->second >= i;
                alive += begun && needed ? map_bytes(tensor) : 0;
            }
            peak = std::max(peak, alive);
        }
        return Bytes(peak);
    }

    const Graph& graph_;
    LayerPlan plan_;
    std::uint64_t next_ = 0;
};

TinpuWork work_of(Pattern pattern) {
    switch (pattern) {
        case Pattern::Dwconv:
            return TinpuWork::Depthwise;
        case Pattern::Tconv:
            return TinpuWork::Transposed;
        case Pattern::Avgpool:
        case Pattern::AvgpoolGlobal:
            return TinpuWork::AveragePool;
        case Pattern::Maxpool:
            return TinpuWork::MaxPool;
        case Pattern::Fconv:
        case Pattern::Gconv:
        case Pattern::Pwconv:
        case Pattern::Pwconvres:
        case Pattern::Fc:
            break;
    }
    return TinpuWork::Convolution;
}

Convolution geometry_of(const Window& window, const Shape& out) {
    const WindowAxis y = window.height();
    const WindowAxis x = window.width();
    Convolution geometry;
    geometry.out_height = out.height;
    geometry.out_width = out.width;
    geometry.stride_y = size_of(y.stride);
    geometry.stride_x = size_of(x.stride);
    geometry.dilation_y = size_of(y.dilation);
    geometry.dilation_x = size_of(x.dilation);
    geometry.pad_top = size_of(y.pad_begin);
    geometry.pad_left = size_of(x.pad_begin);
    return geometry;
}

}  // namespace

LayerPlan plan_layers(const Graph& graph, const LayerNpuConfig& config) {
    return LayerPlanner(graph, config).run();
}

bool output_is_signed(const NpuLayer& layer, const Signs& signs) {
    const Candidate& candidate = layer.candidate;
    return candidate.norm.clip ? candidate.norm.clip->low < 0 : signs.at(candidate.input);
}

TinpuJob layer_job(const LayerPlan& plan, std::size_t index, const Signs& signs) {
    const NpuLayer& layer = plan.patterns.layers[index];
    const Candidate& candidate = layer.candidate;
    TinpuJob job;
    job.name = layer.name;
    job.work = work_of(candidate.pattern);
    job.input = {plan.maps.at(candidate.input), cube_of(candidate.in), signs.at(candidate.input)};
    job.output = {plan.maps.at(candidate.output), cube_of(candidate.out),
                  output_is_signed(layer, signs)};
    if (!candidate.norm.residual.empty()) {
        job.residual = MapSurface{plan.maps.at(candidate.norm.residual), job.output.shape,
                                  signs.at(candidate.norm.residual)};
    }
    job.weights = plan.surfaces[index].weights;
    job.constants = plan.surfaces[index].constants;
    job.geometry = geometry_of(candidate.window, job.output.shape);
    job.rows = size_of(candidate.window.height().kernel);
    job.columns = size_of(candidate.window.width().kernel);
    if (candidate.pattern == Pattern::Fc) {
        job.rows = job.input.shape.height;
        job.columns = job.input.shape.width;
    }
    job.count_padding = candidate.count_padding;
    job.pad_bottom = size_of(candidate.window.height().pad_end);
    job.pad_right = size_of(candidate.window.width().pad_end);
    job.rounding =
        candidate.rounding == PoolRounding::HalfEven ? HalfRounding::Even : HalfRounding::Up;
    if (candidate.norm.clip) {
        job.clip = {static_cast<std::int32_t>(candidate.norm.clip->low),
                    static_cast<std::int32_t>(candidate.norm.clip->high)};
    }
    return job;
}

}  // namespace npuscope
