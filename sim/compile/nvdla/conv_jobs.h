// SPDX-License-Identifier: Apache-2.0
// The jobs of one operation of a convolution: a tile of rows of a slice of channels, through CDMA,
// CSC and CACC, the SDP behind them, and the PDP where it pools on the way to memory. Weights are
// set by others (conv_weights.h).
#pragma once

#include "sim/compile/nvdla/conv_planner.h"
#include "sim/compile/nvdla/rescale.h"
#include "sim/compile/nvdla/slice_weights.h"

namespace npuscope {

struct ConvPiece {
    const ChannelSlice& slice;
    const ConvTile& tile;
    const ConvTiling& tiling;
    const ConvOperands& operands;
};

/// What all operations of a layer write to and read beside their input.
struct ConvSurfaces {
    StoredCube output;
    Rescale rescale;
    Address bias;
    Address rest;  ///< of biases, where they have one
    Bytes atom;
    bool winograd = false;
};

class ConvJobs {
 public:
    /// The task must outlive it.
    ConvJobs(const ConvTask& task, const ConvSurfaces& surfaces)
        : task_(task),
          output_(surfaces.output),
          rescale_(surfaces.rescale),
          bias_(surfaces.bias),
          rest_(surfaces.rest),
          per_atom_(static_cast<std::uint32_t>(surfaces.atom.value)),
          winograd_(surfaces.winograd) {}

    ConvOperation operation(const ConvPiece& piece) const;

 private:
    ConvParts conv_parts(const ConvPiece& piece) const;
    void set_winograd(const ConvPiece& piece, ConvParts& parts) const;
    void set_pixels(const ConvTile& tile, const ConvOperands& operands, CdmaJob& cdma) const;
    FeatureCube part_of(const FeatureCube& cube, const ChannelSlice& slice,
                        const ConvTile& tile) const;
    SdpJob sdp_job(const ChannelSlice& slice, const ConvTile& tile) const;
    PdpJob pdp_job(const ChannelSlice& slice, const ConvTile& tile) const;
    Shape whole_shape(Shape shape) const;
    void set_scale(SdpXStage& stage) const;
    SdpOperandFetch kernel_operand(Address base, bool scaled, const ChannelSlice& slice,
                                   const SdpJob& job) const;

    const ConvTask& task_;
    StoredCube output_;
    Rescale rescale_;
    Address bias_;
    Address rest_;
    std::uint32_t per_atom_;
    bool winograd_;
};

}  // namespace npuscope
