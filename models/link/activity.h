// SPDX-License-Identifier: Apache-2.0
// One thread of a unit, and where its cycles go. Every wait of the machine passes here and is
// counted once: busy, starved (no input yet) or blocked (the consumer has no room), with the name
// of what it waits for, so that a machine that stopped can say who waits for what, since when.
#pragma once

#include <string>
#include <systemc>

#include "models/base/statistics.h"
#include "models/link/clock.h"

namespace npuscope {

enum class WaitKind { Idle, Starved, Blocked };

class Activity {
 public:
    explicit Activity(std::string name) : name_(std::move(name)) {}

    /// Work for so many cycles.
    void spend(Cycles cycles);
    /// Wait for an event; `what` names it in a deadlock report.
    void wait_for(const sc_core::sc_event& event, WaitKind kind, const std::string& what);
    /// Wait until a time, or not at all when it has passed.
    void wait_until(Cycles time, WaitKind kind, const std::string& what);
    /// Wait for an event, at most until a time.
    void wait_for_until(const sc_core::sc_event& event, Cycles time, WaitKind kind,
                        const std::string& what);

    /// Cycles that passed inside a transport call, held by the memory interface.
    void count_blocked(Cycles cycles) { statistics_.blocked += cycles; }

    const std::string& name() const { return name_; }
    const UnitStatistics& statistics() const { return statistics_; }
    bool waiting() const { return waiting_; }
    bool idle() const { return waiting_ && kind_ == WaitKind::Idle; }
    const std::string& waits_for() const { return what_; }
    Cycles waits_since() const { return since_; }

 private:
    void begin_wait(WaitKind kind, const std::string& what);
    void end_wait();

    std::string name_;
    UnitStatistics statistics_;
    bool waiting_ = false;
    WaitKind kind_ = WaitKind::Idle;
    std::string what_;
    Cycles since_;
};

}  // namespace npuscope
