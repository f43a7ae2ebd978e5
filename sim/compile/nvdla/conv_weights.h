// SPDX-License-Identifier: Apache-2.0
// The weights of a convolution's operations in memory: what compressing would make of them, their
// images, and where each operation finds its part. Operations have equal room, 256 bytes aligned:
//
//     <layer>_weights  | slice 0 | slice 1 | ...      values alone where they are compressed
//     <layer>_wmb, <layer>_wgs  likewise
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/compile/nvdla/conv_planner.h"
#include "sim/compile/nvdla/slice_weights.h"

namespace npuscope {

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
