// SPDX-License-Identifier: Apache-2.0
// What each byte of memory holds while a program is followed without running it: its origin,
// and whether it was read since.
#pragma once

#include <cstddef>

#include "models/layout/byte_pieces.h"

namespace npuscope {

enum class ByteOrigin { Filled, Loaded, Written };

struct ByteState {
    ByteOrigin origin = ByteOrigin::Filled;
    std::size_t by = 0;      ///< number of the load, or of the surface that was written
    bool looked_at = false;  ///< read by an operation or compared by the program

    bool operator==(const ByteState&) const = default;
};

using ByteStates = BytePieces<ByteState>;

}  // namespace npuscope
