// SPDX-License-Identifier: Apache-2.0
#include "models/mcif/mcif_timing.h"

#include <algorithm>
#include <utility>

#include "models/base/check.h"

namespace npuscope {
Cycles RequestStages::enter(const ChannelBurst& request) {
    if (holds_) {
        stages_.back().passed(in_last_, at_end_, last_in_arbiter_);
    }
    holds_ = true;
    const Cycles way(request.stages + 1);
    // the previous one waits to enter, and this one behind it
    offered_ = std::max({request.ready - std::min(request.ready, way), offered_ + request.gap,
                         entered_ + Cycles(1)});
    const std::size_t first = stages_.size() - request.stages;
    entered_ = stages_[first].accepts(offered_);
    in_last_ = entered_;
    Cycles at = stages_[first].output(entered_);
    for (std::size_t i = first + 1; i < stages_.size(); ++i) {
        const Cycles in = stages_[i].accepts(at);
        stages_[i - 1].passed(in_last_, at, in);
        in_last_ = in;
        at = stages_[i].output(in);
    }
    at_end_ = at;
    in_arbiter_ = arbiter_.accepts(at);
    at_arbiter_ = arbiter_.output(in_arbiter_);
    return at_arbiter_;
}

void RequestStages::issued(Cycles time) {
    arbiter_.passed(in_arbiter_, at_arbiter_, time);
    last_in_arbiter_ = in_arbiter_;
    in_arbiter_ = arbiter_.accepts(in_arbiter_ + Cycles(1));
    at_arbiter_ = arbiter_.output(in_arbiter_);
}

void RequestStages::add_state(Fingerprint& state) const {
    const Cycles way(stages_.size() + 1);  // a request enters this long before it is at the arbiter
    state.add(holds_ ? 1U : 0U);
    for (const SkidStage& stage : stages_) {
        stage.add_state(state, way);
    }
    arbiter_.add_state(state, way);
    for (const Cycles time :
         {offered_, entered_, in_last_, at_end_, in_arbiter_, at_arbiter_, last_in_arbiter_}) {
        state.add_coming(time + way);
    }
}

ReadChannel::ReadChannel(std::uint32_t outstanding, Cycles slot_return, const Turn& turn, bool asks)
    : slot_return_(slot_return),
      turn_(turn),
      asks_(asks),
      arrivals_(turn.split && !asks ? outstanding : std::max(outstanding, turn.beats)) {}

unsigned ReadChannel::add_client() {
    lanes_.emplace_back();
    last_lane_ = lanes_.size() - 1;
    return static_cast<unsigned>(last_lane_);
}

void ReadChannel::open(unsigned client, ChannelSource& source, std::uint64_t beats) {
    NPU_CHECK(finished(client), "a client's reads begin when those before have been issued");
    NPU_CHECK(beats > 0, "a read has beats");
    Lane& lane = lanes_[client];
    lane.source = &source;
    lane.remaining = beats;
    lane.issued = 0;
    lane.answered = 0;
    lane.in_stages = false;
    lane.holds = false;
    open_.insert(std::ranges::lower_bound(open_, std::size_t{client}), client);
    find_turn();
}

void ReadChannel::find_turn() {
    const auto next = std::ranges::upper_bound(open_, last_lane_);
    next_turn_ = next == open_.end() ? 0 : static_cast<std::size_t>(next - open_.begin());
}

void ReadChannel::pull_burst(Lane& lane) {
    if (!lane.arrivals.empty()) {
        lane.source->arrived(lane.arrivals);
        lane.arrivals.clear();
    }
    lane.burst = lane.source->next_burst().value_or(ChannelBurst{});
    lane.holds = lane.holds || lane.burst.request;
    if (lane.burst.stages > 0 && turn_.stages) {
        lane.burst.ready = lane.stages.enter(lane.burst);
        lane.in_stages = true;
    }
}

void ReadChannel::pull_bursts() {
    for (const std::size_t index : open_) {
        if (lanes_[index].burst.beats == 0) {
            pull_burst(lanes_[index]);
        }
    }
}

Cycles ReadChannel::room_for(std::uint64_t beats) const {
    const std::uint64_t last = commands_ + beats - 1;
    if (last < arrivals_.size()) {
        return Cycles(0);
    }
    if (beats == 1) {
        return freed(place_);
    }
    Cycles room = freed(last % arrivals_.size());
    // answers to different clients come in any order
    for (std::uint64_t i = asks_ ? std::max(commands_, std::uint64_t{arrivals_.size()}) : last;
         i < last; ++i) {
        room = std::max(room, freed(i % arrivals_.size()));
    }
    return room;
}

void ReadChannel::ask(Lane& lane, Cycles command) {
    const std::uint64_t turn = turn_.beats > 1 ? lane.burst.beats : 1;
    const std::uint64_t beats = turn_.split ? 1 : turn;  // of a request
    leave_stages(lane, command);
    for (std::uint64_t asked = 0; asked < turn; asked += beats) {
        lane.asked.push_back({place_, beats});
        for (std::uint64_t i = 0; i < beats; ++i) {
            arrivals_[place_] = never;
            count_commands(1);
        }
        lane.source->ask(command, beats);
        command += Cycles(1);
    }
    next_command_ = command;
}

void ReadChannel::answer(unsigned client, std::uint64_t request, Cycles first, Cycles interval) {
    Lane& lane = lanes_[client];
    NPU_CHECK(request >= lane.first_asked && request - lane.first_asked < lane.asked.size(),
              "an answer belongs to a request");
    Asked& answered = lane.asked[request - lane.first_asked];
    answered.first = first;
    answered.interval = interval;
    while (!lane.asked.empty() && lane.asked.front().first) {
        const Asked next = lane.asked.front();
        lane.asked.pop_front();
        ++lane.first_asked;
        for (std::uint64_t i = 0; i < next.beats; ++i) {
            Cycles& arrival = arrivals_[(next.place + i) % arrivals_.size()];
            arrival = last_arrival_ = std::max(*next.first, last_arrival_ + next.interval);
            hold_back(lane, {&arrival, 1});
            lane.arrivals.push_back(last_arrival_);
        }
        lane.answered += next.beats;
    }
    if (!lane.arrivals.empty()) {
        lane.source->arrived(lane.arrivals);
        lane.arrivals.clear();
    }
    if (lane.remaining == 0 && lane.asked.empty()) {
        lane.source = nullptr;
    }
}

std::optional<Cycles> ReadChannel::next_command() const {
    if (held_) {
        return held_until_ == never ? std::nullopt : std::optional(held_until_);
    }
    const Cycles slot = next_slot();
    Cycles next = never;
    for (const std::size_t index : open_) {
        if (lanes_[index].burst.beats > 0) {
            next = std::min(next, std::max(slot, lanes_[index].burst.ready));
        }
    }
    return next == never ? std::nullopt : std::optional(next);
}

void ReadChannel::issue_turn(Lane& lane, Cycles command) {
    leave_stages(lane, command);
    const std::uint64_t beats = lane.burst.beats;
    if (lane.burst.timed && !lane.holds && place_ + beats <= arrivals_.size()) {
        issue_timed_turn(lane, command);
        return;
    }
    for (std::uint64_t i = 0; i < beats; ++i) {
        if (turn_.split && i > 0) {
            command = std::max(command + Cycles(1), room_for(1));
        }
        command_beat(lane, command);
    }
    next_command_ = command + Cycles(1);
}

void ReadChannel::issue_timed_turn(Lane& lane, Cycles command) {
    const std::uint64_t beats = lane.burst.beats;
    const std::span<Cycles> places = std::span(arrivals_).subspan(place_, beats);
    for (std::uint64_t i = 0; i < beats; ++i) {
        if (turn_.split && i > 0) {
            command += Cycles(1);
            const bool taken = commands_ + i >= arrivals_.size();
            command = taken ? std::max(command, freed(place_ + i)) : command;
        }
        places[i] = command;
    }
    lane.source->beats_ready(places);
    for (Cycles& time : places) {
        time = last_arrival_ = std::max(time + Cycles(1), last_arrival_ + lane.burst.interval);
    }
    lane.arrivals.insert(lane.arrivals.end(), places.begin(), places.end());
    count_commands(beats);
    next_command_ = command + Cycles(1);
}

ReadChannel::Choice ReadChannel::choose(Cycles command) {
    Choice choice{open_.size(), command, never};
    if (held_) {
        choice.turn =
            static_cast<std::size_t>(std::ranges::lower_bound(open_, *held_) - open_.begin());
        return choice;
    }
    std::size_t turn = next_turn_;
    for (std::size_t i = 0; i < open_.size(); ++i) {
        const ChannelBurst& burst = open_lane(turn).burst;
        if (burst.beats > 0) {
            if (choice.turn == open_.size() && burst.ready <= command) {
                choice.turn = turn;
            } else {
                choice.others_ready = std::min(choice.others_ready, burst.ready);
            }
        }
        turn = turn + 1 == open_.size() ? 0 : turn + 1;
    }
    return choice;
}

std::uint64_t ReadChannel::issue_evenly(Lane& lane, Cycles command, std::uint64_t count) {
    const ChannelBurst& burst = lane.burst;
    const std::size_t begin = place_;
    const Cycles first = command + burst.latency + Cycles(1);
    const Cycles last_command = command + Cycles(count - 1);
    // arrivals are at least a cycle apart: if the last slot is free in time, all are
    const bool places_free = commands_ + count <= arrivals_.size() ||
                             arrivals_[begin + count - 1] + slot_return_ <= last_command;
    if (burst.interval > Cycles(1) || first <= last_arrival_ || !places_free) {
        return 0;
    }
    for (std::uint64_t i = 0; i < count; ++i) {
        arrivals_[begin + i] = first + Cycles(i);
    }
    for (std::uint64_t i = 0; lane.in_stages && i < count; ++i) {
        leave_stages(lane, command + Cycles(i));
    }
    next_command_ = last_command + Cycles(1);
    last_arrival_ = first + Cycles(count - 1);
    return count;
}

std::uint64_t ReadChannel::issue_unevenly(Lane& lane, Cycles command, std::uint64_t most,
                                          Cycles limit) {
    const ChannelBurst& burst = lane.burst;
    const std::size_t begin = place_;
    const bool places_taken = commands_ >= arrivals_.size();
    std::uint64_t count = 0;
    while (count < most && command <= limit) {
        last_arrival_ =
            std::max(command + burst.latency + Cycles(1), last_arrival_ + burst.interval);
        arrivals_[begin + count] = last_arrival_;
        leave_stages(lane, command);
        ++count;
        next_command_ = command + Cycles(1);
        command = next_command_;
        if (places_taken && count < most) {
            command = std::max(command, arrivals_[begin + count] + slot_return_);
        }
    }
    return count;
}

std::uint64_t ReadChannel::issue_timed(Lane& lane, Cycles command, std::uint64_t most,
                                       Cycles limit) {
    const std::span<Cycles> places = std::span(arrivals_).subspan(place_, most);
    const bool places_taken = commands_ >= arrivals_.size();
    std::uint64_t count = 0;
    while (count < most && command <= limit) {
        Cycles& place = places[count];
        ++count;
        leave_stages(lane, command);
        next_command_ = command + Cycles(1);
        place = std::exchange(command, next_command_);
        if (places_taken && count < most) {
            command = std::max(command, places[count] + slot_return_);
        }
    }
    const std::span<Cycles> times = places.first(count);
    lane.source->beats_ready(times);
    for (Cycles& time : times) {
        time = last_arrival_ = std::max(time + Cycles(1), last_arrival_ + lane.burst.interval);
    }
    return count;
}

void ReadChannel::issue_many(Lane& lane, Cycles command, Cycles limit) {
    // up to the end of the ring: the arrivals are passed on in one piece
    const std::size_t begin = place_;
    const std::uint64_t most = std::min<std::uint64_t>(lane.burst.beats, arrivals_.size() - begin);
    const std::uint64_t in_time = std::min(most - 1, (limit - command).value) + 1;
    std::uint64_t count = lane.burst.timed ? issue_timed(lane, command, most, limit)
                                           : issue_evenly(lane, command, in_time);
    if (count == 0) {
        count = issue_unevenly(lane, command, most, limit);
    }
    count_commands(count);
    hold_back(lane, std::span(arrivals_).subspan(begin, count));
    if (!lane.arrivals.empty()) {
        lane.source->arrived(lane.arrivals);
        lane.arrivals.clear();
    }
    lane.source->arrived(std::span(arrivals_).subspan(begin, count));
}

void ReadChannel::issue(const Choice& choice, Cycles limit) {
    Lane& lane = open_lane(choice.turn);
    const std::uint64_t before = commands_;
    if (asks_) {
        ask(lane, choice.command);
    } else if (turn_.beats > 1) {
        issue_turn(lane, choice.command);
    } else if (choice.others_ready <= choice.command + Cycles(1)) {
        issue_in_turns(choice, limit);
        return;
    } else if (lane.burst.beats == 1) {
        issue_one(lane, choice.command);
    } else {
        issue_many(lane, choice.command, std::min(limit, choice.others_ready - Cycles(1)));
    }
    const std::uint64_t count = commands_ - before;
    note_stall(lane, count);
    had_turn(choice.turn, count);
}

void ReadChannel::issue_in_turns(const Choice& choice, Cycles limit) {
    const Cycles begin = choice.command;
    ready_turns_.clear();
    for (std::size_t i = 0, turn = choice.turn; i < open_.size(); ++i) {
        const ChannelBurst& burst = open_lane(turn).burst;
        if (burst.beats > 0 && burst.ready <= begin) {
            ready_turns_.push_back(turn);
        } else if (burst.beats > 0) {  // it joins them then
            limit = std::min(limit, burst.ready - Cycles(1));
        }
        turn = turn + 1 == open_.size() ? 0 : turn + 1;
    }
    Cycles command = begin;
    for (std::size_t i = 0;; i = i + 1 == ready_turns_.size() ? 0 : i + 1) {
        Lane& lane = open_lane(ready_turns_[i]);
        issue_one(lane, command);
        note_stall(lane, 1);
        command = next_slot();
        if (lane.burst.beats == 1 || command > limit) {
            had_turn(ready_turns_[i], 1);
            return;
        }
        --lane.burst.beats;
        ++lane.issued;
        --lane.remaining;
    }
}

void ReadChannel::had_turn(std::size_t turn, std::uint64_t beats) {
    Lane& lane = open_lane(turn);
    lane.burst.beats -= beats;
    lane.issued += beats;
    lane.remaining -= beats;
    last_lane_ = open_[turn];
    next_turn_ = turn + 1 < open_.size() ? turn + 1 : 0;
    if (lane.remaining == 0) {
        tell_arrivals();
        if (!asks_ || lane.asked.empty()) {
            lane.source = nullptr;
        }
        open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(turn));
        find_turn();
    } else if (lane.burst.beats == 0) {
        pull_burst(lane);
    }
}

void ReadChannel::tell_arrivals() {
    for (const std::size_t index : open_) {
        Lane& lane = lanes_[index];
        if (!lane.arrivals.empty()) {
            lane.source->arrived(lane.arrivals);
            lane.arrivals.clear();
        }
    }
}

void ReadChannel::advance(Cycles time) {
    pull_bursts();
    Cycles command = next_slot();
    while (command <= time) {
        Choice choice = open_.size() == 1 && !held_ ? the_only(command) : choose(command);
        if (choice.turn < open_.size()) {
            if (turn_.beats > 1) {
                // the interface holds the command that had its turn until there is room
                choice.command =
                    std::max(command, room_for_turn(open_lane(choice.turn).burst.beats));
                held_ = choice.command > time ? std::optional(open_[choice.turn]) : std::nullopt;
                if (held_) {
                    held_until_ = choice.command;
                    break;
                }
            }
            issue(choice, time);
            command = next_slot();
        } else if (choice.others_ready != never) {
            command = choice.others_ready;
        } else {
            break;
        }
    }
    tell_arrivals();
}

void ReadChannel::add_state(Fingerprint& state) const {
    add_last(state, next_command_, open_.empty());
    add_last(state, last_arrival_, open_.empty());
    state.add(last_lane_);
    state.add(held_ ? 1U + *held_ : 0U);
    if (held_) {
        state.add(held_until_);
    }
    // the latest first: they arrive in order
    for (std::size_t i = 1; i <= arrivals_.size(); ++i) {
        const Cycles arrival = arrivals_[place_ >= i ? place_ - i : place_ + arrivals_.size() - i];
        if (arrival + slot_return_ <= state.since()) {
            break;
        }
        state.add(arrival);
    }
    for (const Lane& lane : lanes_) {
        if (turn_.stages) {
            lane.stages.add_state(state);
        }
    }
    for (const std::size_t index : open_) {
        const ChannelBurst& burst = lanes_[index].burst;
        state.add(index);
        state.add(burst.beats);
        state.add_coming(burst.ready);
    }
}

std::optional<Cycles> ReadChannel::issued_after(unsigned client, std::uint64_t beats) const {
    const Lane& lane = lanes_[client];
    if (lane.issued >= beats) {
        return Cycles(0);
    }
    if (lane.burst.beats == 0) {
        return std::nullopt;
    }
    const std::uint64_t missing = beats - lane.issued;
    const std::uint64_t more = divide_up(missing, turn_.beats) - 1;
    Cycles bound = std::max(next_command_, lane.burst.ready) + Cycles(more);
    bound = std::max(bound, lane.source->ready_after(beats));
    if (held_) {
        bound = std::max(bound, held_until_);
    }
    // the last command takes the slot of one that arrives earlier
    const std::uint64_t last = commands_ + missing - 1;
    if (last < arrivals_.size()) {
        return bound;
    }
    const std::uint64_t replaced = last - arrivals_.size();
    const Cycles arrival = replaced < commands_
                               ? arrivals_[replaced % arrivals_.size()]
                               : last_arrival_ + lane.burst.interval * (replaced + 1 - commands_);
    return std::max(bound, arrival + slot_return_);
}

}  // namespace npuscope
