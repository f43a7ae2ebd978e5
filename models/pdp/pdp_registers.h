// SPDX-License-Identifier: Apache-2.0
// The registers of NVDLA_PDP and, if the input comes from memory, NVDLA_PDP_RDMA as one job. What
// does not fit together is refused; registers that the mode does not use may hold anything.
// source: NVDLA register specification, NVDLA_PDP.rdl; doc v1/ias/programming_guide.rst
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/base/register_map.h"
#include "models/layout/surface_use.h"
#include "models/pdp/pdp_job.h"

namespace npuscope {

extern const RegisterBlock pdp_block;
extern const RegisterBlock pdp_rdma_block;

/// Misaligned addresses and strides are reported and rounded down; nothing if a register is
/// refused. `rdma` is read only if the input comes from memory.
std::optional<PdpJob> decode_pdp(const RegisterValues& pdp, const RegisterValues& rdma,
                                 const PdpConfig& config, const DatapathConfig& datapath,
                                 Diagnostics& findings);

/// NVDLA_PDP_RDMA, if it takes part, and NVDLA_PDP.
std::vector<RegisterValues> encode_pdp(const PdpJob& job);

// Lines of input after the end of the last window. The PDP ends its operation with the last result;
// the remaining input passes it under the registers of the other group, whose sizes differ, and its
// line and column counters do not return to zero: the next operation stalls. Whether it does
// depends on the contents of both groups, so it is reported and not computed.
// source: nv_small RTL, NV_NVDLA_PDP_CORE_cal2d.v wr_line_dat_cnt, replayed

/// The warning `lines_left` at NVDLA_PDP.D_DATA_CUBE_IN_HEIGHT about the operation `name`, for when
/// another pooling operation follows it; nothing if no line is left.
std::optional<Diagnostic> lines_left(const PdpJob& job, const std::string& name);

/// What the pooling reads and writes; data passed on the fly is not included.
std::vector<SurfaceUse> surfaces_of(const PdpJob& job);

}  // namespace npuscope
