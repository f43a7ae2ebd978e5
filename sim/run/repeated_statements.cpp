// SPDX-License-Identifier: Apache-2.0
#include "sim/run/repeated_statements.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>

#include "models/base/fingerprint.h"

namespace npuscope {
namespace {

std::uint64_t print_of(std::string_view text) { return std::hash<std::string_view>()(text); }

/// Tells statements apart as far as a machine without values does.
class Printer {
 public:
    Printer(Bytes alignment, const std::function<std::uint64_t(Address)>& region_of)
        : alignment_(alignment), region_of_(region_of) {}

    /// Nothing: it is unlike any other.
    std::optional<std::uint64_t> print(const Action& action, std::size_t place) {
        place_ = place;
        const auto own = std::visit([this](const auto& one) { return of(one); }, action);
        return own ? std::optional(mixed(action.index(), *own)) : std::nullopt;
    }

 private:
    using Print = std::optional<std::uint64_t>;

    Print of(const WriteRegister& write) const {
        std::uint64_t value = write.value;
        if (write.name.find("ADDR_HIGH") != std::string::npos && value != 0) {
            return std::nullopt;  // where the rest of the address lies is not known
        }
        if (write.name.find("ADDR") != std::string::npos) {
            value = mixed(value % alignment_.value, region_of_(Address(value)));
        }
        return mixed(write.address, value);
    }
    Print of(const NotifyOnInterrupt& notify) {
        raised_at_[notify.sync] = place_;
        return print_of(notify.unit);
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
    /// Statements from the one that says when the id rises.
    Print since_raised(const std::string& sync) const {
        const auto raised = raised_at_.find(sync);
        return raised == raised_at_.end() ? Print() : Print(place_ - raised->second);
    }

    Bytes alignment_;
    const std::function<std::uint64_t(Address)>& region_of_;
    std::unordered_map<std::string, std::size_t> raised_at_;
    std::size_t place_ = 0;
};

}  // namespace

RepeatedStatements::RepeatedStatements(std::span<const Statement> program, Bytes alignment,
                                       const std::function<std::uint64_t(Address)>& region_of)
    : program_(program) {
    Printer printer(alignment, region_of);
    prints_.reserve(program.size());
    for (std::size_t i = 0; i < program.size(); ++i) {
        // the place tells apart what is unlike any other
        prints_.push_back(
            printer.print(program[i].action, i).value_or(mixed(~std::uint64_t{0}, i)));
    }
}

bool RepeatedStatements::alike(std::size_t first, std::size_t second, std::size_t count) const {
    return second + count <= prints_.size() &&
           std::equal(prints_.begin() + static_cast<std::ptrdiff_t>(first),
                      prints_.begin() + static_cast<std::ptrdiff_t>(first + count),
                      prints_.begin() + static_cast<std::ptrdiff_t>(second));
}

std::optional<RepeatedStatements::Stretch> RepeatedStatements::repeated(
    const std::function<bool(std::size_t moment)>& same) const {
    const std::size_t end = moments_.back().statement;
    const std::size_t oldest = moments_.size() - std::min(moments_.size(), most_moments);
    for (std::size_t i = moments_.size() - 1; i-- > oldest;) {
        const std::size_t begin = moments_[i].statement;
        const std::size_t length = end - begin;
        std::uint64_t times = 0;
        // the statement in which the host waits then is one as well
        while (length > 0 && alike(begin, end + times * length, length + 1)) {
            ++times;
        }
        if (times > 0 && same(moments_[i].number)) {
            return Stretch{moments_[i], length, times};
        }
    }
    return std::nullopt;
}

void RepeatedStatements::replay_interrupts(const Stretch& stretch, Cycles cycles,
                                           SyncBoard& board) const {
    struct Raised {
        std::size_t statement = 0;
        Cycles time;
    };
    std::vector<Raised> raised;
    const auto sync_of = [this](std::size_t statement) -> const std::string& {
        return std::get<NotifyOnInterrupt>(program_[statement].action).sync;
    };
    // those that are awaited when the stretch begins are told of before it
    const std::size_t begin = stretch.begin.statement;
    for (std::size_t i = begin - std::min(begin, stretch.length); i < begin + stretch.length; ++i) {
        if (!std::holds_alternative<NotifyOnInterrupt>(program_[i].action)) {
            continue;
        }
        if (const std::optional<Cycles> time = board.raised_at(sync_of(i))) {
            raised.push_back({i, *time});
        } else {
            const std::size_t last = i + stretch.times * stretch.length;
            board.expect_instead(sync_of(i), sync_of(last), program_[last].place);
        }
    }
    for (const Raised& one : raised) {
        for (std::uint64_t time = 1; time <= stretch.times && one.time > stretch.begin.time;
             ++time) {
            board.raise(sync_of(one.statement + time * stretch.length), one.time + cycles * time);
        }
    }
}

}  // namespace npuscope
