// SPDX-License-Identifier: Apache-2.0
// The registers of NVDLA_GLB: version and interrupts.
#pragma once

#include "models/base/register_map.h"

namespace npuscope {

extern const RegisterBlock glb_block;

}  // namespace npuscope
