// SPDX-License-Identifier: Apache-2.0
// A count that somebody raises and one activity waits for and takes from: entries of a buffer,
// credits. An amount may be announced for a later time, so that nobody needs an event of his own
// for a fixed delay.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <systemc>

#include "models/link/activity.h"

namespace npuscope {

class TimedCounter {
 public:
    explicit TimedCounter(std::string name, std::uint64_t initial = 0)
        : name_(std::move(name)), value_(initial) {}

    /// Adds `amount` at `time`, which is not before that of an earlier call.
    void add_at(Cycles time, std::uint64_t amount);
    void add(std::uint64_t amount) { add_at(now(), amount); }
    /// Waits until the count is at least `amount`, then takes it away.
    void take(Activity& taker, std::uint64_t amount, WaitKind kind);
    /// Waits until the count is at least `amount`.
    void wait_for(Activity& waiter, std::uint64_t amount, WaitKind kind);
    /// Forgets everything: the count is `value` from now on.
    void reset(std::uint64_t value);
    std::uint64_t value();

 private:
    struct Announced {
        Cycles time;
        std::uint64_t amount;
    };
    void mature();

    std::string name_;
    std::uint64_t value_;
    std::deque<Announced> announced_;
    sc_core::sc_event changed_;
};

}  // namespace npuscope
