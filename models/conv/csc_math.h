// SPDX-License-Identifier: Apache-2.0
// What the sequence controller does to values: nothing but choose. It tells the MAC array which
// data meets which weight, and puts the padding's value where a window leaves the input.
#pragma once

#include <cstdint>

#include "models/conv/conv_job.h"
#include "models/conv/operands.h"

namespace npuscope {

/// Kernels as the sums need them: image kernels get their columns back out of the channels.
WeightKernels sequenced_kernels(const ConvJob& job, const WeightKernels& stored);

/// Multiplications of the layer that are part of a sum, padding included: outputs x C x R x S x K.
std::uint64_t useful_macs(const ConvJob& job);

}  // namespace npuscope
