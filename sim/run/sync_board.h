// SPDX-License-Identifier: Apache-2.0
// Which interrupts are awaited: notifications of a program in order, the ids they raise, and when,
// and the checks that wait for an id. An interrupt serves the oldest notification that names its
// unit and group.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "models/base/error.h"
#include "models/base/quantity.h"
#include "models/glb/interrupt.h"
#include "sim/program/program.h"

namespace npuscope {

class SyncBoard {
 public:
    struct Awaited {
        std::optional<Interrupt> interrupt;  ///< nothing: any
        std::string sync;
        Place place;
    };

    void expect(Awaited awaited) { awaited_.push_back(std::move(awaited)); }
    /// The interrupt that is awaited under an id is to raise another one.
    void expect_instead(const std::string& sync, const std::string& later, const Place& place) {
        for (Awaited& awaited : awaited_) {
            if (awaited.sync == sync) {
                awaited.sync = later;
                awaited.place = place;
            }
        }
    }
    /// Interrupts that are awaited, oldest first.
    const std::deque<Awaited>& awaited() const { return awaited_; }
    /// The oldest notification for this interrupt, removed from the list; its id is raised.
    std::optional<Awaited> serve(Interrupt interrupt, Cycles time);
    void raise(const std::string& sync, Cycles time) { raised_[sync] = time; }
    bool raised(const std::string& sync) const { return raised_.contains(sync); }
    std::optional<Cycles> raised_at(const std::string& sync) const {
        const auto found = raised_.find(sync);
        return found == raised_.end() ? std::nullopt : std::optional(found->second);
    }

    /// Makes the check of the program's n-th statement as soon as the id is raised; now if it is
    /// raised or empty.
    void when_raised(const std::string& sync, std::size_t statement, std::function<void()> check);
    /// Makes the checks whose id has been raised.
    void make_checks();
    /// Statements whose check waits for its id.
    std::vector<std::size_t> waiting_checks() const;

    /// Nothing is expected of this id: it does not count as the end of the program's work.
    void ignore(const std::string& sync) { ignored_.insert(sync); }
    bool ignores(const std::string& sync) const { return ignored_.contains(sync); }
    /// When the newest id that counts was raised.
    std::optional<Cycles> last_raised() const;

 private:
    struct WaitingCheck {
        std::string sync;
        std::size_t statement = 0;
        std::function<void()> make;
    };

    std::deque<Awaited> awaited_;
    std::vector<WaitingCheck> waiting_;
    std::map<std::string, Cycles> raised_;
    std::set<std::string> ignored_;
};

/// What a statement at `place` awaits. ConfigError where there is no such interrupt.
SyncBoard::Awaited awaited_by(const NotifyOnInterrupt& notify, const Place& place);

}  // namespace npuscope
