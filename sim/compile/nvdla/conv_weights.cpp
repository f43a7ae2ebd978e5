// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/conv_weights.h"

#include <algorithm>

namespace npuscope {
namespace {

/// WGS is fetched in atoms of 32 bytes. source: nv_full C model
Bytes size_bytes(const WeightLayout& layout) { return Bytes(round_up(4ULL * layout.groups(), 32)); }

}  // namespace

ConvWeights::ConvWeights(const ConvTask& task, const ChannelCut& cut, PlanContext& context)
    : task_(task), cut_(cut), context_(context) {
    measure();
}

SliceWeights ConvWeights::weights_of(std::size_t slice) const {
    return {task_.cut_task(), cut_, cut_.slices[slice], task_.values};
}

ConvOperands ConvWeights::operands_of_slice(std::size_t slice) const {
    ConvProblem problem = problem_;
    const ConvProblem own = problem_of(task_.cut_task(), cut_.slices[slice]);
    problem.input = own.input;
    problem.kernels = own.kernels;
    return operands_of(problem, form_, context_.npu());
}

/// What compressing would make of all slices' weights, where the target can and it may pay.
void ConvWeights::measure() {
    const NpuConfig& npu = context_.npu();
    if (!npu.cdma.weight_compression || context_.compression == CompressionChoice::Never) {
        return;
    }
    CompressedSizes sizes;
    for (std::size_t i = 0; i < cut_.slices.size(); ++i) {
        const SliceWeights weights = weights_of(i);
        const WeightLayout layout =
            direct_weights(problem_of(task_.cut_task(), cut_.slices[i]).kernels, npu.datapath);
        const bool may_pay = context_.compression == CompressionChoice::Always || weights.sparse();
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
bool ConvWeights::mask_fits(const WeightLayout& layout) const {
    const CbufConfig& cbuf = context_.npu().cbuf;
    const std::uint64_t bytes = divide_up(layout.group_bytes(0).value, 8);
    return divide_up(bytes, cbuf.bank_width.value) + 1 <= cbuf.bank_depth;
}

/// An image with a part for each slice.
ConvWeights::Place ConvWeights::place_parts(const std::string& suffix, Bytes each) {
    const Bytes pitch(round_up(each.value, 256));
    return {context_.place_image(task_.layer.name + suffix, pitch * cut_.slices.size()).first,
            pitch};
}

void ConvWeights::place(const ConvProblem& problem, const ConvForm& form) {
    problem_ = problem;
    form_ = form;
    if (form.compressed) {
        place_compressed();
        return;
    }
    values_ = place_parts("_weights", operands_of_slice(0).weights.stored_bytes());
    const std::span<std::uint8_t> bytes = context_.plan.images.back().image.bytes;
    const bool image = form.mode == ConvMode::Image;
    for (std::size_t i = 0; i < cut_.slices.size() && !bytes.empty(); ++i) {
        const ConvOperands operands = operands_of_slice(i);
        const auto part = bytes.subspan((values_.pitch * i).value, values_.pitch.value);
        if (form.mode == ConvMode::Winograd) {
            weights_of(i).fill_winograd(operands.weights, part);
        } else {
            weights_of(i).fill(operands.weights, image ? operands.input.channels : 0, part);
        }
    }
}

void ConvWeights::place_compressed() {
    values_ = place_parts("_weights", compressed_->values);
    masks_ = place_parts("_wmb", compressed_->mask);
    sizes_ = place_parts("_wgs", compressed_->sizes);
    if (!context_.images) {
        return;
    }
    const std::span<PlannedImage> placed = std::span(context_.plan.images).last(3);
    for (std::size_t i = 0; i < cut_.slices.size(); ++i) {
        const WeightLayout layout = operands_of_slice(i).weights;
        std::vector<std::uint8_t> plain(layout.stored_bytes().value);
        weights_of(i).fill(layout, 0, plain);
        const CompressedWeights packed = compress_weights(layout, plain);
        const auto store = [&](PlannedImage& image, const Place& place,
                               std::span<const std::uint8_t> bytes) {
            const auto offset = static_cast<std::ptrdiff_t>((place.pitch * i).value);
            std::ranges::copy(bytes, image.image.bytes.begin() + offset);
        };
        store(placed[0], values_, packed.weights);
        store(placed[1], masks_, packed.mask);
        // little-endian words
        const auto* words = reinterpret_cast<const std::uint8_t*>(packed.sizes.data());
        store(placed[2], sizes_, {words, packed.sizes.size() * sizeof(std::uint32_t)});
    }
}

/// Without the zeros behind them where the target counts entries of the buffer: they would stay
/// there and be taken for the next operation's weights. source: nv_small RTL, replayed
Bytes ConvWeights::fetched_bytes(const WeightLayout& weights) const {
    return context_.plan.registers == AddressMap::NvFull
               ? weights.stored_bytes()
               : Bytes(round_up(weights.used_bytes().value, context_.npu().cbuf.bank_width.value));
}

void ConvWeights::set(std::size_t slice, const WeightLayout& layout, ConvParts& parts) const {
    CdmaJob& cdma = parts.cdma;
    cdma.weight_address = values_.of(slice);
    cdma.weight_bytes = fetched_bytes(layout);
    if (form_.compressed) {
        cdma.compression = {masks_.of(slice), stored_mask_bytes(layout), sizes_.of(slice)};
        cdma.weight_bytes = compressions_[slice].values;
        parts.csc.compressed = true;
        parts.csc.mask_bytes = cdma.compression->mask_bytes;
    }
    parts.csc.weight_bytes = cdma.weight_bytes;
}

}  // namespace npuscope
