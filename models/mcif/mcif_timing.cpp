// SPDX-License-Identifier: Apache-2.0
#include "models/mcif/mcif_timing.h"

#include <algorithm>

#include "models/base/check.h"

namespace npuscope {

std::uint64_t ticks_per_beat(Cycles beat_interval, Cycles round_trip, std::uint32_t outstanding) {
    const std::uint64_t by_bus = std::max<std::uint64_t>(beat_interval.value, 1) * ticks_per_cycle;
    const std::uint64_t by_flight = divide_up(round_trip.value * ticks_per_cycle, outstanding);
    return std::max(by_bus, by_flight);
}

std::uint64_t ReadArbiter::round_ticks() const {
    std::uint64_t sum = 0;
    for (const Flow& flow : flows_) {
        sum += flow.beat_ticks;
    }
    return sum;
}

std::uint64_t ReadArbiter::whole_rounds(std::uint64_t ticks) const {
    const auto shortest = std::ranges::min_element(flows_, {}, &Flow::remaining);
    return std::min(ticks / round_ticks(), shortest->remaining - 1);
}

void ReadArbiter::grant_one_beat() {
    progress_ = 0;
    Flow& flow = flows_[turn_];
    --flow.remaining;
    if (flow.remaining == 0) {
        flows_.erase(flows_.begin() + static_cast<std::ptrdiff_t>(turn_));
    } else {
        ++turn_;
    }
    if (turn_ >= flows_.size()) {
        turn_ = 0;
    }
}

void ReadArbiter::advance(Cycles time) {
    const std::uint64_t target = time.value * ticks_per_cycle;
    while (!flows_.empty() && time_ < target) {
        const std::uint64_t rounds = progress_ == 0 ? whole_rounds(target - time_) : 0;
        for (Flow& flow : flows_) {
            flow.remaining -= rounds;
        }
        time_ += rounds * round_ticks();
        const std::uint64_t needed = flows_[turn_].beat_ticks - progress_;
        if (time_ + needed > target) {
            progress_ += target - time_;
            time_ = target;
            return;
        }
        time_ += needed;
        grant_one_beat();
    }
    time_ = std::max(time_, target);
}

ReadArbiter::FlowId ReadArbiter::open(Cycles time, std::uint64_t beats, std::uint64_t beat_ticks) {
    NPU_CHECK(beats > 0 && beat_ticks > 0, "a read request has beats that take time");
    advance(time);
    flows_.push_back({next_id_, beats, beat_ticks});
    return next_id_++;
}

bool ReadArbiter::finished(Cycles time, FlowId flow) {
    advance(time);
    return std::ranges::none_of(flows_, [&](const Flow& open) { return open.id == flow; });
}

Cycles ReadArbiter::finish_time(FlowId flow) const {
    const auto at = std::ranges::find(flows_, flow, &Flow::id);
    if (at == flows_.end()) {
        return Cycles(divide_up(time_, ticks_per_cycle));
    }
    std::uint64_t ticks = (at->remaining - 1) * round_ticks();
    const auto place = static_cast<std::size_t>(at - flows_.begin());
    for (std::size_t i = turn_;; i = (i + 1) % flows_.size()) {
        ticks += flows_[i].beat_ticks;
        if (i == place) {
            break;
        }
    }
    return Cycles(divide_up(time_ + ticks - progress_, ticks_per_cycle));
}

}  // namespace npuscope
