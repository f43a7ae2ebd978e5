// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/network_planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "models/base/check.h"
#include "models/base/error.h"
#include "sim/plan/conv_planner.h"
#include "sim/plan/input_surface.h"
#include "sim/plan/layer_limits.h"
#include "sim/plan/pdp_planner.h"
#include "sim/plan/plan_context.h"
#include "sim/plan/rescale.h"
#include "sim/workload/network_shapes.h"

namespace npuscope {
namespace {

class NetworkPlanner {
 public:
    /// `constants`: bytes of weights and biases, known from planning before; or 0.
    NetworkPlanner(const Network& network, const PlanTarget& target, Bytes constants)
        : network_(network),
          shapes_(network_shapes(network)),
          region_(first_region(target.memory)),
          context_{.costs = costs_of(target),
                   .memory = MemoryMap(region_.base, constants),
                   .compression = target.compression,
                   .images = target.images,
                   .plan = {}},
          may_choose_pixels_(target.pixels),
          results_(network.layers.size()) {
        context_.plan.name = network.name;
        context_.plan.registers = target.npu.csb.address_map;
    }

    Plan plan() {
        choose_fusions();
        place_input();
        for (std::size_t i = 0; i < network_.layers.size(); ++i) {
            if (!results_[i].cube) {
                plan_layer(i);
            }
        }
        context_.plan.memory = context_.memory.used();
        return std::move(context_.plan);
    }
    Bytes constants() const { return context_.memory.constants(); }
    void check_memory() const {
        const std::uint64_t bytes = context_.memory.used().value;
        const std::uint32_t bits = context_.npu().mcif.address_bits;
        const std::uint64_t end = region_.base.value + bytes;
        if (bytes > region_.size.value || (bits < 64 && end > std::uint64_t{1} << bits)) {
            throw ConfigError(fmt::format("the network needs {} bytes of memory from {} on, more "
                                          "than region '{}' or an address of {} bits gives",
                                          bytes, to_hex(region_.base), region_.name, bits),
                              "enlarge the region, or move its base down");
        }
    }

 private:
    /// A layer's result, and who has yet to read it.
    struct Result {
        std::optional<WrittenCube> cube;
        std::size_t readers_to_come = 0;
        std::vector<std::size_t> readers;    ///< last operation of each layer that has read it
        std::optional<std::size_t> planned;  ///< number in plan.layers
    };

    static TilingCosts costs_of(const PlanTarget& target) {
        return {target.npu, target.memory.beat_interval.value, target.memory.read_latency,
                target.forced};
    }
    static MemoryRegionConfig first_region(const MemoryConfig& memory) {
        if (memory.regions.empty()) {
            throw ConfigError("the memory has no region to plan for", "give it one");
        }
        return memory.regions.front();
    }

    void place_input() {
        const Shape shape = network_.input.shape();
        check_cube("the network's input", shape);
        const PixelFormat* declared = declared_pixels(network_, context_.npu());
        const PixelFormat* format = declared != nullptr ? declared : chosen_pixels();
        input_.cube = format != nullptr ? context_.place_pixels(shape, *format)
                                        : context_.place_cube(shape, context_.channels_per_atom());
        context_.plan.input = input_.cube->stored;
        context_.plan.images.push_back(input_image(network_, input_.cube->stored, context_.images));
    }

    bool reads_input(std::size_t layer) const {
        return std::ranges::any_of(shapes_[layer].sources,
                                   [](const auto& source) { return !source; });
    }
    /// The convolution that alone reads the network's input and can take it as pixels.
    std::optional<std::size_t> pixel_reader() const {
        std::optional<std::size_t> reader;
        for (std::size_t i = 0; i < network_.layers.size(); ++i) {
            if (!reads_input(i)) {
                continue;
            }
            const Layer& layer = network_.layers[i];
            const bool convolves = layer.kind == LayerKind::Conv || layer.kind == LayerKind::Fc;
            if (reader || !convolves || layer.groups > 1) {
                return std::nullopt;
            }
            reader = i;
        }
        return reader;
    }

    /// The format that an input of the network may have if that is faster.
    const PixelFormat* open_pixels() const {
        const bool open = may_choose_pixels_ && network_.input.layout.empty() &&
                          context_.npu().surfaces.inputs.empty() && pixel_reader();
        return open ? pixels_for(network_.input.channels) : nullptr;
    }
    /// The format that is predicted to be faster than a feature cube; none where there is none.
    const PixelFormat* chosen_pixels() {
        const PixelFormat* format = open_pixels();
        const std::optional<std::size_t> reader = pixel_reader();
        if (format == nullptr) {
            return nullptr;
        }
        const WrittenCube features{
            .stored = {packed_cube(Address(0), network_.input.shape(), context_.atom()),
                       context_.channels_per_atom()},
            .place = {},
            .writers = {}};
        ConvTask task{.layer = network_.layers[*reader],
                      .shapes = shapes_[*reader],
                      .input = features,
                      .values = layer_values(network_, shapes_[*reader], *reader)};
        if (fused_[*reader] && network_.layers[*fused_[*reader]].kind != LayerKind::Add) {
            task.pool = &shapes_[*fused_[*reader]];
        }
        task.or_pixels = format;
        return best_form(task, context_).mode == ConvMode::Image ? format : nullptr;
    }

    void require_pixel_reader(std::size_t index) const {
        if (input_.cube->stored.pixels && pixel_reader() != index) {
            throw ConfigError(
                fmt::format("layer '{}': an input in a pixel format can be read by one "
                            "convolution without groups alone",
                            network_.layers[index].name),
                "declare no layout of pixels, or begin with such a layer");
        }
    }

    /// For each convolution the add or the pooling that is done on its way to memory: its only
    /// reader, and of an add the other source is older.
    void choose_fusions() {
        for (const LayerShapes& shapes : shapes_) {
            for (const std::optional<std::size_t> source : shapes.sources) {
                ++result_at(source).readers_to_come;
            }
        }
        fused_.resize(network_.layers.size());
        for (std::size_t i = 0; i < network_.layers.size(); ++i) {
            if (const auto conv = fusable_before(i); conv && !fused_[*conv]) {
                fused_[*conv] = i;
            }
        }
    }

    /// The convolution that an add or a pooling layer can be joined to.
    std::optional<std::size_t> fusable_before(std::size_t index) const {
        const LayerShapes& shapes = shapes_[index];
        const auto alone = [this](std::optional<std::size_t> source, LayerKind kind) {
            return source && results_[*source].readers_to_come == 1 &&
                   network_.layers[*source].kind == kind;
        };
        if (network_.layers[index].kind == LayerKind::Add) {
            const auto later = std::max(shapes.sources[0], shapes.sources[1]);
            const bool fits =
                alone(later, LayerKind::Conv) && can_fuse_residual(context_.npu().sdp);
            return fits ? later : std::nullopt;
        }
        const bool pools = network_.layers[index].kind == LayerKind::MaxPool ||
                           network_.layers[index].kind == LayerKind::AvgPool;
        const bool fits = pools && alone(shapes.sources.front(), LayerKind::Conv) &&
                          can_fuse_pool(shapes, context_.npu());
        return fits ? shapes.sources.front() : std::nullopt;
    }

    Result& result_at(std::optional<std::size_t> source) {
        return source ? results_[*source] : input_;
    }
    const WrittenCube& cube_of(std::optional<std::size_t> source) {
        return *result_at(source).cube;
    }

    /// A layer has been planned that read the result; behind the last one its bytes are free.
    void note_read(std::optional<std::size_t> source) {
        Result& result = result_at(source);
        result.readers.push_back(context_.plan.operations.size() - 1);
        if (result.planned) {
            context_.plan.layers[*result.planned].last_reader = result.readers.back();
        }
        if (--result.readers_to_come == 0) {
            context_.memory.give_back(result.cube->place, result.readers);
        }
    }
    void note_reads(std::size_t index) {
        for (const std::optional<std::size_t> source : shapes_[index].sources) {
            if (!source || results_[*source].planned) {  // a fused one never was in memory
                note_read(source);
            }
        }
    }

    void plan_layer(std::size_t index) {
        check_limits(network_.layers[index], shapes_[index]);
        if (reads_input(index)) {
            require_pixel_reader(index);
        }
        PlannedLayer planned;
        planned.kind = network_.layers[index].kind;
        planned.macs = shapes_[index].macs;
        planned.first_operation = context_.plan.operations.size();
        WrittenCube written = plan_operations(index, planned);
        planned.stored = written.stored;
        planned.operations = context_.plan.operations.size() - planned.first_operation;
        const std::size_t result = fused_[index].value_or(index);
        planned.name = network_.layers[result].name;
        planned.shape = shapes_[result].output;
        results_[result].cube = std::move(written);
        results_[result].planned = context_.plan.layers.size();
        context_.plan.layers.push_back(std::move(planned));
        note_reads(index);
        if (fused_[index]) {
            note_reads(*fused_[index]);
        }
    }

    WrittenCube plan_operations(std::size_t index, PlannedLayer& planned) {
        const Layer& layer = network_.layers[index];
        switch (layer.kind) {
            case LayerKind::Conv:
            case LayerKind::Fc:
                return plan_convolution(index, planned);
            case LayerKind::MaxPool:
            case LayerKind::AvgPool:
                return plan_pool({layer, shapes_[index], cube_of(shapes_[index].sources.front())},
                                 context_);
            case LayerKind::Add:
                return plan_add(index);
        }
        NPU_CHECK(false, "no such kind of layer");
        return {};
    }

    WrittenCube plan_convolution(std::size_t index, PlannedLayer& planned) {
        ConvTask task{.layer = network_.layers[index],
                      .shapes = shapes_[index],
                      .input = cube_of(shapes_[index].sources.front()),
                      .values = layer_values(network_, shapes_[index], index),
                      .told_pixels = reads_input(index) ? open_pixels() : nullptr,
                      .pixel_conversion = pixel_conversion(network_.input.type)};
        if (const std::optional<std::size_t> other = fused_[index]) {
            const LayerKind kind = network_.layers[*other].kind;
            if (kind == LayerKind::Add) {
                const auto& sources = shapes_[*other].sources;
                task.residual = &cube_of(sources[0] == index ? sources[1] : sources[0]);
                task.relu_behind_residual = network_.layers[*other].relu;
            } else {
                task.pool = &shapes_[*other];
                task.pooling =
                    kind == LayerKind::MaxPool ? PoolingMethod::Max : PoolingMethod::Average;
            }
        }
        ConvChoice choice;
        WrittenCube written = plan_conv(task, context_, choice);
        if (fused_[index]) {
            results_[index].cube = WrittenCube{};  // never in memory
        }
        planned.cut = std::move(choice);
        return written;
    }

    /// By the SDP alone: one source flows through, the other is the first stage's operand.
    WrittenCube plan_add(std::size_t index) {
        const Layer& layer = network_.layers[index];
        const WrittenCube& first = cube_of(shapes_[index].sources[0]);
        const WrittenCube& second = cube_of(shapes_[index].sources[1]);
        if (first.stored.lanes != second.stored.lanes) {
            throw ConfigError(fmt::format("layer '{}': one of its sources leaves atoms partly "
                                          "empty, the other does not",
                                          layer.name),
                              "choose a preset with a larger cbuf");
        }
        WrittenCube output = context_.place_cube(shapes_[index].output, first.stored.lanes);
        SdpJob job;
        job.shape = output.stored.cube.shape;
        job.source = whole_atoms(first.stored.cube);
        job.destination = whole_atoms(output.stored.cube);
        job.stages.convertor = rescale_add();
        job.stages.bs = add_stage(0, layer.relu);
        job.bs_operand = element_operand(second.stored.cube);
        std::vector<std::size_t> after;
        first.add_writer_of(first.whole(), after);
        second.add_writer_of(second.whole(), after);
        context_.add({layer.name, job, std::move(after)}, output.whole(), output);
        return output;
    }

    const Network& network_;
    std::vector<LayerShapes> shapes_;
    MemoryRegionConfig region_;
    PlanContext context_;
    bool may_choose_pixels_;
    Result input_;
    std::vector<Result> results_;
    std::vector<std::optional<std::size_t>> fused_;
};

}  // namespace

Plan plan_network(const Network& network, const PlanTarget& target) {
    try {
        // results lie behind the constants, whose size is known only when all is planned
        PlanTarget sizes = target;
        sizes.images = false;
        NetworkPlanner first(network, sizes, Bytes(0));
        first.plan();
        NetworkPlanner planner(network, target, first.constants());
        Plan plan = planner.plan();
        planner.check_memory();
        return plan;
    } catch (const ConfigError& error) {
        if (!error.place().file.empty()) {
            throw;
        }
        throw ConfigError(Place{network.file, 0, 0}, error.sentence(), error.remedy());
    }
}

}  // namespace npuscope
