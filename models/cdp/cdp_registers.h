// SPDX-License-Identifier: Apache-2.0
// The registers of NVDLA_CDP and NVDLA_CDP_RDMA as one job; what does not fit together is refused.
// source: NVDLA register specification, NVDLA_CDP.rdl; doc v1/ias/programming_guide.rst
#pragma once

#include <optional>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/base/register_map.h"
#include "models/cdp/cdp_job.h"
#include "models/layout/surface_use.h"

namespace npuscope {

extern const RegisterBlock cdp_block;
extern const RegisterBlock cdp_rdma_block;

/// Misaligned addresses and strides are reported and rounded down; nothing if a register is
/// refused.
std::optional<CdpJob> decode_cdp(const RegisterValues& cdp, const RegisterValues& rdma,
                                 const CdpConfig& config, const DatapathConfig& datapath,
                                 Diagnostics& findings);

/// NVDLA_CDP_RDMA and NVDLA_CDP, from which decode_cdp makes this job.
std::vector<RegisterValues> encode_cdp(const CdpJob& job);

/// What the normalisation reads and writes.
std::vector<SurfaceUse> surfaces_of(const CdpJob& job);

}  // namespace npuscope
