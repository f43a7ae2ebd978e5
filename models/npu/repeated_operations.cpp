// SPDX-License-Identifier: Apache-2.0
#include "models/npu/repeated_operations.h"

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

#include "models/base/check.h"
#include "models/base/counters.h"

namespace npuscope {
namespace {

/// At least this much of an address may matter, where bursts are short.
constexpr Bytes least_alignment{256};

/// Bits of a register that a later operation may depend on; `within`: those of an address.
std::uint32_t bits_compared(const RegisterRow& row, std::uint32_t within) {
    if (row.name == "S_POINTER" || row.name == "S_STATUS") {
        return 0;  // which group is next is tracked separately
    }
    return row.name.find("ADDR") != std::string_view::npos ? within : ~0U;
}

bool is_among(std::span<const std::string_view> names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}

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
        takes_part_.push_back(has_part(file.block().name));
        for (const RegisterRow& row : file.block().rows) {
            compared_.push_back(bits_compared(row, within));
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
    if (told_ || work.values || !rooms_.units.cdma.tells_all() ||
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
    const unsigned turn = register_group();
    auto part = compared_.begin();       // of the next word
    auto changes = takes_part_.begin();  // of the next block
    for (const RegisterFile& file : rooms_.csb.files()) {
        const unsigned group = *changes++ ? turn : 0;
        state.add(file.producer() ^ group);
        state.add(file.consumer() ^ group);
        state.add(static_cast<std::uint64_t>(file.status(group)));
        state.add(static_cast<std::uint64_t>(file.status(1 - group)));
        const std::vector<std::uint32_t>& first = file.values(group).words();
        const std::vector<std::uint32_t>& second = file.values(1 - group).words();
        for (std::size_t i = 0; i < first.size(); ++i, ++part) {
            state.add(std::uint64_t{first[i] & *part} << 32U | (second[i] & *part));
        }
    }
}

bool RepeatedOperations::has_part(std::string_view block) {
    return is_among(row_of(Pipeline::Conv).blocks, block) ||
           is_among(row_of(Pipeline::Sdp).blocks, block);
}

bool RepeatedOperations::has_part(InterruptSource source) {
    return source == InterruptSource::Sdp || source == InterruptSource::CdmaDat ||
           source == InterruptSource::CdmaWt || source == InterruptSource::Cacc;
}

void RepeatedOperations::add_interrupts(Fingerprint& state) const {
    const unsigned turn = register_group();
    const InterruptController& interrupts = rooms_.units.glb.controller();
    for (const auto& [source, name] : EnumNames<InterruptSource>::names) {
        const unsigned first = has_part(source) ? turn : 0;
        for (const unsigned group : {first, 1 - first}) {
            const Interrupt interrupt{source, group};
            state.add(interrupts.pending(interrupt) ? 1U : 0U);
            state.add(interrupts.masked(interrupt) ? 1U : 0U);
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
    add_interrupts(state);
    rooms_.dispatcher.add_state(state, register_group());
    rooms_.units.cdma.add_next_state(state, *work_);
    rooms_.units.csc.add_next_state(state);
    rooms_.units.cacc.add_next_state(state);
    rooms_.units.sdp.add_next_state(state);
    return state.value();
}

std::size_t RepeatedOperations::note() {
    Moment moment{.time = now(),
                  .counted = rooms_.groups.counted(now()),
                  .group = register_group(),
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
    // both times, what other units did last was long ago
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
