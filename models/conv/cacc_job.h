// SPDX-License-Identifier: Apache-2.0
// The accumulator's registers, decoded: size of the output and the truncation of its sums. Its
// address and stride registers have no effect: the SDP writes the result.
#pragma once

#include "models/base/register_map.h"
#include "models/conv/conv_job.h"

namespace npuscope {

/// ConfigError for what the machine does not do.
CaccJob cacc_job(const RegisterValues& registers, const ConvFeatures& features = {});

}  // namespace npuscope
