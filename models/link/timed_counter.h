// SPDX-License-Identifier: Apache-2.0
// A count that others raise and one activity takes from: entries of a buffer, credits. Amounts may
// be announced for later times, one after the other at a fixed interval, so that a fixed delay
// needs no separate event; a taker learns at what time its amount was complete.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <systemc>

#include "models/link/activity.h"

namespace npuscope {

class TimedCounter {
 public:
    /// `count` increments by one at `first`, `first + interval`, ...
    struct Series {
        Cycles first;
        Cycles interval;
        std::uint64_t count = 0;
    };
    explicit TimedCounter(std::string name, std::uint64_t initial = 0)
        : name_(std::move(name)), value_(initial) {}

    /// Adds `amount` at `time`, which is not before the time of an earlier call.
    void add_at(Cycles time, std::uint64_t amount) { add_series({time, Cycles(0), amount}); }
    void add(std::uint64_t amount) { add_at(now(), amount); }
    void add_series(const Series& series);
    /// Takes `amount` away as soon as it has been announced, and returns the time from which it is
    /// available; that may be in the future.
    Cycles take_announced(Activity& taker, std::uint64_t amount, WaitKind kind);
    /// Waits until the count is at least `amount`, then takes it away; returns the time at which it
    /// was complete.
    Cycles take(Activity& taker, std::uint64_t amount, WaitKind kind);
    /// Takes away `amount` of what has been announced, without waiting.
    void drop(std::uint64_t amount) { remove(amount); }
    /// Forgets everything: the count is `value` from now on.
    void reset(std::uint64_t value);
    /// The count now.
    std::uint64_t value() const;
    void add_state(Fingerprint& state) const;

 private:
    /// The time at which `amount` is available; `remove` then takes it away.
    std::optional<Cycles> time_of(std::uint64_t amount) const;
    void remove(std::uint64_t amount);
    void tell();

    std::string name_;
    std::uint64_t value_;  // available from the start
    std::deque<Series> announced_;
    std::uint64_t announced_total_ = 0;
    sc_core::sc_event changed_;
    std::uint64_t awaited_ = 0;  // by a taker, which is notified when it is announced
};

}  // namespace npuscope
