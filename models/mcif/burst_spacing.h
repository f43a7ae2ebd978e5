// SPDX-License-Identifier: Apache-2.0
// How closely a client's result bursts follow each other on branch master: its arbiter accepts a
// burst's command when the previous burst has left, and its data after that. A burst leaves when
// its last beat is available, so it begins at least as many cycles after the previous one as both
// have beats. Not modelled: the effect on any burst except the last one of a write, which the
// response follows.
// source: NV_NVDLA_MCIF_WRITE_IG_arb.v of branch master, src_cmd0_rdy
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/mcif/mcif_timing.h"

namespace npuscope {

/// Delays a write whose last burst would leave too soon after the previous burst. `longest`: most
/// beats of a burst; `last`: when the client's last beat left.
inline void follow_others(WriteChannel::Burst& burst, std::uint64_t longest, Cycles last) {
    if (burst.beats < burst.gathered) {
        return;
    }
    Cycles earliest = last > Cycles(0) ? last + Cycles(1 + burst.gathered) : Cycles(0);
    if (const std::uint64_t others = burst.beats - burst.gathered; others > 0) {
        const std::uint64_t opening = (others - 1) % longest + 1;
        const std::uint64_t whole = others - opening;
        const Cycles opened = burst.first + burst.step * (opening - 1);
        const Cycles before = burst.first + burst.step * (others - 1);
        earliest = std::max(opened + Cycles(opening + 2 * whole + burst.gathered),
                            before + Cycles((whole > 0 ? longest : opening) + burst.gathered));
    }
    const Cycles there = burst.first + burst.step * (burst.beats - 1);
    burst.first += std::max(earliest, there) - there;
}

}  // namespace npuscope
