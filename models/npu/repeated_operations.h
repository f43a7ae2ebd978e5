// SPDX-License-Identifier: Apache-2.0
// Operations that repeat earlier ones, as those of a network's blocks of equal layers do. Where the
// host waits and one convolution has begun a group of kernels, the machine is compared with what it
// was in earlier operations. If nothing that follows can tell the two moments apart, it will do the same
// again when it is told the same: then the host leaves out what it would tell it, and what the machine
// would do is counted. Times of the simulation are earlier than those that are counted from then on,
// as after kernel groups that were left out.
// Covered: convolutions and what the SDP makes of them, without values. Addresses may differ where they
// lie alike.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/base/statistics.h"
#include "models/npu/dispatcher.h"
#include "models/npu/steady_groups.h"

namespace npuscope {

class RepeatedOperations {
 public:
    struct Rooms {
        SteadyGroups& groups;
        SteadyGroups::Rooms units;
        Csb& csb;
        Dispatcher& dispatcher;
        const DiagnosticLog& log;
        std::vector<const Unit*> others;  ///< that may have no part in what is left out
    };
    RepeatedOperations(Rooms rooms, Machine::Surroundings surroundings);

    /// Remembers how the machine stands now, of a moment that the host was told of. Counted from 0.
    std::size_t note();
    /// It stands as it did at that moment, and came there in the same way. The two groups of registers
    /// may have changed places.
    bool stands_as_at(std::size_t moment) const;
    /// They have, since that moment.
    bool groups_changed_since(std::size_t moment) const {
        return moments_[moment].group != moments_.back().group;
    }
    /// Units whose groups change places: those that a convolution uses.
    static bool has_part(std::string_view block);
    static bool has_part(InterruptSource source);
    /// What it did from that moment to the last one counts as done so many times more. Cycles of one
    /// time.
    Cycles repeat(std::size_t moment, std::uint64_t times);

    /// Addresses lie alike where they are the same modulo this, in one region of memory.
    Bytes alignment() const { return alignment_; }

 private:
    struct Moment {
        Cycles time;              ///< of the simulation
        Cycles counted;           ///< the same as results tell it
        unsigned group = 0;       ///< of registers, whose turn it is
        std::uint64_t state = 0;  ///< all that what follows depends on, as one number
        std::uint64_t steps = 0;  ///< all that was recorded since the moment before, likewise
        std::vector<UnitStatistics> activities;
        std::vector<UnitStatistics> others;
        std::vector<Mcif::Counted> ports;
        Csc::Actions actions;
        Dispatcher::Counted operations;
        EndMarks::Position atoms;  ///< that left the accumulator
        std::size_t findings = 0;
    };
    void group_begins(const ConvWork& work, std::uint32_t group, const CauseCycles& causes);
    bool others_rest() const;
    unsigned register_group() const { return rooms_.csb.file("NVDLA_CSC").consumer(); }
    void add_registers(Fingerprint& state) const;
    void add_interrupts(Fingerprint& state) const;
    std::uint64_t state() const;

    Rooms rooms_;
    Machine::Surroundings surroundings_;
    Bytes alignment_;
    std::vector<bool> takes_part_;         // each block
    std::vector<std::uint32_t> compared_;  // bits of each register
    std::vector<Moment> moments_;
    // the group of kernels that begins
    const ConvWork* work_ = nullptr;
    std::uint32_t group_ = 0;
    CauseCycles causes_;
    bool told_ = false;  // the host, of a moment in this operation
};

}  // namespace npuscope
