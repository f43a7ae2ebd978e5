// SPDX-License-Identifier: Apache-2.0
// The convolution DMA's registers, decoded: which surface to fetch, how to convert it, where the
// weights lie. Registers that the mode leaves unused may hold anything.
#pragma once

#include "models/base/register_map.h"
#include "models/conv/conv_job.h"

namespace npuscope {

/// ConfigError for what the machine does not do and for addresses and strides off their alignment.
CdmaJob cdma_job(const RegisterValues& registers, const ConvFeatures& features);

}  // namespace npuscope
