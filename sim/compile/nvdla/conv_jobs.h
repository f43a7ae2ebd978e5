// SPDX-License-Identifier: Apache-2.0
// The jobs of one operation of a convolution: a tile of rows of a slice of channels, through CDMA,
// CSC and CACC, the SDP after them, and the PDP where it pools on the way to memory. Weights are
// set by others (conv_weights.h).
#pragma once

#include <cstdint>
#include <optional>

#include "models/arith/fixed_point.h"
#include "sim/compile/nvdla/conv_planner.h"
#include "sim/compile/nvdla/conv_weights.h"
#include "sim/model/network.h"

namespace npuscope {

// How the SDP brings sums back to int8. For synthetic values: weights and inputs are uniform over
// int8, and each layer's results get a spread that neither saturates nor vanishes, from the number
// of products in a sum alone. Models bring their own scales.

struct Rescale {
    Conversion convertor;            ///< accumulator to int8
    unsigned residual_shift = 0;     ///< brings an int8 residual to the accumulator's scale
    std::int16_t bias_limit = 0;     ///< largest bias, before its shift
    unsigned bias_shift = 0;         ///< of the bias, to the accumulator's scale
    unsigned bias_down = 0;          ///< bits that biases lose in memory, halves away from zero
    bool factor_per_kernel = false;  ///< the last stage that adds a bias multiplies, by kernel
    std::int16_t factor = 1;         ///< or by this one
    bool has_rest = false;           ///< the second stage adds what biases lack
    std::optional<std::int16_t> least{};  ///< the second stage takes no less
    unsigned least_shift = 0;
};

/// For sums of so many products of int8, of which `zeros` percent have a zero weight.
Rescale rescale_sum(std::uint64_t products, std::uint32_t zeros = 0);

/// A model's own.
Rescale rescale_given(const LayerNumbers& numbers);

/// The same for sums that are smaller by so many bits.
Rescale smaller(Rescale rescale, unsigned bits);

/// For the sum of two int8 values: three quarters of it.
Conversion rescale_add();

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
