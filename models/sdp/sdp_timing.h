// SPDX-License-Identifier: Apache-2.0
// How fast the SDP takes atoms and how long they stay. Its narrowest active stage sets the pace;
// from the accumulator an atom costs a cycle more, because the hand-over has a bubble. Each active
// stage adds its latency. Not modelled: stalls between the stages. Source: nv_small RTL, measured;
// the element-wise stage is not, nv_small has none.
#pragma once

#include <cstdint>

#include "models/base/quantity.h"
#include "models/sdp/sdp_config.h"
#include "models/sdp/sdp_stages.h"

namespace npuscope {

/// Cycles that each stage adds, 0 where it is bypassed.
struct SdpStageDelays {
    Cycles bs;
    Cycles bn;
    Cycles ew;

    Cycles total() const { return bs + bn + ew; }
};
SdpStageDelays sdp_stage_delays(const SdpConfig& config, const SdpStages& stages);

/// Cycles of an atom of `elements` elements in the narrowest active stage.
Cycles sdp_atom_cycles(const SdpConfig& config, const SdpStages& stages, std::uint64_t elements);

/// The moments at which the SDP takes atoms: one after the other at its pace, none before it is
/// there.
class AtomDrain {
 public:
    void set_pace(Cycles pace) { pace_ = pace; }
    Cycles pace() const { return pace_; }
    /// Takes one atom that is there from `ready` on.
    Cycles take(Cycles ready) {
        const Cycles time = std::max(ready, free_);
        free_ = time + pace_;
        return time;
    }
    /// Takes `count` atoms that come no slower than the pace; the time of the first.
    Cycles take_run(Cycles first_ready, std::uint64_t count) {
        const Cycles first = std::max(first_ready, free_);
        free_ = first + pace_ * count;
        return first;
    }
    /// First cycle in which another atom could be taken.
    Cycles free() const { return free_; }

 private:
    Cycles pace_{1};
    Cycles free_;
};

}  // namespace npuscope
