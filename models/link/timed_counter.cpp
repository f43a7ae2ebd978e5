// SPDX-License-Identifier: Apache-2.0
#include "models/link/timed_counter.h"

#include <algorithm>

namespace npuscope {

void TimedCounter::add_at(Cycles time, std::uint64_t amount) {
    if (!announced_.empty()) {
        time = std::max(time, announced_.back().time);
    }
    announced_.push_back({time, amount});
    changed_.notify(sc_core::SC_ZERO_TIME);
}

void TimedCounter::mature() {
    const Cycles time = now();
    while (!announced_.empty() && announced_.front().time <= time) {
        value_ += announced_.front().amount;
        announced_.pop_front();
    }
}

void TimedCounter::wait_for(Activity& waiter, std::uint64_t amount, WaitKind kind) {
    mature();
    while (value_ < amount) {
        std::uint64_t reached = value_;
        const auto enough = std::ranges::find_if(announced_, [&](const Announced& step) {
            reached += step.amount;
            return reached >= amount;
        });
        if (enough == announced_.end()) {
            waiter.wait_for(changed_, kind, name_);
        } else {
            waiter.wait_until(enough->time, kind, name_);
        }
        mature();
    }
}

void TimedCounter::take(Activity& taker, std::uint64_t amount, WaitKind kind) {
    wait_for(taker, amount, kind);
    value_ -= amount;
}

void TimedCounter::reset(std::uint64_t value) {
    announced_.clear();
    value_ = value;
    changed_.notify(sc_core::SC_ZERO_TIME);
}

std::uint64_t TimedCounter::value() {
    mature();
    return value_;
}

}  // namespace npuscope
