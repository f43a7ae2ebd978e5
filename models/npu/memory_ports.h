// SPDX-License-Identifier: Apache-2.0
// RAM types of an operation's registers that name the secondary memory port, on an NPU without it:
// no client is connected there, so the request is never taken and the unit waits for ever. The
// convolution's decoder checks its own. And whether a read DMA needs a port at all.
// source: nv_small RTL, NV_NVDLA_SDP_RDMA_dmaif.v and its like: ready is masked by the RAM type
#pragma once

#include "models/base/diagnostic.h"
#include "models/base/register_map.h"
#include "models/npu/pipelines.h"

namespace npuscope {

/// `unit` and `rdma`: the registers that make the job.
void refuse_absent_port(const RegisterJob& job, const RegisterValues& unit,
                        const RegisterValues& rdma, Diagnostics& findings);

/// The read DMA of the SDP: the source passes on the fly, and no operand is fetched by a stage that
/// exists.
bool reads_nothing(const RegisterValues& rdma, const SdpConfig& sdp);

}  // namespace npuscope
