// SPDX-License-Identifier: Apache-2.0
// How large an operation of a loadable is: whether it passes its result on the fly, products that
// are of use, and a guess of its cycles, which orders operations that run side by side.
#pragma once

#include <cstdint>

#include "models/npu/npu_config.h"
#include "sim/loadable/firmware_registers.h"

namespace npuscope {

/// A BDMA operation without transfers ends as it is enabled.
bool is_empty(const DlaOperation& operation);
/// From the unit before it.
bool takes_on_the_fly(const DlaOperation& operation);
/// To the unit after it.
bool gives_on_the_fly(const DlaOperation& operation);
/// Of a convolution: kernels x pixels x weights of a kernel; 0 of others.
std::uint64_t useful_macs(const DlaOperation& operation);
/// The longest of its computing and its moves.
std::uint64_t predicted_cycles(const DlaOperation& operation, const NpuConfig& npu);

}  // namespace npuscope
