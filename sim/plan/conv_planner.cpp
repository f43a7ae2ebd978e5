// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/conv_planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "models/base/check.h"
#include "models/base/error.h"
#include "sim/plan/channel_cut.h"
#include "sim/plan/pdp_planner.h"
#include "sim/plan/rescale.h"
#include "sim/plan/slice_weights.h"

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
        rescale_ = rescale_sum(inside * task_.shapes.window.rows * task_.shapes.window.columns,
                               task_.values.zeros());
        measure_weights();
        choose();
        place_weights();
        place_bias();
        for (std::size_t i = 0; i < cut_.slices.size(); ++i) {
            plan_slice(i);
        }
        return output_;
    }

    const ConvChoice& choice() const { return choice_; }

    /// The form of the operands alone; nothing is placed.
    ConvForm form() {
        cut_ = cut_channels(cut_task(), context_.npu());
        measure_weights();
        choose();
        return tiling_.form;
    }

 private:
    CutTask cut_task() const { return {layer_, task_.shapes, task_.input.stored}; }
    ConvOperands operands_of_slice(const ChannelSlice& slice) const {
        return operands_of(slice_problem(slice), tiling_.form, context_.npu());
    }
    SliceWeights weights_of(const ChannelSlice& slice) const {
        return {cut_task(), cut_, slice, task_.values};
    }

    ConvProblem slice_problem(const ChannelSlice& slice) const {
        ConvProblem problem = problem_of(cut_task(), slice);
        problem.residual = task_.residual != nullptr;
        problem.row_step = row_step();
        problem.slices = static_cast<std::uint32_t>(cut_.slices.size());
        if (task_.or_pixels != nullptr) {
            problem.pixels = task_.or_pixels;
        }
        problem.compressed = compressed_;
        problem.plain_weights = context_.compression != CompressionChoice::Always;
        return problem;
    }

    /// What compressing would make of all slices' weights, where the target can and it may pay.
    void measure_weights() {
        compressed_.reset();
        const NpuConfig& npu = context_.npu();
        if (!npu.cdma.weight_compression || context_.compression == CompressionChoice::Never) {
            return;
        }
        CompressedSizes sizes;
        compressions_.clear();
        for (const ChannelSlice& slice : cut_.slices) {
            const SliceWeights weights = weights_of(slice);
            const WeightLayout layout =
                direct_weights(problem_of(cut_task(), slice).kernels, npu.datapath);
            const bool may_pay =
                context_.compression == CompressionChoice::Always || weights.sparse();
            const auto measured =
                may_pay ? measure_compression(weights, layout, npu.cbuf.bank_width) : std::nullopt;
            if (!measured || !mask_fits(layout)) {
                return;
            }
            compressions_.push_back(*measured);
            sizes.values = std::max(sizes.values, measured->values);
            sizes.group_values = std::max(sizes.group_values, measured->group_values);
            sizes.mask = std::max(sizes.mask, stored_mask_bytes(layout));
            sizes.sizes = std::max(sizes.sizes, size_bytes(layout));
            sizes.plain = std::max(sizes.plain, layout.stored_bytes());
        }
        if (sizes.all() < sizes.plain || context_.compression == CompressionChoice::Always) {
            compressed_ = sizes;
        }
    }

    /// The mask of a kernel group has one bank, from an entry's middle on at worst.
    bool mask_fits(const WeightLayout& layout) const {
        const CbufConfig& cbuf = context_.npu().cbuf;
        const std::uint64_t bytes = divide_up(layout.group_bytes(0).value, 8);
        return divide_up(bytes, cbuf.bank_width.value) + 1 <= cbuf.bank_depth;
    }

    /// WGS is fetched in atoms of 32 bytes. source: nv_full C model
    static Bytes size_bytes(const WeightLayout& layout) {
        return Bytes(round_up(4ULL * layout.groups(), 32));
    }

    /// The first slice's form and tiling, which all share but for the last one's fewer kernels.
    void choose() {
        const ConvProblem problem = slice_problem(cut_.slices.front());
        tiling_ = tiling_of(problem);
        explain(tiling_, problem);
    }

    struct PlacedBytes {
        Address address;
        Bytes pitch;
        std::span<std::uint8_t> bytes;
        std::span<std::uint8_t> part(std::size_t i) const {
            return bytes.subspan(pitch.value * i, pitch.value);
        }
    };
    /// An image with a part for each slice.
    PlacedBytes place_parts(const std::string& suffix, Bytes each) {
        const Bytes pitch(round_up(each.value, 256));
        const auto [address, bytes] =
            context_.place_image(layer_.name + suffix, pitch * cut_.slices.size());
        return {address, pitch, bytes};
    }

    void place_weights() {
        if (tiling_.form.compressed) {
            place_compressed();
            return;
        }
        const ConvOperands first = operands_of_slice(cut_.slices.front());
        const PlacedBytes placed = place_parts("_weights", first.weights.stored_bytes());
        weights_ = {placed.address, placed.pitch};
        const bool image = tiling_.form.mode == ConvMode::Image;
        for (std::size_t i = 0; i < cut_.slices.size() && !placed.bytes.empty(); ++i) {
            const ConvOperands operands = operands_of_slice(cut_.slices[i]);
            weights_of(cut_.slices[i])
                .fill(operands.weights, image ? operands.input.channels : 0, placed.part(i));
        }
    }

    void place_compressed() {
        const PlacedBytes values = place_parts("_weights", compressed_->values);
        weights_ = {values.address, values.pitch};
        const PlacedBytes masks = place_parts("_wmb", compressed_->mask);
        masks_ = {masks.address, masks.pitch};
        const PlacedBytes sizes = place_parts("_wgs", compressed_->sizes);
        sizes_ = {sizes.address, sizes.pitch};
        if (!context_.images) {
            return;
        }
        // an image that is placed moves those before it
        for (std::size_t i = 0; i < cut_.slices.size(); ++i) {
            const WeightLayout layout = operands_of_slice(cut_.slices[i]).weights;
            std::vector<std::uint8_t> plain(layout.stored_bytes().value);
            weights_of(cut_.slices[i]).fill(layout, 0, plain);
            const CompressedWeights packed = compress_weights(layout, plain);
            auto& images = context_.plan.images;
            const auto store = [&](PlannedImage& image, Bytes pitch,
                                   std::span<const std::uint8_t> bytes) {
                std::ranges::copy(bytes, image.image.bytes.begin() +
                                             static_cast<std::ptrdiff_t>(pitch.value * i));
            };
            store(images[images.size() - 3], weights_.pitch, packed.weights);
            store(images[images.size() - 2], masks_.pitch, packed.mask);
            const auto* words = reinterpret_cast<const std::uint8_t*>(packed.sizes.data());
            store(images[images.size() - 1], sizes_.pitch,
                  {words, packed.sizes.size() * sizeof(std::uint32_t)});
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
            fill_bias(shape, bytes, task_.values, rescale_.bias_limit);
        }
    }

    void plan_slice(std::size_t index) {
        const ChannelSlice& slice = cut_.slices[index];
        if (slice.kernels != cut_.slices.front().kernels) {
            tiling_ = tiling_of(only(slice_problem(slice), tiling_.form));
        }
        for (std::size_t t = 0; t < tiling_.tiles.size(); ++t) {
            const ConvTile& tile = tiling_.tiles[t];
            ConvOperation operation;
            operation.conv = conv_parts(slice, tile);
            place_operand_weights(index, operation.conv);
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

    ConvTiling tiling_of(const ConvProblem& problem) const {
        try {
            return choose_tiling(problem, context_.costs);
        } catch (const ConfigError& error) {
            throw ConfigError(fmt::format("layer '{}': {}", layer_.name, error.sentence()),
                              error.remedy());
        }
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
        std::set<ConvForm> told;
        for (const ConvTiling& other : tiling_candidates(problem, context_.costs)) {
            const bool new_form = other.form != chosen.form && told.insert(other.form).second;
            if (other.key() != chosen.key() &&
                (new_form || choice_.alternatives.size() < most_alternatives)) {
                choice_.alternatives.push_back({words_of(other, problem), other.estimate});
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
        const ConvProblem problem = slice_problem(slice);
        const ConvOperands operands = operands_of_slice(slice);
        const WeightLayout& weights = operands.weights;
        ConvParts parts;
        CdmaJob& cdma = parts.cdma;
        cdma.mode = tiling_.form.mode;
        cdma.input = {operands.input.channels, tile.in_rows, problem.input.width};
        if (cdma.mode == ConvMode::Image) {
            set_pixels(tile, operands, cdma);
        } else {
            cdma.feature = task_.input.stored.cube;
            cdma.feature.base =
                task_.input.stored.cube.line_address(slice.input_atom, tile.in_begin);
            cdma.feature.shape = cdma.input;
            cdma.line_packed = cdma.feature.line_packed();
            cdma.surface_packed = cdma.feature.surface_packed();
        }
        cdma.entries_per_slice = operands.row_entries;
        cdma.weight_bytes = fetched_bytes(weights);
        cdma.bytes_per_kernel = weights.kernel_bytes();
        cdma.kernels = slice.kernels;
        cdma.banks = tiling_.banks;
        CscJob& csc = parts.csc;
        csc.mode = cdma.mode;
        csc.input = cdma.input;
        csc.kernels = weights.shape;
        csc.row_group = weights.row_group;
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

    /// The rows of the image that a tile reaches over.
    void set_pixels(const ConvTile& tile, const ConvOperands& operands, CdmaJob& cdma) const {
        cdma.pixels = *task_.input.stored.pixels;
        for (std::size_t plane = 0; plane < cdma.pixels.format->planes; ++plane) {
            cdma.pixels.base[plane] =
                cdma.pixels.base[plane] + cdma.pixels.line_stride[plane] * tile.in_begin;
        }
        cdma.pixels.height = tile.in_rows;
        cdma.pad_left = task_.shapes.window.pad_left;
        cdma.pad_right = operands.pad_right;
        cdma.conversion = task_.pixel_conversion;
    }

    /// Where an operation's weights lie, and how many bytes of them are fetched.
    void place_operand_weights(std::size_t index, ConvParts& parts) const {
        CdmaJob& cdma = parts.cdma;
        cdma.weight_address = weights_.of(index);
        if (!tiling_.form.compressed) {
            return;
        }
        const WeightLayout layout = operands_of_slice(cut_.slices[index]).weights;
        cdma.compression = {masks_.of(index), stored_mask_bytes(layout), sizes_.of(index)};
        cdma.weight_bytes = compressions_[index].values;
        parts.csc.compressed = true;
        parts.csc.mask_bytes = cdma.compression->mask_bytes;
        parts.csc.weight_bytes = cdma.weight_bytes;
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
    struct Parts {
        Address address;
        Bytes pitch;
        Address of(std::size_t slice) const { return address + pitch * slice; }
    };
    Parts weights_;
    Parts masks_;
    Parts sizes_;
    std::optional<CompressedSizes> compressed_;  ///< of the largest slice
    std::vector<SliceCompression> compressions_;
    Address bias_;
    ConvChoice choice_;
};

}  // namespace

ConvForm best_form(const ConvTask& task, PlanContext& context) {
    return ConvPlanner(task, context).form();
}

WrittenCube plan_conv(const ConvTask& task, PlanContext& context, ConvChoice& choice) {
    ConvPlanner planner(task, context);
    WrittenCube written = planner.plan();
    choice = planner.choice();
    return written;
}

}  // namespace npuscope
