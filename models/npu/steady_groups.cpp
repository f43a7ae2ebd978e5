// SPDX-License-Identifier: Apache-2.0
#include "models/npu/steady_groups.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <utility>

#include "models/base/counters.h"

namespace npuscope {
namespace {

/// Groups at the end that are always simulated: there the next operation's weights are requested.
constexpr std::uint32_t last_groups = 2;
/// With fewer groups none can be left out: three begin before it is known that they repeat.
constexpr std::uint32_t fewest_groups = 3 + last_groups + 1;

/// The counts of the last of two stretches equal those of the first.
template <class Count>
bool grows_evenly(const std::vector<Count>& first, const std::vector<Count>& middle,
                  const std::vector<Count>& last) {
    for (std::size_t i = 0; i < last.size(); ++i) {
        if (!equal(difference(last[i], middle[i]), difference(middle[i], first[i]))) {
            return false;
        }
    }
    return true;
}

}  // namespace

SteadyGroups::SteadyGroups(Rooms rooms, Machine::Surroundings surroundings)
    : rooms_(std::move(rooms)), surroundings_(std::move(surroundings)) {
    rooms_.csc.on_group([this](ConvWork& work, std::uint32_t group, CauseCycles& causes) {
        if (begins_group_) {
            begins_group_(work, group, causes);
        }
        return begin(work, group, causes);
    });
}

Cycles SteadyGroups::counted(Cycles simulated) const {
    const auto later = std::ranges::lower_bound(jumps_, simulated, {}, &Jump::at);
    return later == jumps_.begin() ? simulated : simulated + std::prev(later)->all;
}

void SteadyGroups::count(OperationRecord& record) const {
    for (OperationPart& part : record.parts) {
        part.begin = counted(part.begin);
        part.end = counted(part.end);
        const Cycles length = part.end - part.begin;
        const Cycles known = part.causes.sum();
        const auto cause = std::ranges::find_if(part.causes.cycles,
                                                [](Cycles cycles) { return cycles > Cycles(0); });
        if (length > known && cause != part.causes.cycles.end()) {
            const auto which = static_cast<std::size_t>(cause - part.causes.cycles.begin());
            *cause += length - known;
            record.causes.cycles[which] += length - known;
        }
    }
    record.start = counted(record.start);
    record.end = counted(record.end);
    if (record.first_mac) {
        record.first_mac = counted(*record.first_mac);
    }
}

void SteadyGroups::worked(const std::string& activity, Span span) { note(activity, span); }

void SteadyGroups::waited(const std::string& activity, WaitKind kind, std::string_view /*what*/,
                          Span span) {
    note(activity, span);
    note(static_cast<std::uint64_t>(kind));
}

void SteadyGroups::counted(const std::string& counter, Cycles time, std::int64_t change) {
    note(counter, {time, time});
    note(static_cast<std::uint64_t>(change));
}

void SteadyGroups::restarted(const std::string& counter, Cycles time, std::int64_t value) {
    counted(counter, time, value);
}

std::uint64_t SteadyGroups::fold_steps() {
    if (since_ != now()) {  // otherwise that was done already
        last_steps_ = std::exchange(steps_, 0);
        all_steps_ = mixed(mixed(all_steps_, last_steps_), now().value - since_.value);
        since_ = now();
    }
    return last_steps_;
}

std::uint64_t SteadyGroups::take_steps() {
    fold_steps();
    return std::exchange(all_steps_, 0);
}

void SteadyGroups::jump(Cycles at, Cycles cycles) {
    all_steps_ = mixed(all_steps_, cycles.value);
    auto later = std::ranges::upper_bound(jumps_, at, {}, &Jump::at);
    const Cycles before = later == jumps_.begin() ? Cycles(0) : std::prev(later)->all;
    later = jumps_.insert(later, {at, before});
    for (; later != jumps_.end(); ++later) {
        later->all += cycles;
    }
}

Fingerprint SteadyGroups::state_of(const ConvWork& work, std::uint32_t group) const {
    Cycles since = now();
    for (const Mcif* port : rooms_.ports) {
        since = std::min(since, port->reads_known_until().value_or(since));
    }
    Fingerprint state(now(), since);
    surroundings_.add_memory_state(state);
    rooms_.cdma.add_state(state, work, group);
    rooms_.csc.add_state(state);
    rooms_.cacc.add_state(state);
    rooms_.sdp.add_state(state, group);
    for (const Mcif* port : rooms_.ports) {
        port->add_state(state);
    }
    for (const Activity* activity : rooms_.activities) {
        activity->add_state(state);
    }
    return state;
}

SteadyGroups::Begin SteadyGroups::look(const ConvWork& work, std::uint32_t group,
                                       const CauseCycles& causes) {
    Begin now_seen{.time = now(),
                   .steps = fold_steps(),
                   .state = state_of(work, group).value(),
                   .causes = causes,
                   .activities = {},
                   .traffic = {},
                   .sdp = rooms_.sdp.position()};
    now_seen.activities.reserve(rooms_.activities.size());
    for (const Activity* activity : rooms_.activities) {
        now_seen.activities.push_back(activity->statistics());
    }
    for (const Mcif* port : rooms_.ports) {
        const std::vector<ClientTraffic> moved = port->moved();
        now_seen.traffic.insert(now_seen.traffic.end(), moved.begin(), moved.end());
    }
    return now_seen;
}

bool SteadyGroups::repeats(std::size_t groups) const {
    if (begins_.size() < 2 * groups + 1) {
        return false;
    }
    for (std::size_t i = 0; i < groups; ++i) {
        if (before(i).steps != before(i + groups).steps) {
            return false;
        }
    }
    const Begin& last = before(0);
    const Begin& middle = before(groups);
    const Begin& first = before(2 * groups);
    return last.time - middle.time == middle.time - first.time && last.state == middle.state &&
           grows_evenly(first.traffic, middle.traffic, last.traffic) &&
           grows_evenly(first.activities, middle.activities, last.activities);
}

bool SteadyGroups::keeps_step(const ConvWork& work, const Period& period) const {
    const auto groups = static_cast<std::uint32_t>(period.groups);
    const std::uint64_t outputs = rooms_.csc.outputs_of_group();
    const Begin& last = before(0);
    const Begin& first = before(period.groups);
    if (last.sdp.ended != rooms_.cacc.ended() || first.sdp.ended != last.sdp.ended ||
        last.sdp.atoms - first.sdp.atoms != groups * outputs) {
        return false;
    }
    const std::size_t port = last.traffic.size() / rooms_.ports.size();
    const auto reads = [](const DmaPort& client) { return 2 * std::size_t{client.number()}; };
    const auto moved = [&](const DmaPort& client) {
        std::uint64_t beats = 0;
        for (std::size_t at = reads(client); at < last.traffic.size(); at += port) {
            beats += last.traffic[at].read_beats - first.traffic[at].read_beats;
        }
        return beats;
    };
    if (moved(rooms_.cdma.weight_port) != rooms_.cdma.beats_under_way(work, groups)) {
        return false;
    }
    std::vector<bool> expected(port);
    expected[reads(rooms_.cdma.weight_port)] = true;
    expected[reads(rooms_.sdp.write_port) + 1] = true;
    for (const OperandReader& operand : rooms_.sdp.operands) {
        expected[reads(operand.port)] = true;
        if (operand.active() && operand.beats_of_last(groups * outputs) != moved(operand.port)) {
            return false;
        }
    }
    for (std::size_t i = 0; i < last.traffic.size(); ++i) {
        if (!expected[i % port] && !equal(last.traffic[i], first.traffic[i])) {
            return false;
        }
    }
    return true;
}

bool SteadyGroups::at_rest(const Period& period) const {
    const Cycles since = before(period.groups).time;
    return !rooms_.glb.awaits_rise() && surroundings_.at_rest() &&
           std::ranges::none_of(rooms_.activities, [&](const Activity* activity) {
               return activity->sleeps_since(since);
           });
}

std::uint32_t SteadyGroups::removable(const ConvWork& work, std::uint32_t group,
                                      const Period& period) const {
    const std::uint32_t all = work.job.weights.groups();
    const GroupStream::Removable weights = rooms_.cdma.removable_groups(work);
    const std::uint64_t most = std::min<std::uint64_t>(all - group, weights.groups);
    if (most <= last_groups) {
        return 0;
    }
    const std::uint64_t step = std::max<std::uint64_t>(std::lcm(period.groups, weights.step), 1);
    const std::uint64_t outputs = rooms_.csc.outputs_of_group();
    std::uint64_t groups = (most - last_groups) / step * step;
    while (groups > 0 && !rooms_.sdp.can_leave_out(group, groups * outputs)) {
        groups -= step;
    }
    return static_cast<std::uint32_t>(groups);
}

std::uint32_t SteadyGroups::begin(ConvWork& work, std::uint32_t group, CauseCycles& causes) {
    const std::uint32_t kernels = work.job.weights.shape.kernels;
    if (work.job.weights.groups() < fewest_groups ||
        group + last_groups >= work.job.weights.groups() ||
        kernels % work.job.weights.group_kernels != 0 ||
        work.job.parts.csc.reuse.skip_weight_release || !rooms_.cacc.marks_are_right()) {
        return 0;
    }
    if (work_ != &work || group == 1) {
        work_ = &work;
        begins_.clear();
    }
    begins_.push_back(look(work, group, causes));
    if (begins_.size() > 2 * longest_period + 1) {
        begins_.pop_front();
    }
    for (std::size_t groups = 1; groups <= longest_period; ++groups) {
        if (!repeats(groups)) {
            continue;
        }
        const Period period{groups, before(0).time - before(groups).time};
        if (!keeps_step(work, period) || !at_rest(period)) {
            return 0;
        }
        const std::uint32_t count = removable(work, group, period);
        if (count > 0) {
            leave_out(work, group, count, period, causes);
        }
        return count;
    }
    return 0;
}

void SteadyGroups::leave_out(ConvWork& work, std::uint32_t group, std::uint32_t groups,
                             const Period& period, CauseCycles& causes) {
    const Begin& last = before(0);
    const Begin& first = before(period.groups);
    const std::uint64_t periods = groups / period.groups;
    const Cycles cycles = period.cycles * periods;
    for (std::size_t i = 0; i < rooms_.activities.size(); ++i) {
        rooms_.activities[i]->leave_out(
            times(difference(last.activities[i], first.activities[i]), periods), first.time,
            cycles);
    }
    std::vector<ClientTraffic> traffic;
    for (std::size_t i = 0; i < last.traffic.size(); ++i) {
        traffic.push_back(times(difference(last.traffic[i], first.traffic[i]), periods));
    }
    const std::size_t port = traffic.size() / rooms_.ports.size();
    for (std::size_t i = 0; i < rooms_.ports.size(); ++i) {
        rooms_.ports[i]->count_more(std::span(traffic).subspan(i * port, port));
    }
    for (std::size_t i = 0; i < causes.cycles.size(); ++i) {
        causes.cycles[i] += (last.causes.cycles[i] - first.causes.cycles[i]) * periods;
    }
    const std::uint64_t atoms = groups * rooms_.csc.outputs_of_group();
    rooms_.cdma.leave_out(work, groups);
    rooms_.cacc.leave_out(atoms);
    rooms_.sdp.leave_out(group, atoms);
    jump(now(), cycles);
    begins_.clear();
}

}  // namespace npuscope
