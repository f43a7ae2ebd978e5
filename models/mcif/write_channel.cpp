// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "models/base/check.h"
#include "models/mcif/mcif_timing.h"

namespace npuscope {

void WriteChannel::open(unsigned client, const Burst& burst) {
    lanes_.resize(std::max<std::size_t>(lanes_.size(), client + 1));
    NPU_CHECK(std::ranges::find(open_, client) == open_.end(),
              "a client writes one run of memory at a time");
    lanes_[client] = {burst};
    open_.push_back(client);
}

Cycles WriteChannel::ready(const Burst& burst, std::uint64_t beat) {
    const bool in_last = beat + burst.gathered >= burst.beats;
    return burst.first + burst.step * (in_last ? burst.beats - 1 : beat);
}

Cycles WriteChannel::taken_after(const Lane& lane, std::uint64_t beats) const {
    const Burst& burst = lane.burst;
    const std::uint64_t last = beats - 1;
    const Cycles begin = std::max(ready(burst, lane.taken), free_);
    Cycles time = begin + burst.interval * (last - lane.taken);
    time = std::max(time, ready(burst, last));
    if (last + burst.gathered >= burst.beats) {  // the last burst leaves beat by beat
        const std::uint64_t first = std::max(lane.taken, burst.beats - burst.gathered);
        time = std::max(time, ready(burst, last) + burst.interval * (last - first));
    }
    return time;
}

Cycles WriteChannel::taken_after(unsigned client, std::uint64_t beats) const {
    return taken_after(lanes_[client], beats);
}

std::optional<Cycles> WriteChannel::taken(unsigned client, std::uint64_t beats) const {
    const Lane& lane = lanes_[client];
    return lane.taken < beats ? std::nullopt : std::optional(lane.last);
}

void WriteChannel::take(Lane& lane, Cycles time) {
    lane.last = time;
    ++lane.taken;
    free_ = time + lane.burst.interval;
}

std::pair<std::size_t, Cycles> WriteChannel::next_turn() const {
    // the clients after the one that had its turn have priority, unless it is amid beats that leave
    // together
    const auto rank = [&](unsigned client) {
        const Lane& lane = lanes_[client];
        const bool amid = client == last_ && lane.taken > 0 &&
                          lane.taken + lane.burst.gathered > lane.burst.beats;
        return amid ? 0 : (client + lanes_.size() - last_ - 1) % lanes_.size() + 1;
    };
    std::size_t best = 0;
    Cycles best_time;
    for (std::size_t i = 0; i < open_.size(); ++i) {
        const Lane& lane = lanes_[open_[i]];
        const Cycles time = std::max(ready(lane.burst, lane.taken), free_);
        if (i == 0 || time < best_time ||
            (time == best_time && rank(open_[i]) < rank(open_[best]))) {
            best = i;
            best_time = time;
        }
    }
    return {best, best_time};
}

void WriteChannel::advance(Cycles time) {
    while (!open_.empty()) {
        const auto [place, next] = next_turn();
        if (next > time) {
            return;
        }
        Lane& lane = lanes_[open_[place]];
        last_ = open_[place];
        if (open_.size() == 1) {
            const Cycles end = taken_after(lane, lane.burst.beats);
            if (end <= time) {
                lane.taken = lane.burst.beats - 1;
                take(lane, end);
            }
        }
        if (lane.taken < lane.burst.beats) {
            take(lane, next);
        }
        if (lane.taken == lane.burst.beats) {
            open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(place));
        }
    }
}

void WriteChannel::add_state(Fingerprint& state) const {
    add_last(state, free_, open_.empty());
    state.add(last_);
    for (const unsigned client : open_) {
        const Lane& lane = lanes_[client];
        state.add(client);
        state.add(lane.burst.first);
        state.add(lane.burst.step.value);
        state.add(lane.burst.beats - lane.taken);
        state.add(lane.burst.gathered);
    }
}

}  // namespace npuscope
