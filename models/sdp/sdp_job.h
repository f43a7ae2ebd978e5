// SPDX-License-Identifier: Apache-2.0
// One launch of the SDP: where values come from and go to, what the stages do, where operands are.
// The contents of the lookup tables are not part of a job: they stay in the unit between launches.
#pragma once

#include <optional>

#include "models/layout/datapath.h"
#include "models/layout/feature_cube.h"
#include "models/sdp/sdp_stages.h"

namespace npuscope {

/// What one of the operand DMAs (BRDMA, NRDMA, ERDMA) fetches.
struct SdpOperandFetch {
    OperandSurface surface;  ///< whole atoms of channels
    bool alu = false;
    bool mul = false;  ///< with both, component 0 is the ALU's and component 1 the multiplier's
    bool in_sram = false;

    bool operator==(const SdpOperandFetch&) const = default;
};

struct SdpJob {
    Shape shape;                             ///< channels as programmed
    std::optional<FeatureCube> source;       ///< none: on the fly from the accumulator; whole atoms
    std::optional<FeatureCube> destination;  ///< none: to the PDP, or nothing is written
    bool to_pdp = false;
    /// Cubes that follow each other in height, each to its own destination.
    std::uint32_t batches = 1;
    Bytes batch_stride;     ///< from one destination to the next
    bool winograd = false;  ///< atoms arrive in the order of Winograd's tiles
    bool source_in_sram = false;
    bool destination_in_sram = false;
    SdpStages stages;
    PerStage<std::optional<SdpOperandFetch>> operands;
    bool count_stalls = false;
    bool count_lookups = false;

    bool flying() const { return !source.has_value(); }
    /// What arrives on the fly, and what goes on to the PDP.
    FlyingCube taken() const { return {shape, batches, winograd, stages.processing}; }
    FlyingCube given() const { return {shape, batches, false, stages.output}; }
    /// Whether NVDLA_SDP_RDMA takes part.
    bool reads_memory() const {
        return source || operands[bs_stage] || operands[bn_stage] || operands[ew_stage];
    }
    /// The shape of what flows: channels rounded up to whole atoms of the processing precision.
    Shape whole_atoms(const DatapathConfig& datapath) const {
        const std::uint32_t atom = datapath.atom_channels(stages.processing);
        return {static_cast<std::uint32_t>(round_up(shape.channels, atom)), shape.height,
                shape.width};
    }
};

}  // namespace npuscope
