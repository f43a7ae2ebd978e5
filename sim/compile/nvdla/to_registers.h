// SPDX-License-Identifier: Apache-2.0
// Jobs to registers: the reverse of the units' from_registers. Registers that a job's mode does not
// use stay at their reset values, or hold what a driver would write there.
// source: NVDLA register specification; use of each: nv_small RTL
#pragma once

#include <vector>

#include "models/conv/conv_job.h"
#include "models/pdp/pdp_job.h"
#include "models/sdp/sdp_job.h"
#include "sim/compile/nvdla/plan.h"
#include "sim/compile/nvdla/register_image.h"

namespace npuscope {

/// NVDLA_CACC, CMAC_A, CMAC_B, CSC, CDMA, in the order in which they are enabled. `output` is where
/// the SDP writes; features or pixels of int8 only.
std::vector<RegisterImage> conv_registers(const ConvParts& parts, const FeatureCube& output);

/// NVDLA_SDP_RDMA, where it takes part, and NVDLA_SDP; from memory to memory or flying.
std::vector<RegisterImage> sdp_registers(const SdpJob& job);

/// NVDLA_PDP_RDMA, where it takes part, and NVDLA_PDP.
std::vector<RegisterImage> pdp_registers(const PdpJob& job);

/// All blocks of an operation, consumers first, as they are enabled.
std::vector<RegisterImage> operation_registers(const Operation& operation);

}  // namespace npuscope
