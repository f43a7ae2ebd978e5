// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/conv_weights.h"

#include <algorithm>
#include <array>
#include <limits>

#include "models/arith/fixed_point.h"
#include "models/layout/weight_layout.h"
#include "sim/compile/nvdla/tiling_estimate.h"

namespace npuscope {
namespace {

constexpr std::uint32_t no_group = std::numeric_limits<std::uint32_t>::max();

/// Which of the layer's weights is where in one slice: zeros between unrelated groups of channels
/// and in lanes that belong to no channel.
class SliceWeights {
 public:
    SliceWeights(const ConvTask& task, const ChannelCut& cut, std::size_t index)
        : task_(task), cut_(cut), slice_(cut.slices[index]), channels_(slice_.channels) {
        const std::uint32_t per_atom = task.input.cube.channels_per_atom();
        const std::uint32_t lanes = task.input.lanes;
        for (std::uint32_t c = 0; c < slice_.channels; ++c) {
            const std::uint32_t stored = slice_.input_atom * per_atom + c;
            const std::uint32_t channel = stored / per_atom * lanes + stored % per_atom;
            channels_[c] = cut.group_channels == 0 ? Channel{0, channel}
                                                   : Channel{channel / cut.group_channels,
                                                             channel % cut.group_channels};
            if (stored % per_atom >= lanes) {
                channels_[c].group = no_group;
            }
        }
    }

    /// Kernel of the slice, channel as it is stored.
    std::int16_t at(std::uint32_t k, std::uint32_t c, std::uint32_t r, std::uint32_t s) const {
        const std::uint32_t kernel = slice_.output_atom * cut_.lanes + k;
        const std::uint32_t group = cut_.group_kernels == 0 ? 0 : kernel / cut_.group_kernels;
        if (c >= channels_.size() || channels_[c].group != group) {
            return 0;
        }
        return task_.values.weight(kernel, channels_[c].channel, r, s);
    }
    /// Whether more of them are zero than by chance.
    bool sparse() const {
        return task_.values.zeros() > 0 || cut_.group_channels > 0 || task_.input.has_holes();
    }
    /// Uncompressed bytes as in memory, weights.stored_bytes() of them. Images have
    /// `image_channels`, others 0; columns after the layer's own are zero.
    void fill(const WeightLayout& weights, std::uint32_t image_channels,
              std::span<std::uint8_t> bytes) const {
        if (image_channels == 0 && weights.element == Bytes(1) && are_neighbours()) {
            fill_kernels(weights, bytes);
            return;
        }
        fill_weights(weights, bytes,
                     [&](std::uint32_t k, std::uint32_t c, std::uint32_t r, std::uint32_t s) {
                         if (image_channels == 0) {
                             return at(k, c, r, s);
                         }
                         const std::uint32_t column = c / image_channels;
                         return column < task_.shapes.window.columns
                                    ? at(k, c % image_channels, r, column)
                                    : std::int16_t{0};
                     });
    }
    /// The same for transformed 4 x 4 kernels.
    void fill_winograd(const WeightLayout& weights, std::span<std::uint8_t> bytes) const {
        Kernels<std::int8_t> kernels(weights.shape);
        for (std::uint32_t k = 0; k < weights.shape.kernels; ++k) {
            for (std::uint32_t c = 0; c < channels_.size(); ++c) {
                std::array<std::int8_t, 9> taps{};
                for (std::uint32_t tap = 0; tap < taps.size(); ++tap) {
                    taps[tap] = static_cast<std::int8_t>(at(k, c, tap / 3, tap % 3));
                }
                std::ranges::copy(winograd_taps(taps), &kernels.at(k, c, 0, 0));
            }
        }
        encode_weights(weights, kernels, bytes);
    }

 private:
    /// Whether the stored channels are consecutive ones of the layer, for kernels of one group.
    bool are_neighbours() const {
        for (std::size_t c = 0; c < channels_.size(); ++c) {
            if (channels_[c].group != 0 || channels_[c].channel != channels_[0].channel + c) {
                return false;
            }
        }
        return cut_.group_kernels == 0;
    }
    void fill_kernels(const WeightLayout& weights, std::span<std::uint8_t> bytes) const {
        NPU_CHECK(weights.shape.channels == channels_.size(), "a slice stores its channels alone");
        Kernels<std::int8_t> kernels(weights.shape);
        const std::size_t size = kernels.values.size() / weights.shape.kernels;
        for (std::uint32_t k = 0; k < weights.shape.kernels; ++k) {
            task_.values.of_kernel(slice_.output_atom * cut_.lanes + k, channels_[0].channel,
                                   std::span(kernels.values).subspan(k * size, size));
        }
        encode_weights(weights, kernels, bytes);
    }

    struct Channel {
        std::uint32_t group = 0;  ///< no_group where the lane belongs to no channel
        std::uint32_t channel = 0;
    };

    const ConvTask& task_;
    const ChannelCut& cut_;
    ChannelSlice slice_;
    std::vector<Channel> channels_;
};

/// Bytes of one slice's compressed weights.
struct SliceCompression {
    Bytes values;        ///< zeros at the end included
    Bytes group_values;  ///< of the largest kernel group
};

/// Whether whole entries hold no more than what is used, up to the end of the last one.
bool fills_entries(std::uint64_t used, Bytes stored, Bytes entry) {
    return divide_up(used, entry.value) == divide_up(stored.value, entry.value);
}

/// Nothing where all weights are zero, or where an entry of the buffer would hold only the zeros at
/// the end: it would stay there and be used as the next operation's weights.
/// source: nv_small RTL, replayed
std::optional<SliceCompression> measure_compression(const SliceWeights& weights,
                                                    const WeightLayout& layout, Bytes entry) {
    std::vector<std::uint64_t> groups(layout.groups(), 0);
    for_each_weight(layout,
                    [&](std::uint32_t k, std::uint32_t c, std::uint32_t r, std::uint32_t s) {
                        groups[k / layout.group_kernels] += weights.at(k, c, r, s) != 0 ? 1U : 0U;
                    });
    std::uint64_t used = 0;
    std::uint64_t largest = 0;
    for (const std::uint64_t group : groups) {
        used += group;
        largest = std::max(largest, group);
    }
    const SliceCompression result{stored_weight_bytes(used), Bytes(largest)};
    if (used == 0 || !fills_entries(used, result.values, entry) ||
        !fills_entries(used_mask_bytes(layout).value, stored_mask_bytes(layout), entry)) {
        return std::nullopt;
    }
    return result;
}

/// WGS is fetched in atoms of 32 bytes. source: nv_full C model
Bytes size_bytes(const WeightLayout& layout) { return Bytes(round_up(4ULL * layout.groups(), 32)); }

/// Twice G w of three consecutive elements.
std::array<int, 4> transformed(const std::array<int, 3>& w) {
    return {2 * w[0], w[0] + w[1] + w[2], w[0] - w[1] + w[2], 2 * w[2]};
}

}  // namespace

std::array<std::int8_t, 16> winograd_taps(const std::array<std::int8_t, 9>& taps) {
    std::array<std::array<int, 4>, 3> half{};  // of each row
    for (std::size_t r = 0; r < 3; ++r) {
        half[r] = transformed({taps[3 * r], taps[3 * r + 1], taps[3 * r + 2]});
    }
    std::array<std::int8_t, 16> result{};
    for (std::size_t j = 0; j < 4; ++j) {
        const std::array<int, 4> column = transformed({half[0][j], half[1][j], half[2][j]});
        for (std::size_t i = 0; i < 4; ++i) {  // four times U
            result[4 * i + j] =
                saturate_to<std::int8_t>(shift_right_round(column[i], 2 + winograd_weight_shift));
        }
    }
    return result;
}

ConvWeights::ConvWeights(const ConvTask& task, const ChannelCut& cut, PlanContext& context)
    : task_(task), cut_(cut), context_(context) {
    measure();
}

ConvOperands ConvWeights::operands_of_slice(std::size_t slice) const {
    ConvProblem problem = problem_;
    const ConvProblem own = problem_of(task_, cut_.slices[slice]);
    problem.input = own.input;
    problem.kernels = own.kernels;
    return operands_of(problem, form_, context_.npu());
}

/// What compression would make of all slices' weights, where the target can and it may pay off.
void ConvWeights::measure() {
    const NpuConfig& npu = context_.npu();
    if (!npu.cdma.weight_compression || context_.compression == CompressionChoice::Never ||
        task_.precision != Precision::Int8) {
        return;
    }
    CompressedSizes sizes;
    for (std::size_t i = 0; i < cut_.slices.size(); ++i) {
        const SliceWeights weights(task_, cut_, i);
        const WeightLayout layout =
            direct_weights(problem_of(task_, cut_.slices[i]).kernels, npu.datapath);
        const bool may_pay = context_.compression == CompressionChoice::Always || weights.sparse();
        const auto measured =
            may_pay ? measure_compression(weights, layout, npu.cbuf.bank_width) : std::nullopt;
        if (!measured || !mask_fits(layout)) {
            return;
        }
        compressed_values_.push_back(measured->values);
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

/// The mask of a kernel group has one bank, and begins in the middle of an entry at worst.
bool ConvWeights::mask_fits(const WeightLayout& layout) const {
    const CbufConfig& cbuf = context_.npu().cbuf;
    const std::uint64_t bytes = divide_up(layout.group_bytes(0).value, 8);
    return divide_up(bytes, cbuf.bank_width.value) + 1 <= cbuf.bank_depth;
}

/// An image with one part per slice.
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
            SliceWeights(task_, cut_, i).fill_winograd(operands.weights, part);
        } else {
            SliceWeights(task_, cut_, i)
                .fill(operands.weights, image ? operands.input.channels : 0, part);
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
        SliceWeights(task_, cut_, i).fill(layout, 0, plain);
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

/// Whole entries of the buffer, without the zeros after them: further entries would stay there and
/// be used as the next operation's weights. source: nv_small RTL, replayed
Bytes ConvWeights::fetched_bytes(const WeightLayout& weights) const {
    return Bytes(round_up(weights.used_bytes().value, context_.npu().cbuf.bank_width.value));
}

void ConvWeights::set(std::size_t slice, const WeightLayout& layout, ConvParts& parts) const {
    CdmaJob& cdma = parts.cdma;
    cdma.weight_address = values_.of(slice);
    cdma.weight_bytes = fetched_bytes(layout);
    if (form_.compressed) {
        cdma.compression = {masks_.of(slice), stored_mask_bytes(layout), sizes_.of(slice)};
        cdma.weight_bytes = compressed_values_[slice];
        parts.csc.compressed = true;
        parts.csc.mask_bytes = cdma.compression->mask_bytes;
    }
    parts.csc.weight_bytes = cdma.weight_bytes;
}

}  // namespace npuscope
