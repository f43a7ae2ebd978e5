// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/conv_planner.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/base/check.h"
#include "models/base/error.h"
#include "sim/plan/channel_cut.h"
#include "sim/plan/pdp_planner.h"
#include "sim/plan/rescale.h"

namespace npuscope {
namespace {

class ConvPlanner {
 public:
    ConvPlanner(const ConvTask& task, PlanContext& context)
        : task_(task),
          layer_(task.layer),
          context_(context),
          per_atom_(context.channels_per_atom()) {}

    WrittenCube plan() {
        cut_ = cut_channels(cut_task(), context_.npu());
        output_ = context_.place_cube(
            task_.pool != nullptr ? task_.pool->output : task_.shapes.output, cut_.lanes);
        NPU_CHECK(task_.residual == nullptr || task_.residual->stored.lanes == cut_.lanes,
                  "a residual has the lanes of what it is added to");
        const std::uint64_t inside = std::uint64_t{task_.shapes.input.channels} / layer_.groups;
        rescale_ = rescale_sum(inside * task_.shapes.window.rows * task_.shapes.window.columns);
        place_weights();
        place_bias();
        for (std::size_t i = 0; i < cut_.slices.size(); ++i) {
            plan_slice(i);
        }
        return output_;
    }

    const ConvChoice& choice() const { return choice_; }

 private:
    CutTask cut_task() const { return {layer_, task_.shapes, task_.input.stored}; }
    WeightLayout weights_of(const ChannelSlice& slice) const {
        return direct_weights(problem_of(cut_task(), slice).kernels, context_.npu().datapath);
    }
    void place_weights() {
        weight_pitch_ = Bytes(round_up(weights_of(cut_.slices.front()).stored_bytes().value, 256));
        const auto [address, bytes] =
            context_.place_image(layer_.name + "_weights", weight_pitch_ * cut_.slices.size());
        weights_ = address;
        if (bytes.empty()) {
            return;
        }
        RandomStream stream = context_.stream();
        for (std::size_t i = 0; i < cut_.slices.size(); ++i) {
            fill_weights(weights_of(cut_.slices[i]),
                         bytes.subspan(weight_pitch_.value * i, weight_pitch_.value), stream,
                         weight_mask(cut_, task_.input.stored));
            stream.stream += std::uint64_t{1} << 32U;
        }
    }

    void place_bias() {
        if (!layer_.bias) {
            return;
        }
        const BiasShape shape{output_.stored.cube.surfaces(), per_atom_, cut_.lanes,
                              task_.shapes.output.channels};
        const auto [address, bytes] = context_.place_image(
            layer_.name + "_bias", Bytes(2 * std::uint64_t{shape.atoms} * per_atom_));
        bias_ = address;
        if (!bytes.empty()) {
            fill_bias(shape, bytes, context_.stream(), rescale_.bias_limit);
        }
    }

    void plan_slice(std::size_t index) {
        const ChannelSlice& slice = cut_.slices[index];
        if (index == 0 || slice.kernels != cut_.slices[index - 1].kernels) {
            tiling_ = tiling_of(slice);
        }
        for (std::size_t t = 0; t < tiling_.tiles.size(); ++t) {
            const ConvTile& tile = tiling_.tiles[t];
            ConvOperation operation;
            operation.conv = conv_parts(slice, tile);
            operation.conv.cdma.weight_address = weights_ + weight_pitch_ * index;
            keep_weights(t, operation.conv);
            operation.sdp = sdp_job(slice, tile);
            if (task_.pool != nullptr) {
                operation.pdp = pdp_job(slice, tile);
            }
            const FeatureCube& written = operation.destination();
            operation.conv.cacc.line_packed = written.line_packed();
            operation.conv.cacc.surface_packed = written.surface_packed();
            const CubePart part = part_written(slice, tile);
            std::vector<std::size_t> after;
            task_.input.add_writer_of(part_read(slice, tile), after);
            if (task_.residual != nullptr) {
                task_.residual->add_writer_of(part, after);
            }
            context_.add({name_of(slice, tile), operation, std::move(after)}, part, output_);
        }
    }

    /// Rows of the convolution for each of the result.
    std::uint32_t row_step() const { return task_.pool ? task_.pool->window.stride_y : 1; }

    CubePart part_read(const ChannelSlice& slice, const ConvTile& tile) const {
        const auto atoms = static_cast<std::uint32_t>(divide_up(slice.channels, per_atom_));
        return {tile.in_begin, tile.in_begin + tile.in_rows, slice.input_atom,
                slice.input_atom + atoms};
    }
    CubePart part_written(const ChannelSlice& slice, const ConvTile& tile) const {
        const auto atoms = static_cast<std::uint32_t>(divide_up(slice.kernels, per_atom_));
        return {tile.out_begin / row_step(), (tile.out_begin + tile.out_rows) / row_step(),
                slice.output_atom, slice.output_atom + atoms};
    }

    /// Weights that stay are fetched by the first tile and given up by the last.
    void keep_weights(std::size_t tile, ConvParts& parts) const {
        BufferReuse& reuse = parts.cdma.reuse;
        reuse.weight_reuse = tiling_.resident && tile > 0;
        reuse.skip_weight_release = tiling_.resident && tile + 1 < tiling_.tiles.size();
        parts.csc.reuse = reuse;
    }

    ConvTiling tiling_of(const ChannelSlice& slice) {
        try {
            ConvProblem problem = problem_of(cut_task(), slice);
            problem.residual = task_.residual != nullptr;
            problem.row_step = row_step();
            problem.slices = static_cast<std::uint32_t>(cut_.slices.size());
            ConvTiling tiling = choose_tiling(problem, context_.costs);
            explain(tiling, problem);
            return tiling;
        } catch (const ConfigError& error) {
            throw ConfigError(fmt::format("layer '{}': {}", layer_.name, error.sentence()),
                              error.remedy());
        }
    }

    /// Of the first slice, whose choice the others share.
    void explain(const ConvTiling& chosen, const ConvProblem& problem) {
        if (!choice_.choice.empty()) {
            return;
        }
        constexpr std::size_t most_alternatives = 3;
        choice_.choice = words_of(chosen, cut_.slices.size());
        choice_.predicted = chosen.estimate;
        for (const ConvTiling& other : tiling_candidates(problem, context_.costs)) {
            if (choice_.alternatives.size() < most_alternatives && other.key() != chosen.key()) {
                choice_.alternatives.push_back(
                    {words_of(other, cut_.slices.size()), other.estimate});
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

    ConvParts conv_parts(const ChannelSlice& slice, const ConvTile& tile) const {
        const ConvProblem problem = problem_of(cut_task(), slice);
        const WeightLayout weights = weights_of(slice);
        ConvParts parts;
        CdmaJob& cdma = parts.cdma;
        cdma.input = {slice.channels, tile.in_rows, problem.input.width};
        cdma.feature = task_.input.stored.cube;
        cdma.feature.base = task_.input.stored.cube.line_address(slice.input_atom, tile.in_begin);
        cdma.feature.shape = cdma.input;
        cdma.line_packed = cdma.feature.line_packed();
        cdma.surface_packed = cdma.feature.surface_packed();
        cdma.entries_per_slice = entries_of_slice(cdma, conv_features(context_.npu()));
        cdma.weight_bytes = fetched_bytes(weights);
        cdma.bytes_per_kernel = weights.kernel_bytes();
        cdma.kernels = slice.kernels;
        cdma.banks = tiling_.banks;
        CscJob& csc = parts.csc;
        csc.input = cdma.input;
        csc.kernels = problem.kernels;
        csc.entries_per_slice = cdma.entries_per_slice;
        csc.weight_bytes = cdma.weight_bytes;
        csc.output = {slice.kernels, tile.out_rows, problem.geometry.out_width};
        csc.atomics = csc.output.height * csc.output.width;
        csc.release_slices = tile.in_rows;
        csc.stride_y = task_.shapes.window.stride_y;
        csc.stride_x = task_.shapes.window.stride_x;
        csc.pad_top = tile.pad_top;
        csc.pad_left = task_.shapes.window.pad_left;
        csc.banks = tiling_.banks;
        parts.cacc.output = csc.output;
        return parts;
    }

    /// Without the zeros behind them where the target counts entries of the buffer: they would stay
    /// there and be taken for the next operation's weights. source: nv_small RTL, replayed
    Bytes fetched_bytes(const WeightLayout& weights) const {
        return context_.plan.registers == AddressMap::NvFull
                   ? weights.stored_bytes()
                   : Bytes(round_up(weights.used_bytes().value,
                                    context_.npu().cbuf.bank_width.value));
    }

    /// The part of a surface that a tile of a slice covers.
    FeatureCube part_of(const FeatureCube& cube, const ChannelSlice& slice,
                        const ConvTile& tile) const {
        FeatureCube part = cube;
        part.base = cube.line_address(slice.output_atom, tile.out_begin / row_step());
        part.shape = {slice.kernels, tile.out_rows / row_step(), cube.shape.width};
        return part;
    }

    SdpJob sdp_job(const ChannelSlice& slice, const ConvTile& tile) const {
        SdpJob job;
        job.shape = {slice.kernels, tile.out_rows, task_.shapes.output.width};
        job.to_pdp = task_.pool != nullptr;
        if (!job.to_pdp) {
            job.destination = whole_atoms(part_of(output_.stored.cube, slice, tile));
        }
        job.stages.convertor = rescale_.convertor;
        SdpXStage& bs = job.stages.bs;
        bs.bypass = !layer_.bias && !layer_.relu;
        bs.relu = layer_.relu;
        if (layer_.bias) {
            bs.alu = {.bypass = false,
                      .source = OperandSource::Memory,
                      .shift_left = rescale_.bias_shift};
            job.bs_operand = bias_operand(slice, job);
        }
        if (task_.residual != nullptr) {
            job.stages.bn = add_stage(rescale_.residual_shift, task_.relu_behind_residual);
            job.bn_operand = element_operand(part_of(task_.residual->stored.cube, slice, tile));
        }
        return job;
    }

    PdpJob pdp_job(const ChannelSlice& slice, const ConvTile& tile) const {
        PdpJob job;
        job.input = {slice.kernels, tile.out_rows, task_.shapes.output.width};
        const FeatureCube part = part_of(output_.stored.cube, slice, tile);
        job.output = part.shape;
        job.destination = whole_atoms(part);
        job.pooling = pooling_of(task_.pool->window, task_.pooling);
        job.pooling.output = job.output;
        job.pooling.parts = {{0, job.input.width, 0, 0, job.output.width}};
        return job;
    }

    Shape whole_shape(Shape shape) const {
        shape.channels = static_cast<std::uint32_t>(round_up(shape.channels, per_atom_));
        return shape;
    }

    SdpOperandFetch bias_operand(const ChannelSlice& slice, const SdpJob& job) const {
        SdpOperandFetch fetch;
        fetch.alu = true;
        fetch.surface = {.base = bias_ + Bytes(2 * std::uint64_t{slice.output_atom} * per_atom_),
                         .line_stride = {},
                         .surface_stride = {},
                         .shape = whole_shape(job.shape),
                         .spread = OperandSpread::PerChannel,
                         .elements_per_atom = per_atom_,
                         .components = 1,
                         .component = Bytes(2)};
        return fetch;
    }

    const ConvTask& task_;
    const Layer& layer_;
    PlanContext& context_;
    std::uint32_t per_atom_;
    ChannelCut cut_;
    ConvTiling tiling_;
    WrittenCube output_;
    Rescale rescale_;
    Address weights_;
    Bytes weight_pitch_;
    Address bias_;
    ConvChoice choice_;
};

}  // namespace

WrittenCube plan_conv(const ConvTask& task, PlanContext& context, ConvChoice& choice) {
    ConvPlanner planner(task, context);
    WrittenCube written = planner.plan();
    choice = planner.choice();
    return written;
}

}  // namespace npuscope
