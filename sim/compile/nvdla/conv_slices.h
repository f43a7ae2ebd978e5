// SPDX-License-Identifier: Apache-2.0
// A convolution as the network asks for it, its cut into slices of channels, and the weights of the
// slices in memory.
//
// Groups: a feature atom cannot be split, so neighbouring groups are convolved together until their
// channels and kernels fill whole atoms; the weights between groups are zero. Depthwise layers
// become operations of 8 channels and 8 kernels on an atom of 8, of which one weight in 8 counts:
// the MAC array works at an eighth of its rate.
// Kernels so large that no whole group of them fits the buffer are computed a few at a time, and
// the result's atoms are left partly empty.
//
// The weights of all slices have equal room, 256 bytes aligned:
//
//     <layer>_weights  | slice 0 | slice 1 | ...      values alone where they are compressed
//     <layer>_wmb, <layer>_wgs  likewise
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/compile/nvdla/plan_context.h"
#include "sim/compile/nvdla/synthetic_values.h"

namespace npuscope {

/// Input channels and kernels that go together in one operation, in whole atoms of the surfaces.
struct ChannelSlice {
    std::uint32_t input_atom = 0;
    std::uint32_t channels = 0;
    std::uint32_t output_atom = 0;
    std::uint32_t kernels = 0;
};

/// A convolution with what is joined to it on the way to memory.
struct ConvTask {
    const Layer& layer;
    const LayerShapes& shapes;
    const StoredCube& input;
    LayerValues values;
    std::string result{};  ///< layer whose result it is, where another one is joined to it
    const StoredCube* residual = nullptr;  ///< added to the result
    bool relu_after_residual = false;
    const LayerShapes* pool = nullptr;  ///< pools the result on the way to memory
    PoolingMethod pooling = PoolingMethod::Max;
    std::vector<std::int8_t> table{};  ///< through which the result goes on the way to memory
    Precision precision = Precision::Int8;
    const PixelFormat* or_pixels = nullptr;    ///< for best_tiling: the input may be pixels as well
    const PixelFormat* told_pixels = nullptr;  ///< could be chosen as well as features
    InputConversion pixel_conversion{};        ///< where the input lies in memory as pixels
    // what cut_channels sets
    std::vector<ChannelSlice> slices{};
    std::uint32_t lanes = 8;           ///< of an output atom that are in use
    std::uint32_t group_channels = 0;  ///< of one of the layer's groups; 0: it has none
    std::uint32_t group_kernels = 0;

    /// Around the input, two's complement.
    std::uint16_t pad_value() const {
        return values.given() != nullptr ? static_cast<std::uint16_t>(values.given()->padding) : 0;
    }
    /// Rows of the convolution for each of the result.
    std::uint32_t row_step() const { return pool != nullptr ? pool->window.stride_y : 1; }
};

/// Sets the slices and what belongs to them; the problem where the layer cannot be cut.
std::optional<Diagnostic> cut_channels(ConvTask& task, const NpuConfig& npu);

/// The convolution of one slice by itself.
ConvProblem problem_of(const ConvTask& task, const ChannelSlice& slice);

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

/// What compressing would make of a convolution's weights, their images, and where each slice finds
/// its part.
class ConvWeights {
 public:
    /// Task, which has been cut, and context must outlive it.
    ConvWeights(const ConvTask& task, PlanContext& context);

    /// Of the largest slice; nothing where weights cannot be compressed or that would not pay.
    const std::optional<CompressedSizes>& compressed() const { return compressed_; }
    /// Adds the images to the plan; `problem` of a slice, in the form that was chosen.
    void place(const ConvProblem& problem, const ConvForm& form);
    /// Where the operation of a slice finds its weights, and how many bytes it fetches.
    void set(std::size_t slice, const WeightLayout& layout, ConvParts& parts) const;

 private:
    struct Place {
        Address address;
        Bytes pitch;
        Address of(std::size_t slice) const { return address + pitch * slice; }
    };

    ConvOperands operands_of_slice(std::size_t slice) const;
    void measure();
    bool mask_fits(const WeightLayout& layout) const;
    Place place_parts(const std::string& suffix, Bytes each);
    void place_compressed();
    Bytes fetched_bytes(const WeightLayout& weights) const;

    const ConvTask& task_;
    PlanContext& context_;
    ConvProblem problem_;
    ConvForm form_;
    std::optional<CompressedSizes> compressed_;
    std::vector<Bytes> compressed_values_;  ///< of each slice
    Place values_;
    Place masks_;
    Place sizes_;
};

}  // namespace npuscope
