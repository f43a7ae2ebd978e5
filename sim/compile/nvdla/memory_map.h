// SPDX-License-Identifier: Apache-2.0
// Addresses for what a network keeps in memory: constants one after the other, results in an
// arena after them whose bytes are given out again when the last reader of a result has been
// planned. Nothing moves; the lowest place that is large enough is taken.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "models/base/quantity.h"

namespace npuscope {

/// A place in the arena, and the operations that read what lay there before: a writer there
/// comes after them.
struct ArenaPlace {
    Address address;
    Bytes bytes;
    std::vector<std::size_t> readers;
};

class MemoryMap {
 public:
    /// Every start that the format page asks for is a divisor, on every preset.
    static constexpr std::uint64_t alignment = 256;

    /// Constants take `constants` bytes from `base` on; the arena begins after them.
    MemoryMap(Address base, Bytes constants) : base_(base), next_constant_(base) {
        arena_ = arena_end_ = base + Bytes(round_up(constants.value, alignment));
    }

    Address place_constant(Bytes bytes) {
        const Address address = next_constant_;
        next_constant_ = Address(round_up((address + bytes).value, alignment));
        return address;
    }
    ArenaPlace place_result(Bytes bytes);
    /// The same where no more than `limit` bytes are then used; else nothing changes.
    std::optional<ArenaPlace> place_within(Bytes bytes, Bytes limit);
    /// The result's bytes may be written again after its readers.
    void give_back(const ArenaPlace& place, const std::vector<std::size_t>& readers);

    Bytes constants() const { return next_constant_ - base_; }
    Bytes used() const { return arena_end_ - base_; }

 private:
    struct Free {
        std::uint64_t bytes = 0;
        std::vector<std::size_t> readers;
    };

    Address base_;
    Address next_constant_;
    Address arena_;
    Address arena_end_;
    std::map<std::uint64_t, Free> free_;  ///< by address
};

}  // namespace npuscope
