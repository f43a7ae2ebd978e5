// SPDX-License-Identifier: Apache-2.0
// The arithmetic of the SDP from input tensor to output tensor, int8, bit-exact to the RTL.
// Tensors hold whole atoms: their channel count is rounded up to the atom, because the hardware
// computes pad lanes like any other. The caller supplies what the lanes hold: 0 from the
// accumulators, the source's own bytes from memory. So an output offset shows up in pad lanes.
// Not modelled: int16, fp16 and Winograd.
// source: nv_small RTL, NV_NVDLA_SDP_core.v, NV_NVDLA_SDP_HLS_C_int.v
#pragma once

#include <cstdint>

#include "models/data/tensor.h"
#include "models/sdp/sdp_stages.h"

namespace npuscope {

/// Operands of one stage as memory holds them: shape {channels, 1, 1} for one value per channel,
/// the shape of the input for one per element; empty where the stage reads none from memory.
struct SdpStageOperands {
    Tensor<std::int16_t> alu;
    Tensor<std::int16_t> mul;
};

struct SdpOperands {
    SdpStageOperands bs;
    SdpStageOperands bn;
    SdpStageOperands ew;
};

/// What the status and performance registers would show with counting enabled; pad lanes count.
struct SdpCounters {
    std::uint64_t saturated = 0;  ///< if asked for: cut to 17 bits behind the convertor's shifter
    LookupCounters lut;
    bool unequal = false;  ///< comparison mode: some element differed

    bool operator==(const SdpCounters&) const = default;
};

struct SdpResult {
    Tensor<std::int8_t> values;  ///< in comparison mode 0 = equal, 1 = different; not written
    SdpCounters counters;
};

/// `tables` matter only where the element-wise stage looks up.
SdpResult compute_sdp(const SdpStages& stages, const Tensor<std::int32_t>& accumulators,
                      const SdpOperands& operands, const LookupTables& tables);
SdpResult compute_sdp(const SdpStages& stages, const Tensor<std::int8_t>& source,
                      const SdpOperands& operands, const LookupTables& tables);

}  // namespace npuscope
