// SPDX-License-Identifier: Apache-2.0
// A run of memory without gaps: what a layout hands to the code that moves bytes.
#pragma once

#include "models/base/quantity.h"

namespace npuscope {

struct ByteRun {
    Address address;
    Bytes bytes;

    bool operator==(const ByteRun&) const = default;
    Address end() const { return address + bytes; }
};

}  // namespace npuscope
