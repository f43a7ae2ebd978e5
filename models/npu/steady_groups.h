// SPDX-License-Identifier: Apache-2.0
// Kernel groups that repeat previous ones. A convolution's groups soon take the same steps at the
// same intervals: the machine is in the same state at the beginning of one as at the beginning of
// an earlier one, except for what is left to do and for values, which are computed at launch.
// Groups in between make no difference to what follows, so they are left out: the simulation
// continues at once with a later group, and what the repeated ones take, move and wait is counted.
// Simulated times are then earlier than counted ones, by what was left out before them.
// Not covered: pooling on the fly, compressed weights, weights that stay in the buffer.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/fingerprint.h"
#include "models/base/statistics.h"
#include "models/conv/cacc.h"
#include "models/conv/cdma.h"
#include "models/conv/csc.h"
#include "models/glb/glb.h"
#include "models/link/activity.h"
#include "models/mcif/mcif.h"
#include "models/npu/machine.h"
#include "models/sdp/sdp.h"

namespace npuscope {

class SteadyGroups : public Recorder {
 public:
    struct Rooms {
        Csc& csc;
        Cdma& cdma;
        Cacc& cacc;
        Sdp& sdp;
        Glb& glb;
        std::vector<Mcif*> ports;
        std::vector<Activity*> activities;
    };
    SteadyGroups(Rooms rooms, Machine::Surroundings surroundings);

    /// `simulated`, plus all that was left out before it.
    Cycles counted(Cycles simulated) const;
    /// The same for the times of a record; its parts that were under way last longer.
    void count(OperationRecord& record) const;
    /// `cycles` more cycles have been left out of all times after `at`.
    void jump(Cycles at, Cycles cycles);
    /// All that was recorded since the last call, as one number.
    std::uint64_t take_steps();
    /// Called before a group other than an operation's first begins.
    using Listener =
        std::function<void(const ConvWork&, std::uint32_t group, const CauseCycles& causes)>;
    void on_group(Listener listener) { begins_group_ = std::move(listener); }
    /// All that this group and those after it depend on.
    Fingerprint state_of(const ConvWork& work, std::uint32_t group) const;

    void worked(const std::string& activity, Span span) override;
    void waited(const std::string& activity, WaitKind kind, std::string_view what,
                Span span) override;
    void counted(const std::string& counter, Cycles time, std::int64_t change) override;
    void restarted(const std::string& counter, Cycles time, std::int64_t value) override;

 private:
    /// The machine at the beginning of a group.
    struct Begin {
        Cycles time;
        std::uint64_t steps = 0;  ///< everything recorded in the previous group, as one number
        std::uint64_t state = 0;  ///< everything that later groups depend on, also as one number
        CauseCycles causes;
        std::vector<UnitStatistics> activities;
        std::vector<ClientTraffic> traffic;  ///< of each port's clients, as Mcif::moved reports it
        Sdp::Position sdp;
    };
    /// A number of groups, and how long they take.
    struct Period {
        std::size_t groups = 1;
        Cycles cycles;
    };
    static constexpr std::size_t longest_period = 16;

    std::uint32_t begin(ConvWork& work, std::uint32_t group, CauseCycles& causes);
    /// What was recorded since the last time; recording goes on from now.
    std::uint64_t fold_steps();
    Begin look(const ConvWork& work, std::uint32_t group, const CauseCycles& causes);
    const Begin& before(std::size_t groups) const { return begins_[begins_.size() - 1 - groups]; }
    /// The last groups did the same as an equal number before them.
    bool repeats(std::size_t groups) const;
    /// All that the operation needs has advanced by an equal number of groups; nothing else has
    /// moved.
    bool keeps_step(const ConvWork& work, const Period& period) const;
    bool at_rest(const Period& period) const;
    /// How many groups from this one on can be left out.
    std::uint32_t removable(const ConvWork& work, std::uint32_t group, const Period& period) const;
    void leave_out(ConvWork& work, std::uint32_t group, std::uint32_t groups, const Period& period,
                   CauseCycles& causes);
    void note(std::uint64_t step) { steps_ = mixed(steps_, step); }
    void note(const std::string& name, Span span) {
        note(reinterpret_cast<std::uintptr_t>(&name));
        note(span.begin.value - since_.value);
        note(span.end.value - since_.value);
    }

    Rooms rooms_;
    Listener begins_group_;
    Machine::Surroundings surroundings_;
    const ConvWork* work_ = nullptr;  // of the groups that were looked at
    std::deque<Begin> begins_;        // of its last groups
    std::uint64_t steps_ = 0;         // since `since_`
    Cycles since_;
    std::uint64_t last_steps_ = 0;  // of the interval before `since_`
    std::uint64_t all_steps_ = 0;   // since they were taken, without `steps_`
    struct Jump {
        Cycles at;
        Cycles all;  ///< that were left out until then
    };
    std::vector<Jump> jumps_;
};

}  // namespace npuscope
