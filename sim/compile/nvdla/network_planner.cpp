// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/network_planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "models/base/check.h"
#include "models/base/error.h"
#include "sim/compile/nvdla/conv_planner.h"
#include "sim/compile/nvdla/input_surface.h"
#include "sim/compile/nvdla/single_operations.h"
#include "sim/compile/nvdla/values_that_plan.h"

namespace npuscope {
namespace {

/// Where results are until all constants before them are placed: beyond what constants can reach.
constexpr Bytes unknown_constants(std::uint64_t{1} << 48U);

bool fits_registers(const LayerWindow& window, const WindowLimits& limits) {
    return std::max(window.rows, window.columns) <= limits.kernel &&
           std::max(window.stride_y, window.stride_x) <= limits.stride &&
           std::max(window.dilation_y, window.dilation_x) <= limits.dilation &&
           std::max(window.pad_top, window.pad_left) < limits.kernel;
}

const MemoryRegionConfig* sram_region(const PlanTarget& target) {
    return target.npu.mcif.secondary_port ? sram_region(target.memory) : nullptr;
}

Bytes sram_room(const MemoryRegionConfig& region) {
    return std::min(region.surfaces.value_or(Bytes(0)), region.size);
}

}  // namespace

std::optional<Diagnostic> cube_problem(const std::string& subject, std::int64_t channels,
                                       std::int64_t height, std::int64_t width) {
    if (std::max(channels, width) <= largest_cube_size && height <= largest_height) {
        return std::nullopt;
    }
    return Diagnostic{.sentence = fmt::format("{}: {}x{}x{} exceeds the register field", subject,
                                              channels, height, width),
                      .remedy = fmt::format("maps have at most {} channels, {} columns and {} rows",
                                            largest_cube_size, largest_cube_size, largest_height)};
}

WindowLimits window_limits(const NpuConfig& npu) {
    return npu.csb.wide_fields ? WindowLimits{256, 256, 256} : WindowLimits{};
}

std::optional<Diagnostic> memory_problem(const PlanTarget& target, Bytes bytes) {
    const MemoryRegionConfig& region = target.memory.regions.front();
    const std::uint32_t bits = target.npu.mcif.address_bits;
    const std::uint64_t end = region.base.value + bytes.value;
    const Bytes limit = std::min(region.size, region.surfaces.value_or(region.size));
    if (bytes <= limit && (bits >= 64 || end <= std::uint64_t{1} << bits)) {
        return std::nullopt;
    }
    const bool given = region.surfaces && bytes <= region.size;
    return Diagnostic{.sentence = fmt::format("the network needs {} bytes of memory from {} on, "
                                              "more than region '{}' or a {}-bit address provides",
                                              bytes.value, to_hex(region.base), region.name, bits),
                      .remedy = given ? "raise memory.regions[0].surfaces"
                                      : "enlarge the region, or move its base down",
                      .field = region_size};
}

TilingCosts costs_of(const PlanTarget& target) {
    const MemoryConfig& memory = target.memory;
    const MemoryRegionConfig* sram = sram_region(target);
    return {.npu = target.npu,
            .memory = pace_of(memory.regions.front(), memory, target.npu),
            .sram = sram == nullptr ? MemoryPace{} : pace_of(*sram, memory, target.npu),
            .parts = target.parts,
            .forced = target.forced};
}

namespace {

std::optional<SramPlan> sram_of(const PlanTarget& target, const std::set<std::string>& results) {
    const MemoryRegionConfig* region = sram_region(target);
    if (region == nullptr || results.empty()) {
        return std::nullopt;
    }
    return SramPlan{PlanMemory(region->base, Bytes(0)), sram_room(*region), results};
}

class NetworkPlanner {
 public:
    /// `sram`: names of the layers whose results go there.
    NetworkPlanner(const Network& network, const PlanTarget& target,
                   const std::set<std::string>& sram)
        : network_(network),
          target_(target),
          shapes_(network_shapes(network)),
          context_{.costs = costs_of(target),
                   .memory = PlanMemory(target.memory.regions.front().base, unknown_constants),
                   .sram = sram_of(target, sram),
                   .compression = target.compression,
                   .winograd = target.winograd && network.is_synthetic(),  // a model's are exact
                   .alternatives = target.alternatives,
                   .describable = target.describable,
                   .images = target.images,
                   .precision = network.precision,
                   .plan = {}},
          results_(network, shapes_),
          fused_(choose_fusions(network, shapes_, target.npu)),
          pixels_(target.pixels && network.precision == Precision::Int8
                      ? open_pixels(network, shapes_, target.npu)
                      : std::vector<const PixelFormat*>{}) {
        context_.plan.name = network.name;
        context_.plan.precision = network.precision;
        context_.plan.registers = target.npu.csb.address_map;
    }

    std::variant<Plan, Diagnostic> plan() {
        context_.problem = missing_fusion(network_, fused_);
        if (!context_.problem) {
            place_input();
        }
        for (std::size_t i = 0; i < network_.layers.size() && !context_.problem; ++i) {
            if (network_.layers[i].kind == LayerKind::Input) {
                place_more(i);
            }
        }
        for (std::size_t i = 0; i < network_.layers.size() && !context_.problem; ++i) {
            if (!results_.is_there(i)) {
                plan_layer(i);
            }
        }
        if (context_.problem) {
            return *std::move(context_.problem);
        }
        if (beyond_memory_) {
            Diagnostic problem = *memory_problem(target_, memory());
            problem.operation = *std::move(beyond_memory_);
            return problem;
        }
        context_.plan.memory = memory();
        context_.plan.sram = context_.sram ? context_.sram->memory.used() : Bytes(0);
        const Address base = target_.memory.regions.front().base;
        move_results(context_.plan, base + unknown_constants, base + constants());
        return std::move(context_.plan);
    }

 private:
    Bytes constants() const {
        return Bytes(round_up(context_.memory.constants().value, PlanMemory::alignment));
    }
    /// From the first address to the end of the last surface.
    Bytes memory() const { return context_.memory.used() - unknown_constants + constants(); }

    void refuse(const std::string& layer, Diagnostic problem) {
        problem.operation = layer;
        context_.problem = std::move(problem);
    }

    static std::optional<Diagnostic> problem_of_cube(const std::string& subject,
                                                     const Shape& shape) {
        return cube_problem(subject, shape.channels, shape.height, shape.width);
    }

    void place_input() {
        const Shape shape = network_.input.shape();
        if (auto problem = problem_of_cube("the network's input", shape)) {
            return refuse("input", *std::move(problem));
        }
        const PixelFormat* declared = declared_pixels(network_, context_.npu());
        const PixelFormat* format = declared != nullptr ? declared : faster_pixels();
        results_.place_input(
            std::nullopt, format != nullptr
                              ? context_.place_pixels(shape, *format)
                              : context_.place_cube("input", shape, context_.channels_per_atom()));
        context_.plan.input = input();
        note_memory("input");
        context_.plan.images.push_back(input_image(network_, input(), context_.images));
    }
    const StoredCube& input() { return results_.cube_of(std::nullopt); }

    /// Placed before any layer: its contents are loaded before the first one starts.
    void place_more(std::size_t index) {
        const std::string& name = network_.layers[index].name;
        const Shape shape = shapes_[index].output;
        if (auto problem = problem_of_cube(fmt::format("input '{}'", name), shape)) {
            return refuse(name, *std::move(problem));
        }
        StoredCube cube = context_.place_cube(name, shape, context_.channels_per_atom());
        context_.plan.more_inputs.push_back({name, shape, cube});
        context_.plan.images.push_back(
            more_input_image(network_, index, context_.plan.more_inputs.back(), context_.images));
        results_.place_input(index, std::move(cube));
        note_memory(name);
    }

    /// The format that is predicted to be faster than a feature cube; null where there is none.
    const PixelFormat* faster_pixels() {
        if (pixels_.empty()) {
            return nullptr;
        }
        const std::size_t reader = *pixel_reader(network_, shapes_);
        const StoredCube features{
            packed_cube(Address(0), network_.input.shape(), context_.atom(), context_.element()),
            context_.channels_per_atom()};
        const PixelFormat* best = nullptr;
        Cycles least;
        for (const PixelFormat* format : pixels_) {
            ConvTask task = conv_task(reader, features);
            task.or_pixels = format;
            const std::optional<ConvTiling> tiling = best_tiling(task, context_);
            if (!tiling) {
                return nullptr;
            }
            if (tiling->form.mode == ConvMode::Image && (!best || tiling->estimate < least)) {
                best = format;
                least = tiling->estimate;
            }
        }
        return best;
    }

    /// Problems that no plan of the layer could avoid.
    std::optional<Diagnostic> problem_of(std::size_t index) {
        const Layer& layer = network_.layers[index];
        const std::string subject = fmt::format("layer '{}'", layer.name);
        if (auto problem = problem_of_cube(subject, shapes_[index].output)) {
            return problem;
        }
        const bool conv = layer.kind == LayerKind::Conv || layer.kind == LayerKind::Fc;
        const WindowLimits limits = window_limits(target_.npu);
        if (conv && !fits_registers(shapes_[index].window, limits)) {
            return Diagnostic{.sentence = fmt::format("{}: limits are {} rows and columns of a "
                                                      "kernel, stride {}, dilation {}, padding {}",
                                                      subject, limits.kernel, limits.stride,
                                                      limits.dilation, limits.kernel - 1),
                              .remedy = target_.npu.csb.wide_fields
                                            ? "split the layer"
                                            : "split the layer, or set npu.csb.wide_fields=true"};
        }
        if (reads_input(shapes_[index]) && input().pixels &&
            pixel_reader(network_, shapes_) != index) {
            return Diagnostic{.sentence = subject +
                                          ": an input in a pixel format can only be read by a "
                                          "single ungrouped convolution",
                              .remedy = "declare no pixel layout, or start with such a layer"};
        }
        return std::nullopt;
    }

    /// Notes the first layer after which memory is used up.
    void note_memory(const std::string& layer) {
        if (!beyond_memory_ && memory_problem(target_, memory())) {
            beyond_memory_ = layer;
        }
    }

    void plan_layer(std::size_t index) {
        if (auto problem = problem_of(index)) {
            return refuse(network_.layers[index].name, *std::move(problem));
        }
        PlannedLayer planned;
        planned.kind = network_.layers[index].kind;
        const LayerNumbers* given = network_.layers[index].given_numbers();
        planned.macs =
            given != nullptr ? given->macs.value_or(shapes_[index].macs) : shapes_[index].macs;
        planned.first_operation = context_.plan.operations.size();
        std::optional<StoredCube> written = plan_operations(index, planned);
        if (!written) {
            return;
        }
        note_memory(network_.layers[index].name);
        planned.stored = *written;
        planned.operations = context_.plan.operations.size() - planned.first_operation;
        const std::size_t result = fused_[index].value_or(index);
        planned.name = network_.layers[result].name;
        planned.shape = shapes_[result].output;
        planned.first_layer = network_.layers[index].name;
        planned.output = results_.is_output(result);
        results_.place_result(result, *std::move(written), context_.plan.layers.size());
        context_.plan.layers.push_back(std::move(planned));
        results_.note_reads(index, context_);
        if (fused_[index]) {
            results_.note_reads(*fused_[index], context_);
        }
    }

    std::optional<StoredCube> plan_operations(std::size_t index, PlannedLayer& planned) {
        const Layer& layer = network_.layers[index];
        const LayerNumbers* given = layer.given_numbers();
        switch (layer.kind) {
            case LayerKind::Conv:
            case LayerKind::Fc:
                return plan_convolution(index, planned);
            case LayerKind::MaxPool:
            case LayerKind::AvgPool:
                return plan_pool(
                    {layer, shapes_[index], results_.cube_of(shapes_[index].sources.front())},
                    context_);
            case LayerKind::Add:
                return plan_add({layer, shapes_[index], results_.cube_of(shapes_[index].sources[0]),
                                 results_.cube_of(shapes_[index].sources[1]), given},
                                context_);
            case LayerKind::Mul:
                return plan_mul({layer, shapes_[index], results_.cube_of(shapes_[index].sources[0]),
                                 results_.cube_of(shapes_[index].sources[1]), given},
                                context_);
            case LayerKind::Concat: {
                ConcatTask task{layer, shapes_[index], {}, {}};
                for (const std::optional<std::size_t> source : shapes_[index].sources) {
                    task.inputs.push_back(&results_.cube_of(source));
                }
                if (given != nullptr) {
                    task.offsets = given->offsets;
                }
                return plan_concat(task, context_);
            }
            case LayerKind::Slice:
                return plan_slice(
                    {layer, shapes_[index], results_.cube_of(shapes_[index].sources.front()),
                     given != nullptr ? given->begin : Shape{0, 0, 0},
                     is_read_whole(shapes_[index].sources.front())},
                    context_);
            case LayerKind::Lookup:
                return plan_lookup(
                    {layer, shapes_[index], results_.cube_of(shapes_[index].sources.front()),
                     layer_table(network_, index), given},
                    context_);
            case LayerKind::Input:
                break;
        }
        NPU_CHECK(false, "the layer does not compute");
        return std::nullopt;
    }

    /// By a layer that is no slice, or by slices that together are as large as it.
    bool is_read_whole(std::optional<std::size_t> source) const {
        std::uint64_t read = 0;
        for (std::size_t i = 0; i < shapes_.size(); ++i) {
            if (std::ranges::find(shapes_[i].sources, source) != shapes_[i].sources.end()) {
                const bool part = network_.layers[i].kind == LayerKind::Slice;
                read += (part ? shapes_[i].output : shapes_[i].input).elements();
            }
        }
        return source && read >= shapes_[*source].output.elements();
    }

    /// Without what must have been planned before it: residual, pixels to report.
    ConvTask conv_task(std::size_t index, const StoredCube& input) const {
        ConvTask task{.layer = network_.layers[index],
                      .shapes = shapes_[index],
                      .input = input,
                      .values = layer_values(network_, shapes_[index], index),
                      .precision = network_.precision,
                      .alone = network_.layers.size() == (fused_[index] ? 2U : 1U),
                      .pixel_conversion = pixel_conversion(network_.input.type)};
        if (const std::optional<std::size_t> other = fused_[index]) {
            const LayerKind kind = network_.layers[*other].kind;
            task.result = network_.layers[*other].name;
            task.relu_after_residual = network_.layers[*other].relu;
            if (kind == LayerKind::Lookup) {
                task.table = layer_table(network_, *other);
            } else if (kind != LayerKind::Add) {
                task.pool = &shapes_[*other];
                task.pooling =
                    kind == LayerKind::MaxPool ? PoolingMethod::Max : PoolingMethod::Average;
            }
        }
        return task;
    }

    std::optional<StoredCube> plan_convolution(std::size_t index, PlannedLayer& planned) {
        ConvTask task = conv_task(index, results_.cube_of(shapes_[index].sources.front()));
        if (reads_input(shapes_[index]) && !pixels_.empty()) {
            const auto& placed = input().pixels;
            task.told_pixels = placed ? placed->format : pixels_.front();
        }
        if (const std::optional<std::size_t> other = fused_[index];
            other && network_.layers[*other].kind == LayerKind::Add) {
            const auto& sources = shapes_[*other].sources;
            task.residual = &results_.cube_of(sources[0] == index ? sources[1] : sources[0]);
        }
        ConvChoice choice;
        std::optional<StoredCube> written = plan_conv(task, context_, choice);
        if (fused_[index]) {
            results_.join(index);
        }
        planned.cut = std::move(choice);
        return written;
    }

    const Network& network_;
    const PlanTarget& target_;
    std::vector<LayerShapes> shapes_;
    PlanContext context_;
    ResultBoard results_;
    std::vector<std::optional<std::size_t>> fused_;
    std::vector<const PixelFormat*> pixels_;  ///< in which the input may be laid out
    std::optional<std::string> beyond_memory_;
};

}  // namespace

std::variant<Plan, Diagnostic> try_plan_network(const Network& network, const PlanTarget& target) {
    if (target.memory.regions.empty()) {
        return Diagnostic{.sentence = "the memory has no region",
                          .remedy = "add one to memory.regions"};
    }
    std::set<std::string> results;
    if (const MemoryRegionConfig* sram = sram_region(target)) {
        PlanTarget without_values = target;
        without_values.images = false;
        const auto first = NetworkPlanner(network, without_values, {}).plan();
        if (const auto* plan = std::get_if<Plan>(&first)) {
            results = results_for_sram(*plan, sram_room(*sram));
        }
    }
    return NetworkPlanner(network, target, results).plan();
}

Plan plan_network(const Network& network, const PlanTarget& target) {
    auto planned = try_plan_network(network, target);
    if (auto* problem = std::get_if<Diagnostic>(&planned)) {
        const bool of_network = !target.memory.regions.empty();
        problem->place.file = of_network ? network.file : "";
        name_values_that_plan(network, target, *problem);
        throw ConfigError(std::move(*problem));
    }
    return std::get<Plan>(std::move(planned));
}

}  // namespace npuscope
