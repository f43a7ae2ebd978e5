// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/conv_planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "models/base/check.h"
#include "sim/compile/nvdla/conv_jobs.h"
#include "sim/compile/nvdla/conv_weights.h"

namespace npuscope {
namespace {

class ConvPlanner {
 public:
    ConvPlanner(const ConvTask& task, PlanContext& context)
        : task_(task),
          layer_(task.layer),
          context_(context),
          per_atom_(context.channels_per_atom()) {}

    std::optional<WrittenCube> plan() {
        if (!cut()) {
            return std::nullopt;
        }
        output_ = context_.place_cube(
            task_.result.empty() ? layer_.name : task_.result,
            task_.pool != nullptr ? task_.pool->output : task_.shapes.output, cut_.lanes);
        NPU_CHECK(task_.residual == nullptr || task_.residual->stored.lanes == cut_.lanes,
                  "a residual has the lanes of what it is added to");
        const std::uint64_t inside = std::uint64_t{task_.shapes.input.channels} / layer_.groups;
        const LayerNumbers* given = task_.values.given();
        rescale_ =
            given != nullptr
                ? rescale_given(*given)
                : rescale_sum(inside * task_.shapes.window.rows * task_.shapes.window.columns,
                              task_.values.zeros());
        weights_.emplace(task_, cut_, context_);
        if (!choose()) {
            return std::nullopt;
        }
        weights_->place(slice_problem(cut_.slices.front()), tiling_.form);
        const bool winograd = tiling_.form.mode == ConvMode::Winograd;
        if (winograd) {
            rescale_ = smaller(rescale_, winograd_sum_shift);
        }
        const Address bias = place_bias();
        const ConvJobs jobs(
            task_, {output_.stored, rescale_, bias, place_rest(), context_.atom(), winograd});
        for (std::size_t i = 0; i < cut_.slices.size(); ++i) {
            if (!plan_slice(i, jobs)) {
                return std::nullopt;
            }
        }
        return std::move(output_);
    }

    const ConvChoice& choice() const { return choice_; }

    /// That of the first operations alone; nothing is placed.
    std::optional<ConvTiling> tiling() {
        if (!cut()) {
            return std::nullopt;
        }
        weights_.emplace(task_, cut_, context_);
        return choose() ? std::optional(tiling_) : std::nullopt;
    }

 private:
    /// The value, or nothing where it is a problem of the layer.
    template <class Value>
    std::optional<Value> accepted(std::variant<Value, Diagnostic> found) {
        if (auto* problem = std::get_if<Diagnostic>(&found)) {
            context_.refuse(layer_.name, *std::move(problem));
            return std::nullopt;
        }
        return std::get<Value>(std::move(found));
    }

    bool cut() {
        auto cut = accepted(cut_channels(task_.cut_task(), context_.npu()));
        cut_ = cut ? *std::move(cut) : ChannelCut();
        return !context_.problem;
    }

    bool tile(const ConvProblem& problem) {
        auto tiling = accepted(choose_tiling(problem, context_.costs));
        tiling_ = tiling ? *std::move(tiling) : ConvTiling();
        return !context_.problem;
    }

    ConvProblem slice_problem(const ChannelSlice& slice) const {
        ConvProblem problem = problem_of(task_.cut_task(), slice);
        problem.residual = task_.residual != nullptr;
        problem.row_step = task_.row_step();
        problem.slices = static_cast<std::uint32_t>(cut_.slices.size());
        problem.output_in_sram = output_.stored.in_sram;
        if (task_.pool != nullptr) {
            problem.pool_area = task_.pool->window.stride_y * task_.pool->window.stride_x;
        }
        problem.input_in_sram = task_.input.stored.in_sram;
        problem.residual_in_sram = problem.residual && task_.residual->stored.in_sram;
        if (task_.or_pixels != nullptr) {
            problem.pixels = task_.or_pixels;
        }
        problem.compressed = weights_->compressed();
        problem.winograd = context_.winograd;
        problem.plain_weights = context_.compression != CompressionChoice::Always;
        return problem;
    }

    /// The first slice's form and tiling, which all share but for the last one's fewer kernels.
    bool choose() {
        const ConvProblem problem = slice_problem(cut_.slices.front());
        if (!tile(problem)) {
            return false;
        }
        explain(tiling_, problem);
        return true;
    }

    BiasShape bias_shape() const {
        return {output_.stored.cube.surfaces(), per_atom_, cut_.lanes, task_.shapes.output.channels,
                rescale_.bias_down};
    }
    /// Address 0 where there is none.
    Address place_bias() {
        if (!layer_.bias) {
            return {};
        }
        if (const LayerNumbers* given = task_.values.given()) {
            return place_operands("_bias", given->bias, !rescale_.has_rest);
        }
        const BiasShape shape = bias_shape();
        const auto [address, bytes] =
            context_.place_image(layer_.name + "_bias", Bytes(2) * shape.atoms * per_atom_);
        if (!bytes.empty()) {
            fill_bias(shape, bytes, task_.values, rescale_.bias_limit);
        }
        return address;
    }
    Address place_rest() {
        return rescale_.has_rest ? place_operands("_rest", task_.values.given()->rest, true)
                                 : Address();
    }
    /// A model's biases, or what they lack, and the factors after each where kernels have their
    /// own.
    Address place_operands(const std::string& suffix, const std::vector<std::int16_t>& biases,
                           bool scaled) {
        const BiasShape shape = bias_shape();
        const bool factors = scaled && rescale_.factor_per_kernel;
        const auto [address, bytes] = context_.place_image(
            layer_.name + suffix, Bytes(factors ? 4 : 2) * shape.atoms * per_atom_);
        if (!bytes.empty()) {
            fill_operands(shape, bytes, biases,
                          factors ? std::span(task_.values.given()->factor)
                                  : std::span<const std::int16_t>());
        }
        return address;
    }

    bool plan_slice(std::size_t index, const ConvJobs& jobs) {
        const ChannelSlice& slice = cut_.slices[index];
        if (slice.kernels != cut_.slices.front().kernels) {
            ConvProblem problem = slice_problem(slice);
            problem.settled = tiling_.form;
            if (!tile(problem)) {
                return false;
            }
        }
        const ConvOperands operands =
            operands_of(slice_problem(slice), tiling_.form, context_.npu());
        for (std::size_t t = 0; t < tiling_.tiles.size(); ++t) {
            const ConvTile& tile = tiling_.tiles[t];
            ConvOperation operation = jobs.operation({slice, tile, tiling_, operands});
            weights_->set(index, operands.weights, operation.conv);
            keep_weights(t, operation.conv);
            const CubePart part = part_written(slice, tile);
            std::vector<std::size_t> after;
            task_.input.add_writer_of(part_read(slice, tile), after);
            if (task_.residual != nullptr) {
                task_.residual->add_writer_of(part, after);
            }
            context_.add({name_of(slice, tile), operation, std::move(after)}, part, output_);
        }
        return true;
    }

    CubePart part_read(const ChannelSlice& slice, const ConvTile& tile) const {
        const auto atoms = static_cast<std::uint32_t>(divide_up(slice.channels, per_atom_));
        return {tile.in_begin, tile.in_begin + tile.in_rows, slice.input_atom,
                slice.input_atom + atoms};
    }
    CubePart part_written(const ChannelSlice& slice, const ConvTile& tile) const {
        const auto atoms = static_cast<std::uint32_t>(divide_up(slice.kernels, per_atom_));
        return {tile.out_begin / task_.row_step(),
                (tile.out_begin + tile.out_rows) / task_.row_step(), slice.output_atom,
                slice.output_atom + atoms};
    }

    /// Weights that stay are fetched by the first tile and given up by the last.
    void keep_weights(std::size_t tile, ConvParts& parts) const {
        BufferReuse& reuse = parts.cdma.reuse;
        reuse.weight_reuse = tiling_.resident && tile > 0;
        reuse.skip_weight_release = tiling_.resident && tile + 1 < tiling_.tiles.size();
        parts.csc.reuse = reuse;
    }

    void explain(const ConvTiling& chosen, ConvProblem problem) {
        constexpr std::size_t most_alternatives = 3;
        if (task_.told_pixels != nullptr) {
            problem.pixels = task_.told_pixels;
            problem.features = true;
        }
        choice_.problem = problem;
        choice_.key = chosen.key();
        choice_.choice = words_of(chosen, problem);
        choice_.predicted = chosen.estimate;
        problem.winograd = true;  // told of even where it is not allowed
        std::set<ConvForm> told;
        for (const ConvTiling& other : tiling_candidates(problem, context_.costs)) {
            const bool new_form = other.form != chosen.form && told.insert(other.form).second;
            if (other.key() != chosen.key() &&
                (new_form || choice_.alternatives.size() < most_alternatives)) {
                const bool refused = other.form.mode == ConvMode::Winograd && !context_.winograd;
                choice_.alternatives.push_back({words_of(other, problem), other.estimate,
                                                refused ? "results would be rounded" : ""});
            }
        }
    }

    std::string name_of(const ChannelSlice& slice, const ConvTile& tile) const {
        std::string name = layer_.name;
        if (cut_.slices.size() > 1) {
            name += fmt::format(" atom {}", slice.output_atom);
        }
        if (tiling_.tiles.size() > 1) {
            name += fmt::format(" rows {}..{}", tile.out_begin, tile.out_begin + tile.out_rows - 1);
        }
        return name;
    }

    const ConvTask& task_;
    const Layer& layer_;
    PlanContext& context_;
    std::uint32_t per_atom_;
    ChannelCut cut_;
    ConvTiling tiling_;
    WrittenCube output_;
    Rescale rescale_;
    std::optional<ConvWeights> weights_;
    ConvChoice choice_;
};

}  // namespace

std::optional<ConvTiling> best_tiling(const ConvTask& task, PlanContext& context) {
    return ConvPlanner(task, context).tiling();
}

std::optional<WrittenCube> plan_conv(const ConvTask& task, PlanContext& context,
                                     ConvChoice& choice) {
    ConvPlanner planner(task, context);
    std::optional<WrittenCube> written = planner.plan();
    choice = planner.choice();
    return written;
}

namespace {

std::uint32_t channels_per_atom(const NpuConfig& npu) {
    return static_cast<std::uint32_t>(npu.datapath.memory_atom.value);
}

constexpr const char* larger_buffer = "choose a preset with a larger cbuf";

std::variant<ChannelCut, Diagnostic> cut_groups(const CutTask& task, const NpuConfig& npu) {
    const Layer& layer = task.layer;
    if (task.input.has_holes()) {
        return Diagnostic{.sentence =
                              "the layer before it leaves atoms partly empty, which groups "
                              "cannot skip",
                          .remedy = larger_buffer};
    }
    const std::uint32_t atom = channels_per_atom(npu);
    ChannelCut cut{.slices = {},
                   .lanes = atom,
                   .group_channels = task.shapes.input.channels / layer.groups,
                   .group_kernels = layer.kernels / layer.groups};
    std::uint32_t together = 1;
    while (together < layer.groups && (together * cut.group_channels % atom != 0 ||
                                       together * cut.group_kernels % atom != 0)) {
        ++together;
    }
    for (std::uint32_t group = 0; group < layer.groups; group += together) {
        const std::uint32_t count = std::min(together, layer.groups - group);
        cut.slices.push_back({group * cut.group_channels / atom, count * cut.group_channels,
                              group * cut.group_kernels / atom, count * cut.group_kernels});
    }
    return cut;
}

}  // namespace

ConvProblem problem_of(const CutTask& task, const ChannelSlice& slice) {
    const Shape& input = task.input.cube.shape;
    ConvProblem problem;
    problem.input = {slice.channels, input.height, input.width};
    const LayerWindow& window = task.shapes.window;
    problem.kernels = {slice.kernels, slice.channels, window.rows, window.columns};
    if (task.input.pixels) {
        problem.pixels = task.input.pixels->format;
        problem.features = false;
    }
    Convolution& geometry = problem.geometry;
    geometry.out_height = task.shapes.output.height;
    geometry.out_width = task.shapes.output.width;
    geometry.stride_y = window.stride_y;
    geometry.stride_x = window.stride_x;
    geometry.pad_top = window.pad_top;
    geometry.pad_left = window.pad_left;
    return problem;
}

std::variant<ChannelCut, Diagnostic> cut_channels(const CutTask& task, const NpuConfig& npu) {
    if (task.layer.groups > 1) {
        return cut_groups(task, npu);
    }
    const std::uint32_t kernels = task.layer.kernels;
    const ChannelSlice whole{0, task.input.cube.shape.channels, 0, kernels};
    const std::uint32_t group = largest_group(problem_of(task, whole), npu);
    if (group == 0) {
        return Diagnostic{.sentence =
                              "not even one of its kernels fits the convolution buffer "
                              "beside the input that it needs",
                          .remedy = larger_buffer};
    }
    ChannelCut cut;
    cut.lanes = channels_per_atom(npu);
    if (group == npu.datapath.atomic_k) {
        cut.slices.push_back(whole);
        return cut;
    }
    cut.lanes = std::min(group, cut.lanes);
    for (std::uint32_t k = 0; k < kernels; k += cut.lanes) {
        cut.slices.push_back({0, whole.channels, k / cut.lanes, std::min(cut.lanes, kernels - k)});
    }
    return cut;
}

}  // namespace npuscope
