// SPDX-License-Identifier: Apache-2.0
// The registers of NVDLA_PDP and, where the input comes from memory, NVDLA_PDP_RDMA as one job. What
// does not fit together is refused; registers that the mode does not use may hold anything.
// source: NVDLA register specification, NVDLA_PDP.rdl; doc v1/ias/programming_guide.rst
#pragma once

#include <optional>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/base/register_map.h"
#include "models/pdp/pdp_job.h"

namespace npuscope {

extern const RegisterBlock pdp_block;
extern const RegisterBlock pdp_rdma_block;

/// Misaligned addresses and strides are reported and rounded down; nothing where a register is
/// refused. `rdma` is read only when the input comes from memory.
std::optional<PdpJob> decode_pdp(const RegisterValues& pdp, const RegisterValues& rdma,
                                 const PdpConfig& config, const DatapathConfig& datapath,
                                 Diagnostics& findings);

/// NVDLA_PDP_RDMA, where it takes part, and NVDLA_PDP.
std::vector<RegisterValues> encode_pdp(const PdpJob& job);

}  // namespace npuscope
