// SPDX-License-Identifier: Apache-2.0
// The weights of a convolution in memory, slice by slice of its channels: uncompressed, compressed
// or transformed. The weights of all slices have places of the same size, 256-byte aligned:
//
//     <layer>_weights  | slice 0 | slice 1 | ...      values only where they are compressed
//     <layer>_wmb, <layer>_wgs  the same
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/compile/nvdla/conv_planner.h"
#include "sim/compile/nvdla/conv_tiling.h"
#include "sim/compile/nvdla/plan_context.h"

namespace npuscope {

// Winograd convolution: U = G w G^T, 4 x 4, halved so that it fits int8, ties away from zero. The
// patches of the input are shifted right by two bits by the sequencer, as their transformation
// needs ten. Sums are an eighth of the direct ones; both roundings are why results differ from
// those of a direct convolution.
// source: NVDLA format page, "Weight for Winograd Convolution"; scales: our choice
constexpr unsigned winograd_data_shift = 2;
constexpr unsigned winograd_weight_shift = 1;
/// Bits by which sums are smaller.
constexpr unsigned winograd_sum_shift = winograd_data_shift + winograd_weight_shift;

/// Transforms a kernel's taps of one channel, row by row, to 16 elements.
std::array<std::int8_t, 16> winograd_taps(const std::array<std::int8_t, 9>& taps);

/// What compression would make of a convolution's weights, their images, and the location of each
/// slice's part.
class ConvWeights {
 public:
    /// All must outlive it.
    ConvWeights(const ConvTask& task, const ChannelCut& cut, PlanContext& context);

    /// Of the largest slice; nothing where weights cannot be compressed or that would not pay off.
    const std::optional<CompressedSizes>& compressed() const { return compressed_; }
    /// Adds the images to the plan; `problem`: of a slice, in the chosen form.
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
    const ChannelCut& cut_;
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
