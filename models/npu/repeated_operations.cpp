// SPDX-License-Identifier: Apache-2.0
#include "models/npu/repeated_operations.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "models/base/check.h"
#include "models/npu/counts.h"

namespace npuscope {
namespace {

/// At least so much of an address may matter, where bursts are short.
constexpr Bytes least_alignment{256};

bool is_address(const RegisterRow& row) { return row.name.find("ADDR") != std::string_view::npos; }

}  // namespace

RepeatedOperations::RepeatedOperations(Rooms rooms, Machine::Surroundings surroundings)
    : rooms_(std::move(rooms)), surroundings_(std::move(surroundings)) {
    std::uint64_t most = rooms_.units.cdma.request_window().value;
    for (const Mcif* port : rooms_.units.ports) {
        most = std::max(most, port->width().value * port->longest_burst());
    }
    alignment_ = Bytes(std::max(std::bit_ceil(most), least_alignment.value));
    const auto within = static_cast<std::uint32_t>(alignment_.value - 1);
    for (const RegisterFile& file : rooms_.csb.files()) {
        for (const RegisterRow& row : file.block().rows) {
            compared_.push_back(is_address(row) ? within : ~0U);
        }
    }
    rooms_.groups.on_group(
        [this](const ConvWork& work, std::uint32_t group, const CauseCycles& causes) {
            group_begins(work, group, causes);
        });
}

void RepeatedOperations::group_begins(const ConvWork& work, std::uint32_t group,
                                      const CauseCycles& causes) {
    if (work_ != &work || group == 1) {
        told_ = false;
    }
    work_ = &work;
    group_ = group;
    causes_ = causes;
    // what is on its way to the next operation is not compared
    if (told_ || work.values || !rooms_.units.cdma.reads_none_after(work) ||
        !rooms_.dispatcher.runs_alone(work) || !rooms_.units.sdp.takes_lines() ||
        rooms_.units.glb.awaits_rise() || !rooms_.csb.idle() || !others_rest()) {
        return;
    }
    told_ = surroundings_.at_moment(*this);
}

bool RepeatedOperations::others_rest() const {
    return std::ranges::all_of(rooms_.others, [](const Unit* unit) {
        return std::ranges::all_of(unit->activities(), [](const Activity& activity) {
            return activity.idle() || equal(activity.statistics(), {});
        });
    });
}

void RepeatedOperations::add_registers(Fingerprint& state) const {
    auto part = compared_.begin();  // of the next word
    for (const RegisterFile& file : rooms_.csb.files()) {
        state.add(file.producer());
        state.add(file.consumer());
        const std::vector<std::uint32_t>& first = file.values(0).words();
        const std::vector<std::uint32_t>& second = file.values(1).words();
        for (std::size_t i = 0; i < first.size(); ++i, ++part) {
            state.add(std::uint64_t{first[i] & *part} << 32U | (second[i] & *part));
        }
    }
}

std::uint64_t RepeatedOperations::state() const {
    Fingerprint state = rooms_.groups.state_of(*work_, group_);
    state.add(group_);
    for (const Cycles cycles : causes_.cycles) {
        state.add(cycles.value);
    }
    add_registers(state);
    rooms_.csb.add_state(state);
    state.add(rooms_.units.glb.controller().status());
    state.add(rooms_.units.glb.controller().mask());
    rooms_.dispatcher.add_state(state);
    rooms_.units.cdma.add_next_state(state);
    rooms_.units.csc.add_next_state(state);
    rooms_.units.cacc.add_next_state(state);
    rooms_.units.sdp.add_next_state(state);
    return state.value();
}

std::size_t RepeatedOperations::note() {
    Moment moment{.time = now(),
                  .counted = rooms_.groups.counted(now()),
                  .state = state(),
                  .steps = rooms_.groups.take_steps(),
                  .activities = {},
                  .others = {},
                  .ports = {},
                  .actions = rooms_.units.csc.actions(),
                  .operations = rooms_.dispatcher.counted(),
                  .atoms = rooms_.units.cacc.marks().position(),
                  .findings = rooms_.log.findings().size()};
    for (const Activity* activity : rooms_.units.activities) {
        moment.activities.push_back(activity->statistics());
    }
    for (const Unit* unit : rooms_.others) {
        moment.others.push_back(unit->statistics());
    }
    for (const Mcif* port : rooms_.units.ports) {
        moment.ports.push_back(port->counted());
    }
    moments_.push_back(std::move(moment));
    return moments_.size() - 1;
}

bool RepeatedOperations::stands_as_at(std::size_t moment) const {
    const Moment& then = moments_[moment];
    const Moment& last = moments_.back();
    // what other units did last was long ago both times
    return moment > 0 && moment + 1 < moments_.size() && then.state == last.state &&
           then.steps == last.steps && then.findings == last.findings &&
           rooms_.units.cacc.marks().alike(then.atoms, last.atoms) &&
           std::ranges::equal(moments_[moment - 1].others, last.others,
                              [](const auto& a, const auto& b) { return equal(a, b); });
}

Cycles RepeatedOperations::repeat(std::size_t moment, std::uint64_t times) {
    NPU_CHECK(moment + 1 < moments_.size(), "the moment is an earlier one");
    const Moment& from = moments_[moment];
    const Moment& to = moments_.back();
    const Cycles cycles = to.counted - from.counted;
    for (std::size_t i = 0; i < to.activities.size(); ++i) {
        rooms_.units.activities[i]->leave_out(
            npuscope::times(difference(to.activities[i], from.activities[i]), times), from.time,
            cycles * times);
    }
    const std::uint64_t launched = to.operations.launched - from.operations.launched;
    for (std::size_t i = 0; i < to.ports.size(); ++i) {
        rooms_.units.ports[i]->count_again(
            from.ports[i], to.ports[i], times, [&](const std::string& first, std::uint64_t time) {
                return LaunchEngine::later_name(first, launched * time);
            });
    }
    rooms_.units.csc.count_again(from.actions, to.actions, times);
    rooms_.units.cacc.marks().repeat(from.atoms, to.atoms, times);
    const Cycles begun =
        rooms_.dispatcher.count_again(from.operations, to.operations, times, cycles);
    rooms_.units.sdp.rename_output();
    rooms_.groups.jump(begun - Cycles(1), cycles * times);
    return cycles;
}

}  // namespace npuscope
