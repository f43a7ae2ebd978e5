// SPDX-License-Identifier: Apache-2.0
// What each byte of memory holds while a program is followed without running it: its origin,
// and whether it was read since. Neighbours of one state are one piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>

#include "models/layout/feature_cube.h"

namespace npuscope {

enum class ByteOrigin { Filled, Loaded, Written };

struct ByteState {
    ByteOrigin origin = ByteOrigin::Filled;
    std::size_t by = 0;      ///< number of the load, or of the surface that was written
    bool looked_at = false;  ///< read by an operation or compared by the program

    bool operator==(const ByteState&) const = default;
};

class ByteStates {
 public:
    /// A piece of what was asked for; nullptr where it is uninitialised.
    using Visit = std::function<void(const ByteRun& piece, const ByteState* state)>;

    void put(const ByteRun& run, const ByteState& state);
    void look_at(const ByteRun& run);
    void visit(const ByteRun& run, const Visit& visit) const;
    /// Every piece, lowest address first.
    void visit_all(const Visit& visit) const;

 private:
    struct Piece {
        std::uint64_t end = 0;
        ByteState state;
    };

    /// Makes `at` a border of pieces.
    void split(std::uint64_t at);

    std::map<std::uint64_t, Piece> pieces_;
};

}  // namespace npuscope
