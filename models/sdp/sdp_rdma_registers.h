// SPDX-License-Identifier: Apache-2.0
// The registers of NVDLA_SDP_RDMA, the read DMA of the SDP: where values and operands come from. It
// has its own sizes and modes, which must agree with those of NVDLA_SDP.
// source: NVDLA register specification, NVDLA_SDP_RDMA.rdl
#pragma once

#include <string_view>

#include "models/layout/register_coder.h"
#include "models/sdp/sdp_job.h"

namespace npuscope {

extern const RegisterBlock sdp_rdma_block;

namespace sdp {

// fields that both blocks have
inline constexpr FieldName flying_field{"D_FEATURE_MODE_CFG", "FLYING_MODE"};
inline constexpr FieldName winograd_field{"D_FEATURE_MODE_CFG", "WINOGRAD"};
inline constexpr FieldName batches_field{"D_FEATURE_MODE_CFG", "BATCH_NUMBER"};

template <class Visitor, class Size>
void describe_shape(Visitor& visit, Size& shape) {
    visit.shape({"D_DATA_CUBE_CHANNEL", "CHANNEL"}, {"D_DATA_CUBE_HEIGHT", "HEIGHT"},
                {"D_DATA_CUBE_WIDTH", "WIDTH"}, shape);
}

/// The cell of the format page's table 30.
PrecisionCell conversion(Precision input, Precision output);

/// A cube of one pixel is moved in one go: its surfaces follow each other without a gap.
/// source: NV_NVDLA_SDP_MRDMA_ig.v and NV_NVDLA_SDP_WDMA_cmd.v, cfg_mode_1x1_pack
FeatureCube decode_cube(RegisterDecoder& registers, std::string_view stem, const Shape& shape,
                        Bytes atom, Bytes element);
void encode_cube(RegisterEncoder& registers, std::string_view stem, const FeatureCube& cube);

/// Source and operands of the job, if it takes any from memory. `sdp`: the registers that the
/// stages were decoded from; `flying`: they say that values come from the accumulators.
void decode_rdma(RegisterDecoder& rdma, const RegisterDecoder& sdp, bool flying,
                 const DatapathConfig& datapath, SdpJob& job);
RegisterValues encode_rdma(const SdpJob& job);

}  // namespace sdp
}  // namespace npuscope
