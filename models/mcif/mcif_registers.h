// SPDX-License-Identifier: Apache-2.0
// The registers of NVDLA_MCIF and NVDLA_CVIF, which are alike: arbitration between the clients of the
// external memory port and of the on-chip SRAM port.
#pragma once

#include "models/base/register_map.h"

namespace npuscope {

extern const RegisterBlock mcif_block;
extern const RegisterBlock cvif_block;

}  // namespace npuscope
