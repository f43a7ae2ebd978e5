// SPDX-License-Identifier: Apache-2.0
// A result that passes on the fly from one unit to the next, without memory: from the accumulators
// to the SDP, from the SDP to the PDP.
#pragma once

#include <cstdint>

#include "models/layout/precision.h"
#include "models/layout/tensor.h"

namespace npuscope {

struct FlyingCube {
    Shape shape;
    std::uint32_t batches = 1;
    bool winograd = false;  ///< in the order of Winograd's tiles
    Precision precision = Precision::Int8;

    bool operator==(const FlyingCube&) const = default;
};

}  // namespace npuscope
