// SPDX-License-Identifier: Apache-2.0
#include "sim/run/sync_board.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace npuscope {

std::optional<SyncBoard::Awaited> SyncBoard::serve(Interrupt interrupt, Cycles time) {
    const auto found = std::ranges::find_if(awaited_, [&](const Awaited& awaited) {
        return !awaited.interrupt || *awaited.interrupt == interrupt;
    });
    if (found == awaited_.end()) {
        return std::nullopt;
    }
    Awaited served = std::move(*found);
    awaited_.erase(found);
    raise(served.sync, time);
    return served;
}

void SyncBoard::when_raised(const std::string& sync, std::size_t statement,
                            std::function<void()> check) {
    if (sync.empty() || raised(sync)) {
        check();
    } else {
        waiting_.push_back({sync, statement, std::move(check)});
    }
}

void SyncBoard::make_checks() {
    std::erase_if(waiting_, [this](const WaitingCheck& check) {
        const bool now = raised(check.sync);
        if (now) {
            check.make();
        }
        return now;
    });
}

std::vector<std::size_t> SyncBoard::waiting_checks() const {
    std::vector<std::size_t> statements;
    for (const WaitingCheck& check : waiting_) {
        statements.push_back(check.statement);
    }
    return statements;
}

std::optional<Cycles> SyncBoard::last_raised() const {
    std::optional<Cycles> last;
    for (const auto& [sync, time] : raised_) {
        if (!ignored_.contains(sync)) {
            last = std::max(last.value_or(Cycles(0)), time);
        }
    }
    return last;
}

SyncBoard::Awaited awaited_by(const NotifyOnInterrupt& notify, const Place& place) {
    if (notify.unit.empty()) {
        return {std::nullopt, notify.sync, place};
    }
    const std::optional<Interrupt> interrupt = interrupt_from_name(notify.unit);
    if (!interrupt) {
        throw ConfigError(place, fmt::format("unknown interrupt {}", notify.unit),
                          "give a unit and its register group, e.g. SDP_0");
    }
    return {interrupt, notify.sync, place};
}

}  // namespace npuscope
