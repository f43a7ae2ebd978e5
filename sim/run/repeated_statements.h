// SPDX-License-Identifier: Apache-2.0
// Stretches of a program that do the same to a machine as an earlier stretch: consecutive layers of
// the same sizes. They differ in where maps and weights are, in the names of ids, and in what is
// expected of results.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/quantity.h"
#include "sim/program/program.h"
#include "sim/run/sync_board.h"

namespace npuscope {

class RepeatedStatements {
 public:
    /// What a machine does not distinguish.
    struct Likeness {
        Bytes alignment;  ///< addresses that are the same modulo this,
        std::function<std::uint64_t(Address)> region_of;  ///< and in one region of memory
        /// Groups of registers of these blocks, if they have been swapped.
        std::function<bool(std::string_view block)> has_groups;
        std::function<bool(InterruptSource source)> raised_by_groups;  ///< their interrupts
    };
    RepeatedStatements(std::span<const Statement> program, const Likeness& likeness);

    /// The host waits in a statement, and the machine is at a moment with this number.
    struct Moment {
        std::size_t statement = 0;
        std::size_t number = 0;
        std::size_t awaited = 0;  ///< interrupts, named by the last statements that name any
    };
    void note(const Moment& moment) { moments_.push_back(moment); }

    /// What the program has done since an earlier moment, and repeats from the last one on.
    struct Stretch {
        Moment begin;
        std::size_t length = 0;   ///< statements
        std::uint64_t times = 0;  ///< number of times that it follows
    };
    /// How the last moment compares with an earlier one.
    enum class Compared { Different, Same, GroupsChanged };
    /// The shortest stretch that begins at an equal moment, or at one that is equal but for swapped
    /// groups: then it follows an even number of times.
    std::optional<Stretch> repeated(
        const std::function<Compared(std::size_t moment)>& compare) const;

    /// Whether the last interrupts named before a statement are those that the board awaits.
    bool awaits_last(const SyncBoard& board, std::size_t statement) const;
    /// Interrupts of the stretch come again, each time this much later; what is awaited at its end
    /// is awaited at the end of the last repetition.
    void replay_interrupts(const Stretch& stretch, Cycles cycles, SyncBoard& board) const;

 private:
    static constexpr std::size_t most_moments = 256;  // inspected, from the last one back

    /// `prints`: those of the second statements.
    bool alike(std::size_t first, std::size_t second, std::size_t count,
               const std::vector<std::uint64_t>& prints) const;

    std::size_t notifications_before(std::size_t statement) const {
        return static_cast<std::size_t>(std::ranges::lower_bound(notifications_, statement) -
                                        notifications_.begin());
    }
    const std::string& sync_of(std::size_t notification) const {
        return std::get<NotifyOnInterrupt>(program_[notifications_[notification]].action).sync;
    }

    std::span<const Statement> program_;
    std::vector<std::size_t> notifications_;  // statements that name an interrupt
    std::vector<std::uint64_t> prints_;       // of each statement: equal if they are alike
    std::vector<std::uint64_t> changed_;      // the same if groups have been swapped
    std::vector<Moment> moments_;
};

}  // namespace npuscope
