// SPDX-License-Identifier: Apache-2.0
// The weights of a convolution's operations in memory: what compressing would make of them, their
// images, and where each operation finds its part. Operations have equal room, 256 bytes aligned:
//
//     <layer>_weights  | slice 0 | slice 1 | ...      values alone where they are compressed
//     <layer>_wmb, <layer>_wgs  likewise
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/layout/weight_layout.h"
#include "sim/compile/nvdla/conv_planner.h"
#include "sim/compile/nvdla/conv_problem.h"
#include "sim/compile/nvdla/synthetic_values.h"

namespace npuscope {

// The weights of one operation: which of the layer's weights stands where, zeros where
// groups of channels have nothing to do with each other and in lanes that belong to no channel; and
// their bytes in memory, as they are or compressed.

// Of a Winograd convolution: U = G w G^T, 4 x 4, halved so that it fits int8, halves away from zero.
// The patches of the input are shifted right by two bits by the sequencer, as their transformation
// needs ten. Sums are an eighth of the direct ones; both roundings are why results differ from those
// of a direct convolution.
// source: NVDLA format page, "Weight for Winograd Convolution"; scales: our choice
constexpr unsigned winograd_data_shift = 2;
constexpr unsigned winograd_weight_shift = 1;
/// Bits that sums are smaller by.
constexpr unsigned winograd_sum_shift = winograd_data_shift + winograd_weight_shift;

/// A kernel's taps of one channel, row by row, to its 16 elements.
std::array<std::int8_t, 16> winograd_taps(const std::array<std::int8_t, 9>& taps);

class SliceWeights {
 public:
    SliceWeights(const CutTask& task, const ChannelCut& cut, const ChannelSlice& slice,
                 const LayerValues& values);

    /// Kernel of the slice, channel as it is stored.
    std::int8_t at(std::uint32_t k, std::uint32_t c, std::uint32_t r, std::uint32_t s) const {
        if (c >= channels_.size() || channels_[c].group != groups_[k]) {
            return 0;
        }
        return values_.weight(first_kernel_ + k, channels_[c].channel, r, s);
    }
    /// Whether more of them are zero than chance makes.
    bool sparse() const { return sparse_; }

    /// The same of transformed kernels of 4 x 4.
    void fill_winograd(const WeightLayout& weights, std::span<std::uint8_t> bytes) const;
    /// Bytes as memory holds them uncompressed, weights.stored_bytes() of them. Images have
    /// `image_channels`, others 0;
    /// columns after the layer's own are zero.
    void fill(const WeightLayout& weights, std::uint32_t image_channels,
              std::span<std::uint8_t> bytes) const;

 private:
    struct Channel {
        std::uint32_t group = 0;  ///< no group of kernels where the lane belongs to no channel
        std::uint32_t channel = 0;
    };

    const LayerValues values_;
    std::uint32_t first_kernel_;
    std::vector<Channel> channels_;
    std::vector<std::uint32_t> groups_;  ///< of each kernel
    std::uint32_t columns_;
    bool sparse_;
};

/// Bytes of one operation's compressed weights.
struct SliceCompression {
    Bytes values;        ///< zeros at the end included
    Bytes group_values;  ///< of the largest kernel group
};

/// Nothing where all weights are zero, or where an entry of the buffer would hold nothing but the
/// zeros at the end: it would stay there and be taken for the next operation's weights.
/// source: nv_small RTL, replayed
std::optional<SliceCompression> measure_compression(const SliceWeights& weights,
                                                    const WeightLayout& layout, Bytes entry);

class ConvWeights {
 public:
    /// Task, cut and context must outlive it.
    ConvWeights(const ConvTask& task, const ChannelCut& cut, PlanContext& context);

    /// Of the largest operation; nothing where weights cannot be compressed or that would not pay.
    const std::optional<CompressedSizes>& compressed() const { return compressed_; }
    /// Adds the images to the plan; `problem` of an operation, in the form that was chosen.
    void place(const ConvProblem& problem, const ConvForm& form);
    /// Where the operation of a slice finds its weights, and how many bytes it fetches.
    void set(std::size_t slice, const WeightLayout& layout, ConvParts& parts) const;

 private:
    struct Place {
        Address address;
        Bytes pitch;
        Address of(std::size_t slice) const { return address + pitch * slice; }
    };

    SliceWeights weights_of(std::size_t slice) const;
    ConvOperands operands_of_slice(std::size_t slice) const;
    void measure();
    bool mask_fits(const WeightLayout& layout) const;
    Place place_parts(const std::string& suffix, Bytes each);
    void place_compressed();
    Bytes fetched_bytes(const WeightLayout& weights) const;

    const ConvTask& task_;
    const ChannelCut& cut_;
    PlanContext& context_;
    ConvProblem problem_;
    ConvForm form_;
    std::optional<CompressedSizes> compressed_;
    std::vector<SliceCompression> compressions_;
    Place values_;
    Place masks_;
    Place sizes_;
};

}  // namespace npuscope
