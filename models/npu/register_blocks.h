// SPDX-License-Identifier: Apache-2.0
// All register blocks of NVDLA in the two published address maps: nv_small's, which every
// configurable preset shares, and nv_full's, where the same blocks have other addresses. A block is
// listed whether a preset has the unit or not. The error collector GEC is not modelled. nv_full's
// fields are narrower than these rows in places (addresses and strides without their low five bits,
// bank numbers of four bits); a legal program means the same with either.
// source: NVDLA register specification; nv_full: register header of its C model
#pragma once

#include <span>
#include <string_view>

#include "models/base/register_map.h"
#include "models/csb/csb_timing.h"

namespace npuscope {

std::span<const RegisterBlock> nvdla_register_blocks(AddressMap map = AddressMap::NvSmall,
                                                     bool wide = false);

}  // namespace npuscope
