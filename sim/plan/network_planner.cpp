// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/network_planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "models/base/check.h"
#include "models/base/error.h"
#include "sim/plan/conv_planner.h"
#include "sim/plan/fusion.h"
#include "sim/plan/input_surface.h"
#include "sim/plan/layer_limits.h"
#include "sim/plan/pdp_planner.h"
#include "sim/plan/plan_context.h"
#include "sim/plan/planned_memory.h"
#include "sim/plan/rescale.h"
#include "sim/plan/sram_choice.h"
#include "sim/workload/network_shapes.h"

namespace npuscope {
namespace {

class NetworkPlanner {
 public:
    /// What is known from planning before: bytes of weights and biases, results that go to SRAM.
    struct Known {
        Bytes constants{};
        std::set<std::string> sram{};
    };
    NetworkPlanner(const Network& network, const PlanTarget& target, const Known& known)
        : network_(network),
          shapes_(network_shapes(network)),
          context_{.costs = costs_of(target),
                   .memory = MemoryMap(first_region(target.memory).base, known.constants),
                   .sram = sram_of(target, known.sram),
                   .compression = target.compression,
                   .winograd = target.winograd && network.numbers.empty(),  // a model's are exact
                   .images = target.images,
                   .plan = {}},
          results_(network.layers.size()),
          fused_(choose_fusions(network, shapes_, target.npu)),
          pixels_(target.pixels ? open_pixels(network, shapes_, target.npu)
                                : std::vector<const PixelFormat*>{}) {
        context_.plan.name = network.name;
        context_.plan.registers = target.npu.csb.address_map;
    }

    Plan plan() {
        for (const LayerShapes& shapes : shapes_) {
            for (const std::optional<std::size_t> source : shapes.sources) {
                ++result_at(source).readers_to_come;
            }
        }
        place_input();
        for (std::size_t i = 0; i < network_.layers.size(); ++i) {
            if (!results_[i].cube) {
                plan_layer(i);
            }
        }
        context_.plan.memory = context_.memory.used();
        context_.plan.sram = context_.sram ? context_.sram->memory.used() : Bytes(0);
        return std::move(context_.plan);
    }
    Bytes constants() const { return context_.memory.constants(); }
    Bytes memory() const { return context_.memory.used(); }

 private:
    /// A layer's result, and who has yet to read it.
    struct Result {
        std::optional<WrittenCube> cube;
        std::size_t readers_to_come = 0;
        std::vector<std::size_t> readers;    ///< last operation of each layer that has read it
        std::optional<std::size_t> planned;  ///< number in plan.layers
    };

    void place_input() {
        const Shape shape = network_.input.shape();
        check_cube("the network's input", shape);
        const PixelFormat* declared = declared_pixels(network_, context_.npu());
        const PixelFormat* format = declared != nullptr ? declared : faster_pixels();
        input_.cube = format != nullptr
                          ? context_.place_pixels(shape, *format)
                          : context_.place_cube("input", shape, context_.channels_per_atom());
        context_.plan.input = input_.cube->stored;
        context_.plan.images.push_back(input_image(network_, input_.cube->stored, context_.images));
    }

    /// The format that is predicted to be faster than a feature cube; none where there is none.
    const PixelFormat* faster_pixels() {
        if (pixels_.empty()) {
            return nullptr;
        }
        const std::size_t reader = *pixel_reader(network_, shapes_);
        const WrittenCube features{
            .stored = {packed_cube(Address(0), network_.input.shape(), context_.atom()),
                       context_.channels_per_atom()},
            .place = {},
            .writers = {}};
        const PixelFormat* best = nullptr;
        Cycles least;
        for (const PixelFormat* format : pixels_) {
            ConvTask task = conv_task(reader, features);
            task.or_pixels = format;
            const ConvTiling tiling = best_tiling(task, context_);
            if (tiling.form.mode == ConvMode::Image && (!best || tiling.estimate < least)) {
                best = format;
                least = tiling.estimate;
            }
        }
        return best;
    }

    void require_pixel_reader(std::size_t index) const {
        if (input_.cube->stored.pixels && pixel_reader(network_, shapes_) != index) {
            throw ConfigError(
                fmt::format("layer '{}': an input in a pixel format can be read by one "
                            "convolution without groups alone",
                            network_.layers[index].name),
                "declare no layout of pixels, or begin with such a layer");
        }
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
            PlannedLayer& layer = context_.plan.layers[*result.planned];
            layer.last_reader = result.readers.back();
            ++layer.readers;
        }
        if (--result.readers_to_come == 0) {
            context_.give_back(*result.cube, result.readers);
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
        if (reads_input(shapes_[index])) {
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

    /// Without what must have been planned before it: residual, pixels to tell of.
    ConvTask conv_task(std::size_t index, const WrittenCube& input) const {
        ConvTask task{.layer = network_.layers[index],
                      .shapes = shapes_[index],
                      .input = input,
                      .values = layer_values(network_, shapes_[index], index),
                      .pixel_conversion = pixel_conversion(network_.input.type)};
        if (const std::optional<std::size_t> other = fused_[index]) {
            const LayerKind kind = network_.layers[*other].kind;
            task.result = network_.layers[*other].name;
            task.relu_behind_residual = network_.layers[*other].relu;
            if (kind != LayerKind::Add) {
                task.pool = &shapes_[*other];
                task.pooling =
                    kind == LayerKind::MaxPool ? PoolingMethod::Max : PoolingMethod::Average;
            }
        }
        return task;
    }

    WrittenCube plan_convolution(std::size_t index, PlannedLayer& planned) {
        ConvTask task = conv_task(index, cube_of(shapes_[index].sources.front()));
        if (reads_input(shapes_[index]) && !pixels_.empty()) {
            const auto& placed = input_.cube->stored.pixels;
            task.told_pixels = placed ? placed->format : pixels_.front();
        }
        if (const std::optional<std::size_t> other = fused_[index];
            other && network_.layers[*other].kind == LayerKind::Add) {
            const auto& sources = shapes_[*other].sources;
            task.residual = &cube_of(sources[0] == index ? sources[1] : sources[0]);
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
        WrittenCube output =
            context_.place_cube(layer.name, shapes_[index].output, first.stored.lanes);
        SdpJob job;
        job.shape = output.stored.cube.shape;
        job.source = whole_atoms(first.stored.cube);
        job.destination = whole_atoms(output.stored.cube);
        job.source_in_sram = first.stored.in_sram;
        job.destination_in_sram = output.stored.in_sram;
        job.stages.convertor = network_.numbers.empty() ? rescale_add() : Conversion{};
        job.stages.bs = add_stage(0, layer.relu);
        job.bs_operand = element_operand(second.stored.cube, second.stored.in_sram);
        std::vector<std::size_t> after;
        first.add_writer_of(first.whole(), after);
        second.add_writer_of(second.whole(), after);
        context_.add({layer.name, job, std::move(after)}, output.whole(), output);
        return output;
    }

    const Network& network_;
    std::vector<LayerShapes> shapes_;
    PlanContext context_;
    Result input_;
    std::vector<Result> results_;
    std::vector<std::optional<std::size_t>> fused_;
    std::vector<const PixelFormat*> pixels_;  ///< that the input may be laid out in
};

}  // namespace

Plan plan_network(const Network& network, const PlanTarget& target) {
    try {
        // results lie behind the constants, whose size is known only when all is planned
        PlanTarget sizes = target;
        sizes.images = false;
        NetworkPlanner::Known known;
        if (const MemoryRegionConfig* sram = sram_region(target)) {
            known.sram =
                results_for_sram(NetworkPlanner(network, sizes, known).plan(), sram_room(*sram));
        }
        NetworkPlanner first(network, sizes, known);
        first.plan();
        known.constants = first.constants();
        NetworkPlanner planner(network, target, known);
        Plan plan = planner.plan();
        check_memory(target, planner.memory());
        return plan;
    } catch (const ConfigError& error) {
        if (!error.place().file.empty()) {
            throw;
        }
        throw ConfigError(Place{network.file, 0, 0}, error.sentence(), error.remedy());
    }
}

}  // namespace npuscope
