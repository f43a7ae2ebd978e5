// SPDX-License-Identifier: Apache-2.0
// Addresses for what a network keeps in memory, one behind the other. Nothing is reused: a surface
// lives as long as the program.
#pragma once

#include "models/base/quantity.h"

namespace npuscope {

class MemoryMap {
 public:
    explicit MemoryMap(Address base) : base_(base), next_(base) {}

    Address place(Bytes bytes) {
        const Address address = next_;
        next_ = Address(round_up((address + bytes).value, alignment));
        return address;
    }
    Bytes used() const { return next_ - base_; }

 private:
    /// Every start that the format page asks for is a divisor, on every preset.
    static constexpr std::uint64_t alignment = 256;

    Address base_;
    Address next_;
};

}  // namespace npuscope
