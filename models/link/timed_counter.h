// SPDX-License-Identifier: Apache-2.0
// A count that others raise and one activity takes from: entries of a buffer, credits. Amounts
// may be announced for later times, one after the other at a fixed interval, so that none needs
// an event of his own for a fixed delay; who takes learns at what time his amount was complete.
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
    /// `count` times one at `first`, `first + interval`, ...
    struct Series {
        Cycles first;
        Cycles interval;
        std::uint64_t count = 0;
    };
    explicit TimedCounter(std::string name, std::uint64_t initial = 0)
        : name_(std::move(name)), value_(initial) {}

    /// Adds `amount` at `time`, which is not before that of an earlier call.
    void add_at(Cycles time, std::uint64_t amount) { add_series({time, Cycles(0), amount}); }
    void add(std::uint64_t amount) { add_at(now(), amount); }
    void add_series(const Series& series);
    /// Takes `amount` away as soon as it has been announced, and says from which time on it is
    /// there; that may be yet to come.
    Cycles take_announced(Activity& taker, std::uint64_t amount, WaitKind kind);
    /// Waits until the count is at least `amount`, then takes it away; the answer is the time at
    /// which it was complete.
    Cycles take(Activity& taker, std::uint64_t amount, WaitKind kind);
    /// Takes `amount` of what has been announced away, without a wait.
    void drop(std::uint64_t amount) { remove(amount); }
    /// Forgets everything: the count is `value` from now on.
    void reset(std::uint64_t value);
    /// What is there now.
    std::uint64_t value() const;
    void add_state(Fingerprint& state) const;

 private:
    /// The time at which `amount` is there, and with `remove` it is taken away.
    std::optional<Cycles> time_of(std::uint64_t amount) const;
    void remove(std::uint64_t amount);
    void tell();

    std::string name_;
    std::uint64_t value_;  // there since ever
    std::deque<Series> announced_;
    std::uint64_t announced_total_ = 0;
    sc_core::sc_event changed_;
    std::uint64_t awaited_ = 0;  // by a taker; he is told when it is announced
};

}  // namespace npuscope
