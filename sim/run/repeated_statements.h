// SPDX-License-Identifier: Apache-2.0
// Stretches of a program that tell a machine what an earlier stretch told it: layers of the same sizes,
// one after the other. They differ in where maps and weights lie, in the names of ids, and in what is
// expected of results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "models/base/quantity.h"
#include "sim/program/program.h"
#include "sim/run/sync_board.h"

namespace npuscope {

class RepeatedStatements {
 public:
    /// `region_of`: a number for the region of memory that an address lies in. Addresses of one region
    /// that are the same modulo `alignment` make no difference to time.
    RepeatedStatements(std::span<const Statement> program, Bytes alignment,
                       const std::function<std::uint64_t(Address)>& region_of);

    /// The host waits in a statement, and the machine is at a moment of this number.
    struct Moment {
        std::size_t statement = 0;
        std::size_t number = 0;
        Cycles time;
    };
    void note(const Moment& moment) { moments_.push_back(moment); }

    /// What the program has said since an earlier moment, and says again from the last one on.
    struct Stretch {
        Moment begin;
        std::size_t length = 0;   ///< statements
        std::uint64_t times = 0;  ///< that it follows
    };
    /// The shortest one that begins at a moment of which `same` holds.
    std::optional<Stretch> repeated(const std::function<bool(std::size_t moment)>& same) const;

    /// Interrupts of the stretch come again, each time so much later; what is awaited at its end is awaited
    /// at the end of the last time.
    void replay_interrupts(const Stretch& stretch, Cycles cycles, SyncBoard& board) const;

 private:
    static constexpr std::size_t most_moments = 256;  // that are looked at, from the last one back

    bool alike(std::size_t first, std::size_t second, std::size_t count) const;

    std::span<const Statement> program_;
    std::vector<std::uint64_t> prints_;  // of each statement: the same where they are alike
    std::vector<Moment> moments_;
};

}  // namespace npuscope
