// SPDX-License-Identifier: Apache-2.0
// The arithmetic of the SDP from input tensor to output tensor, int8, int16 and fp16, bit-exact to
// the RTL where that was measured (int8 on nv_small) and to nv_full's C model for the rest.
// Tensors hold whole atoms: their channel count is rounded up to the atom, because the hardware
// computes pad lanes like any other. The caller supplies the lanes' contents: 0 from the
// accumulators, the source's own bytes from memory. So an output offset shows up in pad lanes.
// source: nv_small RTL, NV_NVDLA_SDP_core.v, NV_NVDLA_SDP_HLS_C_int.v; NVDLA doc precision.rst
#pragma once

#include <cstdint>

#include "models/layout/tensor.h"
#include "models/sdp/sdp_stage_math.h"
#include "models/sdp/sdp_stages.h"

namespace npuscope {

/// Operands of one stage as stored in memory: shape {channels, 1, 1} for one value per channel, the
/// shape of the input for one per element; empty where the stage reads none from memory. They
/// may have more channels than the input.
struct SdpStageOperands {
    Tensor<std::int16_t> alu;
    Tensor<std::int16_t> mul;
};

using SdpOperands = PerStage<SdpStageOperands>;

/// What the status and performance registers would show with counting enabled; pad lanes count.
struct SdpCounters {
    /// If enabled: values cut to 17 bits after the convertor's shifter; for an fp16 output,
    /// elements of the largest magnitude.
    std::uint64_t saturated = 0;
    LookupCounters lut;
    bool unequal = false;           ///< comparison mode: some element differed
    SpecialCount inputs;            ///< if enabled: fp16 elements of a source in memory
    std::uint64_t nan_outputs = 0;  ///< if enabled: fp16 results

    bool operator==(const SdpCounters&) const = default;
    /// Adds the counts of another part of the same operation.
    SdpCounters& operator+=(const SdpCounters& more);
};

struct SdpResult {
    ElementTensor values;  ///< in comparison mode 0 = equal, 1 = different; not written
    SdpCounters counters;
};

/// `tables` matter only where the element-wise stage looks up. fp16 accumulators hold the bit
/// patterns of fp32.
SdpResult compute_sdp(const SdpStages& stages, const Tensor<std::int32_t>& accumulators,
                      const SdpOperands& operands, const LookupTables& tables);
SdpResult compute_sdp(const SdpStages& stages, const ElementTensor& source,
                      const SdpOperands& operands, const LookupTables& tables);

}  // namespace npuscope
