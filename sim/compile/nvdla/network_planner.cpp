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
#include "sim/compile/nvdla/fusion.h"
#include "sim/compile/nvdla/input_surface.h"
#include "sim/compile/nvdla/layer_limits.h"
#include "sim/compile/nvdla/pdp_planner.h"
#include "sim/compile/nvdla/plan_context.h"
#include "sim/compile/nvdla/planned_memory.h"
#include "sim/compile/nvdla/rescale.h"
#include "sim/compile/nvdla/result_board.h"
#include "sim/compile/nvdla/sram_choice.h"
#include "sim/model/network_shapes.h"

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
          results_(network, shapes_),
          fused_(choose_fusions(network, shapes_, target.npu)),
          pixels_(target.pixels ? open_pixels(network, shapes_, target.npu)
                                : std::vector<const PixelFormat*>{}) {
        context_.plan.name = network.name;
        context_.plan.registers = target.npu.csb.address_map;
    }

    Plan plan() {
        place_input();
        for (std::size_t i = 0; i < network_.layers.size(); ++i) {
            if (network_.layers[i].kind == LayerKind::Input) {
                place_more(i);
            }
        }
        for (std::size_t i = 0; i < network_.layers.size(); ++i) {
            if (!results_.is_there(i)) {
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
    void place_input() {
        const Shape shape = network_.input.shape();
        check_cube("the network's input", shape);
        const PixelFormat* declared = declared_pixels(network_, context_.npu());
        const PixelFormat* format = declared != nullptr ? declared : faster_pixels();
        results_.place_input(
            std::nullopt, format != nullptr
                              ? context_.place_pixels(shape, *format)
                              : context_.place_cube("input", shape, context_.channels_per_atom()));
        context_.plan.input = input().stored;
        context_.plan.images.push_back(input_image(network_, input().stored, context_.images));
    }
    const WrittenCube& input() { return results_.cube_of(std::nullopt); }

    /// Before any layer: what lies there is loaded before the first one starts.
    void place_more(std::size_t index) {
        const std::string& name = network_.layers[index].name;
        const Shape shape = shapes_[index].output;
        check_cube(fmt::format("input '{}'", name), shape);
        WrittenCube cube = context_.place_cube(name, shape, context_.channels_per_atom());
        context_.plan.more_inputs.push_back({name, shape, cube.stored});
        context_.plan.images.push_back(
            more_input_image(network_, index, context_.plan.more_inputs.back(), context_.images));
        results_.place_input(index, std::move(cube));
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

    void require_pixel_reader(std::size_t index) {
        if (input().stored.pixels && pixel_reader(network_, shapes_) != index) {
            throw ConfigError(
                fmt::format("layer '{}': an input in a pixel format can be read by one "
                            "convolution without groups alone",
                            network_.layers[index].name),
                "declare no layout of pixels, or begin with such a layer");
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
        planned.first_layer = network_.layers[index].name;
        planned.output = results_.is_output(result);
        results_.place_result(result, std::move(written), context_.plan.layers.size());
        context_.plan.layers.push_back(std::move(planned));
        results_.note_reads(index, context_);
        if (fused_[index]) {
            results_.note_reads(*fused_[index], context_);
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
                return plan_pool(
                    {layer, shapes_[index], results_.cube_of(shapes_[index].sources.front())},
                    context_);
            case LayerKind::Add:
                return plan_add(index);
            case LayerKind::Input:
                break;
        }
        NPU_CHECK(false, "no kind of layer that computes");
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
        ConvTask task = conv_task(index, results_.cube_of(shapes_[index].sources.front()));
        if (reads_input(shapes_[index]) && !pixels_.empty()) {
            const auto& placed = input().stored.pixels;
            task.told_pixels = placed ? placed->format : pixels_.front();
        }
        if (const std::optional<std::size_t> other = fused_[index];
            other && network_.layers[*other].kind == LayerKind::Add) {
            const auto& sources = shapes_[*other].sources;
            task.residual = &results_.cube_of(sources[0] == index ? sources[1] : sources[0]);
        }
        ConvChoice choice;
        WrittenCube written = plan_conv(task, context_, choice);
        if (fused_[index]) {
            results_.join(index);
        }
        planned.cut = std::move(choice);
        return written;
    }

    /// By the SDP alone: one source flows through, the other is the first stage's operand.
    WrittenCube plan_add(std::size_t index) {
        const Layer& layer = network_.layers[index];
        const WrittenCube& first = results_.cube_of(shapes_[index].sources[0]);
        const WrittenCube& second = results_.cube_of(shapes_[index].sources[1]);
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
        job.stages.bs = add_stage(0, layer.relu);
        if (network_.numbers.empty()) {
            job.stages.convertor = rescale_add();
        } else {
            set_given_sum(network_.numbers[index], job.stages);
        }
        job.bs_operand = element_operand(second.stored.cube, second.stored.in_sram);
        std::vector<std::size_t> after;
        first.add_writer_of(first.whole(), after);
        second.add_writer_of(second.whole(), after);
        context_.add({layer.name, job, std::move(after)}, output.whole(), output);
        return output;
    }

    /// A model's: a constant that the second stage adds goes before the ReLU.
    static void set_given_sum(const LayerNumbers& numbers, SdpStages& stages) {
        stages.convertor = numbers.convertor;
        if (numbers.constant != 0) {
            stages.bn.bypass = false;
            stages.bn.alu = {.bypass = false, .operand = numbers.constant};
            stages.bn.relu = std::exchange(stages.bs.relu, false);
        }
    }

    const Network& network_;
    std::vector<LayerShapes> shapes_;
    PlanContext context_;
    ResultBoard results_;
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
