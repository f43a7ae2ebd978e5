// SPDX-License-Identifier: Apache-2.0
// Local response normalisation takes an atom at a time: its elements over the elements per cycle.
// Source: nv_small RTL, measured (all official CDP programs: 8 cycles an atom of 8 elements).
#pragma once

#include <cstdint>

#include "models/base/quantity.h"

namespace npuscope {

inline Cycles normalisation_atom_cycles(std::uint64_t elements, std::uint32_t throughput) {
    return Cycles(divide_up(elements, throughput));
}

}  // namespace npuscope
