// SPDX-License-Identifier: Apache-2.0
// The registers of one half of the MAC array (NVDLA_CMAC_A or NVDLA_CMAC_B), decoded.
#pragma once

#include "models/base/register_map.h"
#include "models/conv/conv_job.h"

namespace npuscope {

/// ConfigError for what the machine does not do.
CmacJob cmac_job(const RegisterValues& registers, const ConvFeatures& features = {});

}  // namespace npuscope
