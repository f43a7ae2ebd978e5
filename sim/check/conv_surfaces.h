// SPDX-License-Identifier: Apache-2.0
// What a convolution reads from memory: input, weights and, of compressed ones, their two other
// surfaces. Nothing of what it takes over whole from the operation before.
#pragma once

#include "models/conv/buffer_history.h"
#include "models/conv/conv_job.h"
#include "sim/check/checked_operation.h"

namespace npuscope {

void add_conv_surfaces(const ConvJob& job, const BufferStart& start, CheckedOperation& operation);

}  // namespace npuscope
