// SPDX-License-Identifier: Apache-2.0
// Registers of BDMA and RUBIK to where their moves begin and end. What they move is not followed.
#pragma once

#include <vector>

#include "models/base/register_map.h"
#include "models/npu/npu_config.h"
#include "sim/check/found.h"
#include "sim/check/surface_use.h"

namespace npuscope {

/// First and last line of both sides; nothing, with the reason in `found`, where the registers
/// make no job. `found` is left without operation and place.
std::vector<SurfaceUse> bdma_uses(const RegisterValues& bdma, const NpuConfig& npu,
                                  std::vector<Found>& found);
std::vector<SurfaceUse> rubik_uses(const RegisterValues& rubik, const NpuConfig& npu,
                                   std::vector<Found>& found);

}  // namespace npuscope
