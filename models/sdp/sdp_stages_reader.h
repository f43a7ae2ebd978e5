// SPDX-License-Identifier: Apache-2.0
// The registers of NVDLA_SDP that set up its stages, as SdpStages. Stages that the NPU lacks and
// settings that a stage cannot do are refused with ConfigError.
// source: NVDLA register specification, NVDLA_SDP.rdl
#pragma once

#include "models/base/register_map.h"
#include "models/sdp/sdp_config.h"
#include "models/sdp/sdp_stages.h"

namespace npuscope {

SdpStages read_sdp_stages(const RegisterValues& sdp, const SdpConfig& config);

}  // namespace npuscope
