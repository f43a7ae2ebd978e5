// SPDX-License-Identifier: Apache-2.0
#include "sim/run/repeated_statements.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>

#include "models/base/fingerprint.h"
#include "models/base/register_map.h"

namespace npuscope {
namespace {

/// Two small numbers, in this order.
std::uint64_t pair_print(std::uint64_t first, std::uint64_t second) {
    return mixed(mixed(0, first), second);
}

std::uint64_t print_of(std::string_view text) { return std::hash<std::string_view>()(text); }

/// Distinguishes statements as far as a machine without values does.
class Printer {
 public:
    /// `groups_changed`: of registers, which have been swapped.
    Printer(const RepeatedStatements::Likeness& likeness, bool groups_changed)
        : likeness_(likeness), groups_changed_(groups_changed) {}

    /// Nothing: it equals no other statement.
    std::optional<std::uint64_t> print(const Action& action, std::size_t place) {
        place_ = place;
        const auto own = std::visit([this](const auto& one) { return of(one); }, action);
        return own ? std::optional(pair_print(action.index(), *own)) : std::nullopt;
    }

 private:
    using Print = std::optional<std::uint64_t>;

    Print of(const WriteRegister& write) const {
        std::uint64_t value = write.value;
        if (write.name.find("ADDR_HIGH") != std::string::npos && value != 0) {
            return std::nullopt;  // the rest of the address is not known
        }
        if (write.name.find("ADDR") != std::string::npos) {
            value =
                pair_print(value % likeness_.alignment.value, likeness_.region_of(Address(value)));
        } else if (groups_changed_ && write.name.find(".S_POINTER") != std::string::npos &&
                   likeness_.has_groups(block_of(write.name))) {
            value ^= 1U;
        }
        return pair_print(write.address, value);
    }
    Print of(const NotifyOnInterrupt& notify) {
        raised_at_[notify.sync] = place_;
        std::optional<Interrupt> interrupt = interrupt_from_name(notify.unit);
        if (groups_changed_ && interrupt && likeness_.raised_by_groups(interrupt->source)) {
            interrupt->group = 1 - interrupt->group;
        }
        return print_of(interrupt ? to_string(*interrupt) : notify.unit);
    }
    Print of(const SyncWait& wait) const { return since_raised(wait.sync); }
    Print of(const CheckCrc& check) const { return since_raised(check.sync); }
    Print of(const CheckImage& check) const { return since_raised(check.sync); }
    Print of(const CheckNothing& check) const { return since_raised(check.sync); }
    Print of(const BeginLayer& layer) const { return layer.operations; }
    template <class Other>
    Print of(const Other& /*other*/) const {
        return std::nullopt;
    }
    /// Number of statements since the one that says when the id is raised.
    Print since_raised(const std::string& sync) const {
        const auto raised = raised_at_.find(sync);
        return raised == raised_at_.end() ? Print() : Print(place_ - raised->second);
    }

    const RepeatedStatements::Likeness& likeness_;
    bool groups_changed_;
    std::unordered_map<std::string, std::size_t> raised_at_;
    std::size_t place_ = 0;
};

}  // namespace

RepeatedStatements::RepeatedStatements(std::span<const Statement> program, const Likeness& likeness)
    : program_(program) {
    Printer printer(likeness, false);
    Printer of_changed(likeness, true);
    prints_.reserve(program.size());
    changed_.reserve(program.size());
    for (std::size_t i = 0; i < program.size(); ++i) {
        if (std::holds_alternative<NotifyOnInterrupt>(program[i].action)) {
            notifications_.push_back(i);
        }
        // the place distinguishes statements that equal no other
        const std::uint64_t unlike = mixed(~std::uint64_t{0}, i);
        prints_.push_back(printer.print(program[i].action, i).value_or(unlike));
        changed_.push_back(of_changed.print(program[i].action, i).value_or(unlike));
    }
}

bool RepeatedStatements::alike(std::size_t first, std::size_t second, std::size_t count,
                               const std::vector<std::uint64_t>& prints) const {
    const auto place = [](std::size_t statement) { return static_cast<std::ptrdiff_t>(statement); };
    return second + count <= prints_.size() &&
           std::equal(prints_.begin() + place(first), prints_.begin() + place(first + count),
                      prints.begin() + place(second));
}

std::optional<RepeatedStatements::Stretch> RepeatedStatements::repeated(
    const std::function<Compared(std::size_t moment)>& compare) const {
    const std::size_t end = moments_.back().statement;
    const std::size_t oldest = moments_.size() - std::min(moments_.size(), most_moments);
    for (std::size_t i = moments_.size() - 1; i-- > oldest;) {
        const std::size_t begin = moments_[i].statement;
        const std::size_t length = end - begin;
        const bool awaits_as_much = moments_[i].awaited == moments_.back().awaited;
        const Compared compared =
            awaits_as_much ? compare(moments_[i].number) : Compared::Different;
        if (length == 0 || compared == Compared::Different) {
            continue;
        }
        const bool changed = compared == Compared::GroupsChanged;
        std::uint64_t times = 0;
        // this includes the statement in which the host then waits
        while (alike(begin, end + times * length, length + 1,
                     changed && times % 2 == 0 ? changed_ : prints_)) {
            ++times;
        }
        if (changed) {
            times -= times % 2;
        }
        if (times > 0) {
            return Stretch{moments_[i], length, times};
        }
    }
    return std::nullopt;
}

bool RepeatedStatements::awaits_last(const SyncBoard& board, std::size_t statement) const {
    const std::size_t before = notifications_before(statement);
    const std::size_t awaited = board.awaited().size();
    if (awaited > before) {
        return false;
    }
    std::size_t notification = before - awaited;
    return std::ranges::all_of(board.awaited(), [&](const SyncBoard::Awaited& one) {
        return one.sync == sync_of(notification++);
    });
}

void RepeatedStatements::replay_interrupts(const Stretch& stretch, Cycles cycles,
                                           SyncBoard& board) const {
    // those that are awaited when the stretch begins come first
    const std::size_t begin = stretch.begin.statement;
    const std::size_t first = notifications_before(begin) - stretch.begin.awaited;
    const std::size_t count =
        notifications_before(begin + stretch.length) - notifications_before(begin);
    std::vector<Cycles> raised;
    for (std::size_t i = 0; i < count; ++i) {
        raised.push_back(*board.raised_at(sync_of(first + i)));
    }
    for (std::size_t i = 0; i < stretch.begin.awaited; ++i) {
        const std::size_t now = first + count + i;
        const std::size_t later = now + count * stretch.times;
        board.expect_instead(sync_of(now), sync_of(later), program_[notifications_[later]].place);
    }
    for (std::uint64_t time = 1; time <= stretch.times; ++time) {
        for (std::size_t i = 0; i < count; ++i) {
            board.raise(sync_of(first + i + count * time), raised[i] + cycles * time);
        }
    }
}

}  // namespace npuscope
