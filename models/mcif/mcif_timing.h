// SPDX-License-Identifier: Apache-2.0
// Who gets the read channel when: every client with a request open gets one beat in turn, as the
// hardware's round robin does, computed in whole rounds between the moments at which a client comes
// or leaves. So the work grows with requests, not with beats. Not modelled: weights of the arbiter.
#pragma once

#include <cstdint>
#include <vector>

#include "models/base/quantity.h"

namespace npuscope {

/// Time inside a cycle, so that a rate such as 256 beats in 401 cycles needs no fraction.
inline constexpr std::uint64_t ticks_per_cycle = 256;

/// Ticks that one beat takes of a channel: the memory's interval, or longer where the reads in
/// flight
/// (`outstanding`) do not cover the latency.
std::uint64_t ticks_per_beat(Cycles beat_interval, Cycles round_trip, std::uint32_t outstanding);

class ReadArbiter {
 public:
    using FlowId = std::uint64_t;

    /// A client opens a request of `beats` beats.
    FlowId open(Cycles time, std::uint64_t beats, std::uint64_t beat_ticks);
    bool finished(Cycles time, FlowId flow);
    /// When a flow will be finished if nobody comes or leaves before.
    Cycles finish_time(FlowId flow) const;

 private:
    struct Flow {
        FlowId id;
        std::uint64_t remaining;
        std::uint64_t beat_ticks;
    };
    void advance(Cycles time);
    std::uint64_t round_ticks() const;
    std::uint64_t whole_rounds(std::uint64_t ticks) const;
    void grant_one_beat();

    std::vector<Flow> flows_;
    std::size_t turn_ = 0;        // flow whose beat is under way
    std::uint64_t progress_ = 0;  // ticks of that beat that have passed
    std::uint64_t time_ = 0;      // in ticks
    FlowId next_id_ = 0;
};

}  // namespace npuscope
