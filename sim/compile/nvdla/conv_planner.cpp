// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/conv_planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "models/base/check.h"
#include "sim/compile/nvdla/conv_weights.h"
#include "sim/compile/nvdla/single_operations.h"

namespace npuscope {
namespace {

class ConvPlanner {
 public:
    ConvPlanner(const ConvTask& task, PlanContext& context)
        : task_(task),
          layer_(task.layer),
          input_(task.input),
          window_(task.shapes.window),
          context_(context),
          per_atom_(context.channels_per_atom()) {}

    std::optional<StoredCube> plan() {
        if (!cut() || !residual_suits()) {
            return std::nullopt;
        }
        output_ = context_.place_cube(
            task_.result.empty() ? layer_.name : task_.result,
            task_.pool != nullptr ? task_.pool->output : task_.shapes.output, cut_.lanes);
        if (!choose()) {
            return std::nullopt;
        }
        weights_->place(slice_problem(cut_.slices.front()), tiling_.form);
        take_numbers();
        place_biases();
        for (std::size_t i = 0; i < cut_.slices.size(); ++i) {
            if (!plan_slice(i)) {
                return std::nullopt;
            }
        }
        return std::move(output_);
    }

    const ConvChoice& choice() const { return choice_; }

    /// Tiling of the first operations only; nothing is placed.
    std::optional<ConvTiling> tiling() {
        return cut() && choose() ? std::optional(tiling_) : std::nullopt;
    }

 private:
    bool refuse(Diagnostic problem) {
        context_.refuse(layer_.name, std::move(problem));
        return false;
    }

    bool cut() {
        const ChannelSlice whole{0, input_.cube.shape.channels, 0, layer_.kernels};
        auto cut = cut_channels(problem_of(task_, whole), layer_.groups, input_.has_holes(),
                                context_.npu());
        if (auto* problem = std::get_if<Diagnostic>(&cut)) {
            return refuse(std::move(*problem));
        }
        cut_ = std::get<ChannelCut>(std::move(cut));
        weights_.emplace(task_, cut_, context_);
        return true;
    }

    bool residual_suits() {
        const std::uint32_t other = task_.residual == nullptr ? cut_.lanes : task_.residual->lanes;
        return other == cut_.lanes || refuse(differing_lanes(cut_.lanes, other));
    }

    bool tile(const ConvProblem& problem) {
        auto tiling = choose_tiling(problem, context_.costs);
        if (auto* refused = std::get_if<Diagnostic>(&tiling)) {
            return refuse(std::move(*refused));
        }
        tiling_ = std::get<ConvTiling>(std::move(tiling));
        return true;
    }

    bool is_winograd() const { return tiling_.form.mode == ConvMode::Winograd; }

    ConvProblem slice_problem(const ChannelSlice& slice) const {
        ConvProblem problem = problem_of(task_, slice);
        problem.residual = task_.residual != nullptr;
        problem.row_step = task_.row_step();
        problem.slices = static_cast<std::uint32_t>(cut_.slices.size());
        problem.output_in_sram = output_.in_sram;
        if (task_.pool != nullptr) {
            problem.pool_area = task_.pool->window.stride_y * task_.pool->window.stride_x;
        }
        problem.input_in_sram = input_.in_sram;
        problem.residual_in_sram = problem.residual && task_.residual->in_sram;
        problem.pixels = task_.or_pixels != nullptr ? task_.or_pixels : problem.pixels;
        problem.compressed = weights_->compressed();
        problem.winograd = context_.winograd;
        problem.plain_weights = context_.compression != CompressionChoice::Always;
        problem.alone = task_.alone;
        return problem;
    }

    /// The first slice's form and tiling, shared by all; the last one may have fewer kernels.
    bool choose() {
        const ConvProblem problem = slice_problem(cut_.slices.front());
        const bool fits = tile(problem);
        if (fits) {
            explain(problem);
        }
        return fits;
    }

    void take_numbers() {
        numbers_ = task_.values.given();
        if (numbers_ == nullptr) {
            made_ =
                task_.values.synthetic_numbers(std::uint64_t{task_.shapes.input.channels} /
                                                   layer_.groups * window_.rows * window_.columns,
                                               is_winograd() ? winograd_sum_shift : 0);
            numbers_ = &made_;
            return;
        }
        NPU_CHECK(!numbers_->factor.empty(), "a model's convolution has factors");
        factor_per_kernel_ = std::ranges::any_of(numbers_->factor, [&](std::int16_t factor) {
            return factor != numbers_->factor.front();
        });
    }
    /// Whether the second stage adds the remainder of biases.
    bool has_rest() const { return !numbers_->rest.empty(); }

    void place_biases() {
        if (layer_.bias) {
            bias_ = place_operands("_bias", numbers_->bias, first_factors());
        }
        if (has_rest()) {
            rest_ = place_operands("_rest", numbers_->rest, last_factors());
        }
    }
    /// Where each kernel has its own: of the last stage that adds a bias, and of the first.
    std::span<const std::int16_t> last_factors() const {
        return factor_per_kernel_ ? std::span(numbers_->factor) : std::span<const std::int16_t>();
    }
    std::span<const std::int16_t> first_factors() const {
        return has_rest() ? std::span(numbers_->first_factor) : last_factors();
    }
    /// Biases, or their remainders, each followed by its factor where kernels have their own.
    Address place_operands(const std::string& suffix, const std::vector<std::int16_t>& biases,
                           std::span<const std::int16_t> factors) {
        const BiasShape shape{output_.cube.surfaces(), per_atom_, cut_.lanes,
                              task_.shapes.output.channels};
        const auto [address, bytes] = context_.place_image(
            layer_.name + suffix, Bytes(factors.empty() ? 2 : 4) * shape.atoms * per_atom_);
        if (!bytes.empty()) {
            fill_operands(shape, bytes, biases, factors);
        }
        return address;
    }

    bool plan_slice(std::size_t index) {
        const ChannelSlice& slice = cut_.slices[index];
        if (slice.kernels != cut_.slices.front().kernels) {
            ConvProblem problem = slice_problem(slice);
            problem.settled = tiling_.form;
            if (!tile(problem)) {
                return false;
            }
        }
        for (std::size_t t = 0; t < tiling_.tiles.size(); ++t) {
            const RowPiece& tile = tiling_.tiles[t];
            ConvOperation job = operation(slice, tile);
            weights_->set(index, tiling_.operands.weights, job.conv);
            keep_weights(t, job.conv);
            const CubePart part = part_written(slice, tile);
            std::vector<std::size_t> after;
            input_.add_writer_of(part_read(slice, tile), after);
            if (task_.residual != nullptr) {
                task_.residual->add_writer_of(part, after);
            }
            Operation added{name_of(slice, tile), job, std::move(after)};
            added.table = lookup_entries(task_.table);
            context_.add(std::move(added), part, output_);
        }
        return true;
    }

    CubePart part_read(const ChannelSlice& slice, const RowPiece& tile) const {
        return {tile.in_begin, tile.in_begin + tile.in_rows, slice.input_atom,
                slice.input_atom + atoms(slice.channels)};
    }
    CubePart part_written(const ChannelSlice& slice, const RowPiece& tile) const {
        return {tile.out_begin / task_.row_step(),
                (tile.out_begin + tile.out_rows) / task_.row_step(), slice.output_atom,
                slice.output_atom + atoms(slice.kernels)};
    }
    std::uint32_t atoms(std::uint32_t channels) const {
        return static_cast<std::uint32_t>(divide_up(channels, per_atom_));
    }

    /// Resident weights are fetched by the first tile and released by the last.
    void keep_weights(std::size_t tile, ConvParts& parts) const {
        BufferReuse& reuse = parts.cdma.reuse;
        reuse.weight_reuse = tiling_.resident && tile > 0;
        reuse.skip_weight_release = tiling_.resident && tile + 1 < tiling_.tiles.size();
        parts.csc.reuse = reuse;
    }

    void explain(ConvProblem problem) {
        constexpr std::size_t most_alternatives = 3;
        if (task_.told_pixels != nullptr) {
            problem.pixels = task_.told_pixels;
            problem.features = true;
        }
        choice_.problem = problem;
        choice_.key = tiling_.key();
        choice_.choice = words_of(tiling_);
        choice_.predicted = tiling_.estimate;
        if (!context_.alternatives) {
            return;
        }
        problem.winograd = true;  // reported even where it is not allowed
        std::set<ConvForm> told;
        for (const ConvTiling& other : tiling_candidates(problem, context_.costs)) {
            const bool new_form = other.form != tiling_.form && told.insert(other.form).second;
            if (other.key() != tiling_.key() &&
                (new_form || choice_.alternatives.size() < most_alternatives)) {
                const bool refused = other.form.mode == ConvMode::Winograd && !context_.winograd;
                choice_.alternatives.push_back(
                    {words_of(other), other.estimate, refused ? "results would be rounded" : ""});
            }
        }
    }

    std::string name_of(const ChannelSlice& slice, const RowPiece& tile) const {
        std::string name = layer_.name;
        name += cut_.slices.size() > 1 ? fmt::format(" atom {}", slice.output_atom) : "";
        if (tiling_.tiles.size() > 1) {
            name += rows_text(tile.out_begin, tile.out_rows);
        }
        return name;
    }

    ConvOperation operation(const ChannelSlice& slice, const RowPiece& tile) const {
        ConvOperation operation;
        operation.conv = conv_parts(slice, tile);
        operation.sdp = sdp_job(slice, tile);
        if (task_.pool != nullptr) {
            operation.pdp = pdp_job(operation.sdp.shape, part_of(output_.cube, slice, tile));
        }
        const FeatureCube& written = operation.destination();
        operation.conv.cacc.line_packed = written.line_packed();
        operation.conv.cacc.surface_packed = written.surface_packed();
        return operation;
    }

    ConvParts conv_parts(const ChannelSlice& slice, const RowPiece& tile) const {
        const ConvOperands& operands = tiling_.operands;
        const WeightLayout& weights = operands.weights;
        ConvParts parts;
        CdmaJob& cdma = parts.cdma;
        cdma.mode = tiling_.form.mode;
        cdma.in_precision = cdma.precision = context_.precision;
        cdma.input = {operands.input.channels, tile.in_rows, task_.shapes.input.width};
        if (cdma.mode == ConvMode::Image) {
            set_pixels(tile, cdma);
        } else {
            cdma.feature = input_.cube;
            cdma.feature.base = input_.cube.line_address(slice.input_atom, tile.in_begin);
            cdma.feature.shape = cdma.input;
            cdma.line_packed = cdma.feature.line_packed();
            cdma.surface_packed = cdma.feature.surface_packed();
        }
        cdma.pad_value = task_.pad_value();
        cdma.data_in_secondary = input_.in_sram;
        cdma.entries_per_slice = operands.row_entries;
        cdma.bytes_per_kernel = weights.kernel_bytes();
        cdma.kernels = slice.kernels;
        cdma.banks = tiling_.banks;
        CscJob& csc = parts.csc;
        csc.mode = cdma.mode;
        csc.precision = context_.precision;
        csc.input = cdma.input;
        csc.kernels = weights.shape;
        csc.row_group = weights.row_group;
        csc.entries_per_slice = cdma.entries_per_slice;
        csc.output = {slice.kernels, tile.out_rows, task_.shapes.output.width};
        csc.atomics = csc.output.height * csc.output.width;
        csc.release_slices = tile.in_rows;
        csc.stride_y = window_.stride_y;
        csc.stride_x = window_.stride_x;
        csc.dilation_y = window_.dilation_y;
        csc.dilation_x = window_.dilation_x;
        csc.pad_top = tile.pad_top;
        csc.pad_left = window_.pad_left;
        csc.pad_value = cdma.pad_value;
        csc.banks = cdma.banks;
        parts.cmac[0].precision = parts.cmac[1].precision = context_.precision;
        parts.cacc.precision = context_.precision;
        parts.cacc.clip_truncate = numbers_->sum_shift;
        parts.cacc.output = csc.output;
        if (is_winograd()) {
            set_winograd(slice, tile, parts);
        }
        return parts;
    }

    /// The DMA pads the input to whole patches, which are shifted right so that they fit int8.
    void set_winograd(const ChannelSlice& slice, const RowPiece& tile, ConvParts& parts) const {
        const ConvOperands& operands = tiling_.operands;
        CdmaJob& cdma = parts.cdma;
        cdma.input.channels = cdma.feature.shape.channels = slice.channels;
        cdma.pad_left = window_.pad_left;
        cdma.pad_right = operands.pad_right;
        WinogradInput& patches = cdma.winograd;
        patches.extended_height = tile.out_rows + operands.patch_rows;
        patches.extended_width = parts.csc.output.width + operands.patch_rows;
        patches.pad_top = tile.pad_top;
        patches.pad_bottom = patches.extended_height - tile.pad_top - tile.in_rows;
        CscJob& csc = parts.csc;
        csc.input = {operands.input.channels, patches.extended_height, patches.extended_width};
        csc.release_slices = patches.extended_height;
        csc.patch_truncate = winograd_data_shift;
        csc.pad_top = csc.pad_left = 0;
        parts.cmac[0].winograd = parts.cmac[1].winograd = true;
        parts.cacc.winograd = true;
    }

    /// The rows of the image that a tile covers.
    void set_pixels(const RowPiece& tile, CdmaJob& cdma) const {
        cdma.pixels = *input_.pixels;
        for (std::size_t plane = 0; plane < cdma.pixels.format->planes; ++plane) {
            cdma.pixels.base[plane] =
                cdma.pixels.base[plane] + cdma.pixels.line_stride[plane] * tile.in_begin;
        }
        cdma.pixels.height = tile.in_rows;
        cdma.pad_left = window_.pad_left;
        cdma.pad_right = tiling_.operands.pad_right;
        cdma.conversion = task_.pixel_conversion;
    }

    /// The part of a surface that a tile of a slice covers.
    FeatureCube part_of(const FeatureCube& cube, const ChannelSlice& slice,
                        const RowPiece& tile) const {
        FeatureCube part = cube;
        part.base = cube.line_address(slice.output_atom, tile.out_begin / task_.row_step());
        part.shape = {slice.kernels, tile.out_rows / task_.row_step(), cube.shape.width};
        return part;
    }

    SdpJob sdp_job(const ChannelSlice& slice, const RowPiece& tile) const {
        SdpJob job;
        job.shape = {slice.kernels, tile.out_rows, task_.shapes.output.width};
        job.to_pdp = task_.pool != nullptr;
        job.winograd = is_winograd();
        if (!job.to_pdp) {
            job.destination = whole_atoms(part_of(output_.cube, slice, tile));
            job.destination_in_sram = output_.in_sram;
        }
        job.stages.convertor = numbers_->convertor;
        job.stages.processing = job.stages.output = context_.precision;
        set_bias(slice, job);
        SdpXStage& bn = job.stages.bn;
        if (numbers_->least) {
            bn.bypass = false;
            bn.alu = {.bypass = false,
                      .algorithm = AluAlgorithm::Max,
                      .operand = *numbers_->least,
                      .shift_left = numbers_->least_shift};
        }
        if (numbers_->most) {
            bn.bypass = false;
            bn.alu = {.bypass = false, .algorithm = AluAlgorithm::Min, .operand = *numbers_->most};
        }
        if (!task_.table.empty()) {
            job.stages.ew = lookup_stage(numbers_->convertor.offset);
            job.stages.convertor = {};
        }
        if (task_.residual != nullptr) {
            bn = add_stage(numbers_->residual_shift, task_.relu_after_residual);
            job.operands[bn_stage] = element_operand(part_of(task_.residual->cube, slice, tile),
                                                     task_.residual->in_sram);
        }
        return job;
    }

    /// In the first stage; where a remainder is left, the second one ends the sequence.
    void set_bias(const ChannelSlice& slice, SdpJob& job) const {
        const bool rest = has_rest();
        SdpXStage& bs = job.stages.bs;
        SdpXStage& bn = job.stages.bn;
        bs.bypass = !layer_.bias && !layer_.relu;
        bs.relu = layer_.relu && !rest;
        if (layer_.bias) {
            bs.alu = {.bypass = false,
                      .source = OperandSource::Memory,
                      .shift_left = numbers_->bias_shift};
            const bool scaled = !first_factors().empty();
            job.operands[bs_stage] = operand_of(bias_, scaled, slice, job.shape);
            set_scale(rest ? bn : bs);
            if (rest && scaled) {
                bs.mul = {.bypass = false, .source = OperandSource::Memory};
            }
        }
        if (rest) {
            bn.bypass = false;
            bn.alu = {.bypass = false, .source = OperandSource::Memory};
            bn.relu = layer_.relu;
            job.operands[bn_stage] = operand_of(rest_, factor_per_kernel_, slice, job.shape);
        } else if (numbers_->gain != 1) {
            bn.bypass = false;
            bn.mul = {.bypass = false, .operand = numbers_->gain};
        }
    }

    void set_scale(SdpXStage& stage) const {
        const auto& factors = numbers_->factor;
        stage.shift_right = numbers_->factor_shift;
        if (factor_per_kernel_) {
            stage.mul = {.bypass = false, .source = OperandSource::Memory};
        } else if (!factors.empty() && factors.front() != 1) {
            stage.mul = {.bypass = false, .operand = factors.front()};
        }
    }

    /// For a slice, with a factor for each kernel where it is scaled.
    SdpOperandFetch operand_of(Address base, bool scaled, const ChannelSlice& slice,
                               Shape shape) const {
        shape.channels = atoms(shape.channels) * per_atom_;
        return kernel_operand(base + Bytes(scaled ? 4 : 2) * slice.output_atom * per_atom_, shape,
                              per_atom_, scaled ? 2 : 1);
    }

    PdpJob pdp_job(const Shape& sums, const FeatureCube& part) const {
        PdpJob job;
        job.input = sums;
        job.output = part.shape;
        job.destination = whole_atoms(part);
        job.destination_in_sram = output_.in_sram;
        job.pooling = pooling_of(task_.pool->window, task_.pooling);
        job.pooling.precision = context_.precision;
        job.pooling.output = job.output;
        job.pooling.parts = {{0, job.input.width, 0, 0, job.output.width}};
        return job;
    }

    const ConvTask& task_;
    const Layer& layer_;
    const StoredCube& input_;
    const LayerWindow& window_;
    PlanContext& context_;
    std::uint32_t per_atom_;
    ChannelCut cut_;
    ConvTiling tiling_;
    StoredCube output_;
    const LayerNumbers* numbers_ = nullptr;  ///< scales and biases
    LayerNumbers made_;                      ///< where the model provides none
    bool factor_per_kernel_ = false;         ///< the last stage that adds a bias multiplies
    Address bias_;
    Address rest_;  ///< remainders of biases, where there are any
    std::optional<ConvWeights> weights_;
    ConvChoice choice_;
};

}  // namespace

ConvProblem problem_of(const ConvTask& task, const ChannelSlice& slice) {
    const Shape& input = task.input.cube.shape;
    const LayerWindow& window = task.shapes.window;
    return {.precision = task.precision,
            .input = {slice.channels, input.height, input.width},
            .kernels = {slice.kernels, slice.channels, window.rows, window.columns},
            .geometry = {.out_height = task.shapes.output.height,
                         .out_width = task.shapes.output.width,
                         .stride_y = window.stride_y,
                         .stride_x = window.stride_x,
                         .dilation_y = window.dilation_y,
                         .dilation_x = window.dilation_x,
                         .pad_top = window.pad_top,
                         .pad_left = window.pad_left},
            .pixels = task.input.pixels ? task.input.pixels->format : nullptr,
            .features = !task.input.pixels};
}

std::optional<ConvTiling> best_tiling(const ConvTask& task, PlanContext& context) {
    return ConvPlanner(task, context).tiling();
}

std::optional<StoredCube> plan_conv(const ConvTask& task, PlanContext& context,
                                    ConvChoice& choice) {
    ConvPlanner planner(task, context);
    std::optional<StoredCube> written = planner.plan();
    choice = planner.choice();
    return written;
}

}  // namespace npuscope
