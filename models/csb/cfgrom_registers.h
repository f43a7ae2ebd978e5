// SPDX-License-Identifier: Apache-2.0
// The registers of NVDLA_CFGROM: the read-only description of the configuration, which no unit keeps.
#pragma once

#include "models/base/register_map.h"

namespace npuscope {

extern const RegisterBlock cfgrom_block;

}  // namespace npuscope
