// SPDX-License-Identifier: Apache-2.0
// Operations that repeat earlier ones, as those of a network's blocks of equal layers do. When the
// host waits and one convolution has begun a kernel group, the machine is compared with its state
// in earlier operations. If nothing that follows can tell the two moments apart, it will do the
// same again when it gets the same commands: then the host leaves these out, and what the machine
// would do is counted. From then on simulated times are earlier than counted ones, as after kernel
// groups that were left out.
// Covered: convolutions and what the SDP makes of them, without values. Addresses may differ where
// they are aligned alike.
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
        std::vector<const Unit*> others;  ///< that must not take part in what is left out
    };
    RepeatedOperations(Rooms rooms, Machine::Surroundings surroundings);

    /// Records the machine's state at a moment reported to the host; returns its number, from 0.
    std::size_t note();
    /// Its state is the same as at that moment, and it got there in the same way. The two register
    /// groups may have been swapped.
    bool stands_as_at(std::size_t moment) const;
    /// They have been swapped since that moment.
    bool groups_changed_since(std::size_t moment) const {
        return moments_[moment].group != moments_.back().group;
    }
    /// Units whose groups are swapped: those that a convolution uses.
    static bool has_part(std::string_view block);
    static bool has_part(InterruptSource source);
    /// What it did from that moment to the last one counts as done `times` more times. Returns the
    /// cycles of one time.
    Cycles repeat(std::size_t moment, std::uint64_t times);

    /// Addresses are aligned alike if they are equal modulo this, in one region of memory.
    Bytes alignment() const { return alignment_; }

 private:
    struct Moment {
        Cycles time;              ///< of the simulation
        Cycles counted;           ///< the same as results report it
        unsigned group = 0;       ///< register group whose turn it is
        std::uint64_t state = 0;  ///< all that later behaviour depends on, as one number
        std::uint64_t steps =
            0;  ///< everything recorded since the previous moment, also as one number
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
    std::vector<bool> takes_part_;         // per block
    std::vector<std::uint32_t> compared_;  // bits of each register
    std::vector<Moment> moments_;
    // the kernel group that begins
    const ConvWork* work_ = nullptr;
    std::uint32_t group_ = 0;
    CauseCycles causes_;
    bool told_ = false;  // the host was, of a moment in this operation
};

}  // namespace npuscope
