// SPDX-License-Identifier: Apache-2.0
// An NPU's registers as constants of other languages, for drivers and test benches.
#pragma once

#include <string>

#include "sim/config/npu_family.h"

namespace npuscope {

/// A C header: `NVDLA_CDMA_D_OP_ENABLE_0` is an address, and of each of its fields there are `_SHIFT`,
/// `_MASK` (in place) and `_RESET` (not shifted). `npu` is told in its first line.
std::string registers_c_header(const FamilyRegisters& registers, const std::string& npu);
/// The same as a SystemVerilog package.
std::string registers_sv_package(const FamilyRegisters& registers, const std::string& npu);

}  // namespace npuscope
