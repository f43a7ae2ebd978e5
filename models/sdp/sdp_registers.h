// SPDX-License-Identifier: Apache-2.0
// The registers of NVDLA_SDP and NVDLA_SDP_RDMA as one job. What the NPU lacks or what does not fit
// together is refused; registers that the mode does not use may hold anything.
// source: NVDLA register specification, NVDLA_SDP.rdl; doc v1/ias/programming_guide.rst
#pragma once

#include <optional>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/base/register_map.h"
#include "models/sdp/sdp_config.h"
#include "models/sdp/sdp_job.h"

namespace npuscope {

extern const RegisterBlock sdp_block;

/// Misaligned addresses and strides are reported and rounded down; nothing if a register is
/// refused. `rdma` is read only if the job takes values or operands from memory.
std::optional<SdpJob> decode_sdp(const RegisterValues& sdp, const RegisterValues& rdma,
                                 const SdpConfig& config, const DatapathConfig& datapath,
                                 Diagnostics& findings);

/// NVDLA_SDP_RDMA, if it takes part, and NVDLA_SDP.
std::vector<RegisterValues> encode_sdp(const SdpJob& job);

}  // namespace npuscope
