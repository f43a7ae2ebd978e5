// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/tinpu/layer_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "models/base/error.h"
#include "models/layout/packed_surface.h"
#include "models/tinpu/tinpu_job.h"
#include "sim/compile/tinpu/tinpu_target.h"
#include "sim/config/text_table.h"
#include "sim/model/graph.h"
#include "sim/model/prepare_graph.h"

namespace npuscope {
namespace {

using LastReaders = std::map<std::string, std::size_t>;

LastReaders last_readers(const Graph& graph, const Partition& partition) {
    LastReaders last;
    for (std::size_t i = graph.nodes.size(); i-- > 0;) {
        for (const std::string& input : graph.nodes[i].inputs) {
            last.emplace(input, i);
        }
    }
    for (const NodeGroup& group : partition.groups) {
        const Candidate& candidate = *group.layer;
        const std::size_t runs_at = group.last_node();
        for (const std::string& read : {candidate.input, candidate.norm.residual}) {
            if (!read.empty()) {
                last[read] = std::max(last[read], runs_at);
            }
        }
    }
    return last;
}

bool together(const LiveRange& a, const LiveRange& b) {
    return a.first <= b.last && b.first <= a.last;
}

}  // namespace

std::vector<LiveRange> live_ranges(const Graph& graph, const Partition& partition) {
    const GraphView view(graph);
    const LastReaders last = last_readers(graph, partition);
    std::set<std::string> seen;
    std::vector<LiveRange> ranges;
    for (const NodeGroup& group : partition.groups) {
        const Candidate& candidate = *group.layer;
        for (const std::string& tensor :
             {candidate.input, candidate.output, candidate.norm.residual}) {
            if (tensor.empty() || !seen.insert(tensor).second) {
                continue;
            }
            const std::size_t made = view.producer(tensor).value_or(0);
            const auto read = last.find(tensor);
            ranges.push_back({tensor, Bytes(count_elements(graph.types.at(tensor).sizes)), made,
                              read == last.end() ? made : std::max(made, read->second),
                              group.name});
        }
    }
    return ranges;
}

Bytes peak_bytes(const std::vector<LiveRange>& ranges) {
    Bytes peak;
    for (const LiveRange& begun : ranges) {
        Bytes alive;
        for (const LiveRange& range : ranges) {
            const bool now = range.first <= begun.first && begun.first <= range.last;
            alive += now ? range.bytes : Bytes(0);
        }
        peak = std::max(peak, alive);
    }
    return peak;
}

std::map<std::string, Bytes> place_maps(const std::vector<LiveRange>& ranges, Bytes alignment) {
    std::vector<const LiveRange*> by_size;
    by_size.reserve(ranges.size());
    for (const LiveRange& range : ranges) {
        by_size.push_back(&range);
    }
    std::ranges::stable_sort(
        by_size, [](const LiveRange* a, const LiveRange* b) { return a->bytes > b->bytes; });
    std::map<std::string, Bytes> offsets;
    std::vector<const LiveRange*> placed;  // by offset
    for (const LiveRange* range : by_size) {
        Bytes offset;
        for (const LiveRange* other : placed) {
            const Bytes begin = offsets.at(other->tensor);
            if (!together(*range, *other) || begin + other->bytes <= offset) {
                continue;
            }
            if (offset + range->bytes <= begin) {
                break;
            }
            offset = Bytes(round_up((begin + other->bytes).value, alignment.value));
        }
        offsets[range->tensor] = offset;
        const auto next = std::ranges::upper_bound(
            placed, offset, {}, [&](const LiveRange* other) { return offsets.at(other->tensor); });
        placed.insert(next, range);
    }
    return offsets;
}

namespace {

std::uint32_t size_of(std::int64_t value) { return static_cast<std::uint32_t>(value); }

Shape cube_of(const Sizes& sizes) {
    return {size_of(sizes[1]), size_of(sizes[2]), size_of(sizes[3])};
}

/// Kernels in the order [k][c][r][s], whatever the pattern's own order.
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

/// Bytes of a region that plans may use.
Bytes room_of(const MemoryRegionConfig& region) {
    return std::min(region.surfaces.value_or(region.size), region.size);
}

/// The error that `surface` of `layer` ends beyond the region's room.
Diagnostic no_room(const MemoryRegionConfig& region, const ByteRun& run, const std::string& surface,
                   const std::string& layer) {
    return {.id = "memory_room",
            .sentence = fmt::format(
                "surface '{}' of {} at {} ends {} beyond the {} available in region '{}'", surface,
                counted(run.bytes.value, "byte"), to_hex(run.address),
                counted((run.address + run.bytes - region.base - room_of(region)).value, "byte"),
                counted(room_of(region).value, "byte"), region.name),
            .address = run.address,
            .unit = "plan",
            .surface = surface,
            .operation = layer};
}

class LayerPlanner {
 public:
    LayerPlanner(const Graph& graph, const LayerNpuConfig& config, const MemoryConfig& memory,
                 const ValueRanges& given)
        : graph_(graph), alignment_(config.engine.alignment) {
        check_engine(config.engine, config.mcif.bus_width);
        plan_.memory = memory;
        plan_.ranges = value_ranges(graph, given);
        plan_.partition = partition_graph(GraphView(graph, plan_.ranges), TinpuTarget(config));
    }

    LayerPlan run() {
        const std::vector<MemoryRegionConfig>& regions = plan_.memory.regions;
        if (regions.empty()) {
            throw ConfigError("the memory has no region", "add one to memory.regions");
        }
        region_ = &regions.front();
        used_ = aligned(*region_);
        const auto other = std::find_if(
            regions.begin() + 1, regions.end(),
            [](const MemoryRegionConfig& region) { return region.surfaces.has_value(); });
        const MemoryRegionConfig& maps = other == regions.end() ? *region_ : *other;
        for (const NodeGroup& layer : plan_.partition.groups) {
            place_constants(layer);
        }
        plan_.weights = used_ - aligned(*region_);
        const std::vector<LiveRange> ranges = live_ranges(graph_, plan_.partition);
        const Bytes begin = &maps == region_ ? used_ : aligned(maps);
        const auto offsets = place_maps(ranges, alignment_);
        for (const LiveRange& range : ranges) {
            const Address base = maps.base + begin + offsets.at(range.tensor);
            plan_.maps[range.tensor] = base;
            expect_room(maps, {base, range.bytes}, range.tensor, range.layer);
        }
        plan_.peak_maps = peak_bytes(ranges);
        return std::move(plan_);
    }

 private:
    /// The first aligned address of a region, from its beginning.
    Bytes aligned(const MemoryRegionConfig& region) const {
        return Address(round_up(region.base.value, alignment_.value)) - region.base;
    }

    void expect_room(const MemoryRegionConfig& region, const ByteRun& run,
                     const std::string& surface, const std::string& layer) {
        if (run.address + run.bytes - region.base > room_of(region)) {
            plan_.findings.push_back(no_room(region, run, surface, layer));
        }
    }

    /// After what has been placed already, in the region of constants.
    Address place(std::vector<std::uint8_t> bytes, const char* surface, const std::string& layer) {
        const Address base = region_->base + used_;
        const Bytes size(bytes.size());
        expect_room(*region_, {base, size}, surface, layer);
        used_ += Bytes(round_up(size.value, alignment_.value));
        plan_.images.push_back({base, std::move(bytes)});
        return base;
    }

    void place_constants(const NodeGroup& layer) {
        const Candidate& candidate = *layer.layer;
        LayerSurfaces surfaces;
        if (has_weights(candidate.pattern)) {
            const std::uint32_t bits = tinpu_layer(layer).weight_bits;
            const Kernels<std::int8_t> kernels = kernels_of(candidate);
            surfaces.weights = WeightSurface{
                place(store_weights(kernels, bits), "weights", layer.name), kernels.shape, bits};
        }
        if (candidate.pattern != Pattern::Maxpool) {
            surfaces.constants =
                place(store_constants(constants_of(candidate)), "constants", layer.name);
        }
        plan_.surfaces.push_back(surfaces);
    }

    const Graph& graph_;
    Bytes alignment_;
    LayerPlan plan_;
    const MemoryRegionConfig* region_ = nullptr;
    Bytes used_;
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
        default:
            return TinpuWork::Convolution;
    }
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

/// Whether a layer's output is signed.
bool output_is_signed(const NodeGroup& layer, const Signs& signs) {
    const Candidate& candidate = *layer.layer;
    return candidate.norm.clip ? candidate.norm.clip->low < 0 : signs.at(candidate.input);
}

}  // namespace

LayerPlan plan_layers(const Graph& graph, const LayerNpuConfig& config, const MemoryConfig& memory,
                      const ValueRanges& given) {
    return LayerPlanner(graph, config, memory, given).run();
}

std::optional<bool> stated_sign(const Graph& graph, const std::string& tensor) {
    const ElementType type = graph.types.at(tensor).element;
    return type == ElementType::Int8 || type == ElementType::Uint8
               ? std::optional(type == ElementType::Int8)
               : std::nullopt;
}

bool expected_sign(const Graph& graph, const LayerPlan& plan, const std::string& tensor) {
    return stated_sign(graph, tensor).value_or(plan.ranges.at(tensor).range.low < 0);
}

TinpuJob layer_job(const LayerPlan& plan, std::size_t index, const Signs& signs) {
    const NodeGroup& layer = plan.partition.groups[index];
    const Candidate& candidate = *layer.layer;
    TinpuJob job;
    job.name = layer.name;
    job.kind = layer.pattern;
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
