// SPDX-License-Identifier: Apache-2.0
// One thread of a unit, and where its cycles go. Every wait of the machine goes through it and is
// counted once: busy, starved (no input yet) or blocked (the consumer has no room), with the name
// of what it waits for, so that a stopped machine can report who waits for what, and since when.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <systemc>

#include "models/base/fingerprint.h"
#include "models/base/quantity.h"
#include "models/base/statistics.h"
#include "models/link/clock.h"

namespace npuscope {

// Receives what the machine did when, e.g. for a timeline. Activities report their work and waits,
// stores their contents. Without a recorder nothing is reported, at no cost.

/// `Ahead`: an activity that computes what happens later waits for another to catch up; its waits
/// in simulated time are counted with their own spans.
enum class WaitKind { Idle, Starved, Blocked, Ahead };

class Recorder {
 public:
    virtual ~Recorder() = default;

    struct Span {
        Cycles begin;
        Cycles end;
    };
    virtual void worked(const std::string& activity, Span span) = 0;
    /// `what` is the event, package or credit that was missing.
    virtual void waited(const std::string& activity, WaitKind kind, std::string_view what,
                        Span span) = 0;
    /// A count changes by `change` at `time`, which may be in the future.
    virtual void counted(const std::string& counter, Cycles time, std::int64_t change) = 0;
    /// A count restarts from `value` at `time`.
    virtual void restarted(const std::string& counter, Cycles time, std::int64_t value) = 0;
};

class Activity {
 public:
    explicit Activity(std::string name) : name_(std::move(name)) {}

    /// Work for this many cycles.
    void spend(Cycles cycles);
    /// Lets time pass that is already counted.
    void pass_until(Cycles time);
    /// Wait for an event; `what` names it in a deadlock report.
    void wait_for(const sc_core::sc_event& event, WaitKind kind, std::string_view what);
    /// The same for the first of two events.
    void wait_for(const sc_core::sc_event& one, const sc_core::sc_event& other, WaitKind kind,
                  std::string_view what);
    /// Wait until a time, or not at all when it has passed.
    void wait_until(Cycles time, WaitKind kind, std::string_view what);

    /// Work whose cycles pass elsewhere, in a neighbour's waiting or in pass_until.
    void count_busy(Recorder::Span span);
    /// Waits that pass in the same way, or in a call of the memory interface.
    void count_blocked(Recorder::Span span, const char* what);
    void count_starved(Recorder::Span span, const char* what);
    /// From now on `recorder` is notified of work and waits; null ends that.
    void record_to(Recorder* recorder) { recorder_ = recorder; }

    const std::string& name() const { return name_; }
    const UnitStatistics& statistics() const { return statistics_; }
    bool waiting() const { return waiting_; }
    bool idle() const { return waiting_ && kind_ == WaitKind::Idle; }
    std::string_view waits_for() const { return what_; }
    Cycles waits_since() const { return since_; }
    /// It resumes at a future time, whatever the others do, and has slept since `time`.
    bool sleeps_since(Cycles time) const { return sleeps_until_ > now() && slept_since_ <= time; }
    void add_state(Fingerprint& state) const;
    /// `cycles` pass without being simulated: `more` is counted as if they were, and a wait that
    /// began at `since` or before lasts through all of them.
    void leave_out(const UnitStatistics& more, Cycles since, Cycles cycles);

 private:
    void begin_wait(WaitKind kind, std::string_view what);
    void end_wait();
    void sleep_until(Cycles time);

    std::string name_;
    UnitStatistics statistics_;
    bool waiting_ = false;
    WaitKind kind_ = WaitKind::Idle;
    std::string_view what_;  // the name of what it waits for
    Cycles since_;
    Cycles slept_since_;
    Cycles sleeps_until_;
    Recorder* recorder_ = nullptr;
};

}  // namespace npuscope
