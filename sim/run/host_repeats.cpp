// SPDX-License-Identifier: Apache-2.0
// Statements that the host skips because they repeat others, see models/npu/repeated_operations.
#include "models/npu/repeated_operations.h"
#include "sim/run/host.h"

namespace npuscope {

bool Host::leave_out_repeated(RepeatedOperations& operations) {
    const auto* wait = statement_ < program_.size()
                           ? std::get_if<SyncWait>(&program_[statement_].action)
                           : nullptr;
    if (wait == nullptr || board_.raised(wait->sync) || !at_rest() ||
        !board_.waiting_checks().empty() || !requests_.empty()) {
        return false;
    }
    if (!repeated_) {
        repeated_.emplace(
            program_,
            RepeatedStatements::Likeness{
                operations.alignment(),
                [this](Address address) { return std::uint64_t{memory_.region_number(address)}; },
                [](std::string_view block) { return RepeatedOperations::has_part(block); },
                [](InterruptSource source) { return RepeatedOperations::has_part(source); }});
    }
    if (!repeated_->awaits_last(board_, statement_)) {
        return false;
    }
    repeated_->note({statement_, operations.note(), board_.awaited().size()});
    using Compared = RepeatedStatements::Compared;
    const auto stretch = repeated_->repeated([&](std::size_t moment) {
        if (!operations.stands_as_at(moment)) {
            return Compared::Different;
        }
        return operations.groups_changed_since(moment) ? Compared::GroupsChanged : Compared::Same;
    });
    if (stretch) {
        replay(*stretch, operations.repeat(stretch->begin.number, stretch->times));
    }
    return true;
}

void Host::replay(const RepeatedStatements::Stretch& stretch, Cycles cycles) {
    repeated_->replay_interrupts(stretch, cycles, board_);
    const std::size_t end = statement_ + stretch.times * stretch.length;
    Activity& activity = activities().front();
    for (; statement_ < end; ++statement_) {
        const Action& action = program_[statement_].action;
        if (const auto* layer = std::get_if<BeginLayer>(&action)) {
            execute(activity, *layer);
        } else if (const auto* crc = std::get_if<CheckCrc>(&action)) {
            execute(activity, *crc);
        } else if (const auto* image = std::get_if<CheckImage>(&action)) {
            execute(activity, *image);
        } else if (const auto* nothing = std::get_if<CheckNothing>(&action)) {
            execute(activity, *nothing);
        }
    }
}

}  // namespace npuscope
