// SPDX-License-Identifier: Apache-2.0
// Registers of one launch to the surfaces that it touches. A misaligned address or stride is told
// of and rounded down, so that the rest is looked at as well; where registers make no job there
// are no surfaces.
#pragma once

#include <vector>

#include "models/base/register_map.h"
#include "models/conv/buffer_history.h"
#include "models/npu/npu_config.h"
#include "sim/check/checked_operation.h"
#include "sim/check/found.h"

namespace npuscope {

class OperationDecoder {
 public:
    explicit OperationDecoder(const NpuConfig& npu) : npu_(npu) {}

    /// What is wrong with the registers goes to `found`, without operation and place.
    /// `values`: CDMA, CSC, CMAC_A, CMAC_B, CACC. `history`: what the convolutions before left.
    CheckedOperation conv(const std::vector<RegisterValues>& values, BufferHistory& history,
                          std::vector<Found>& found) const;
    /// `values`: SDP, SDP_RDMA. Nothing where the read DMA is needed but was not enabled yet.
    std::optional<CheckedOperation> sdp(const std::vector<RegisterValues>& values,
                                        bool rdma_enabled, std::vector<Found>& found) const;
    /// `values`: PDP, PDP_RDMA.
    std::optional<CheckedOperation> pdp(const std::vector<RegisterValues>& values,
                                        bool rdma_enabled, std::vector<Found>& found) const;
    /// `values`: CDP, CDP_RDMA.
    CheckedOperation cdp(const std::vector<RegisterValues>& values,
                         std::vector<Found>& found) const;

 private:
    const NpuConfig& npu_;
};

}  // namespace npuscope
