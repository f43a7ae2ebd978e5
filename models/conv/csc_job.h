// SPDX-License-Identifier: Apache-2.0
// The convolution sequence controller's registers, decoded: sizes of the layer, strides, padding
// and the order in which it is cut.
#pragma once

#include "models/base/register_map.h"
#include "models/conv/conv_job.h"

namespace npuscope {

/// ConfigError for what the machine does not do.
CscJob csc_job(const RegisterValues& registers, const ConvFeatures& features = {});

}  // namespace npuscope
