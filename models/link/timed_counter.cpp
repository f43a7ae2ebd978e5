// SPDX-License-Identifier: Apache-2.0
#include "models/link/timed_counter.h"

#include <algorithm>

#include "models/base/check.h"

namespace npuscope {
namespace {

Cycles time_of_unit(const TimedCounter::Series& series, std::uint64_t unit) {
    return series.first + series.interval * (unit - 1);
}

/// Whether `later` continues `series` at its interval; it is then part of it.
bool joins(TimedCounter::Series& series, const TimedCounter::Series& later) {
    const Cycles step = later.first - time_of_unit(series, series.count);
    if ((series.count > 1 && step != series.interval) ||
        (later.count > 1 && step != later.interval)) {
        return false;
    }
    series.interval = step;
    series.count += later.count;
    return true;
}

std::uint64_t units_until(const TimedCounter::Series& series, Cycles time) {
    if (series.first > time) {
        return 0;
    }
    if (series.interval == Cycles(0)) {
        return series.count;
    }
    return std::min(series.count, (time - series.first) / series.interval + 1);
}

}  // namespace

void TimedCounter::add_series(const Series& series) {
    if (series.count == 0) {
        return;
    }
    Series later = series;
    if (!announced_.empty()) {
        const Series& last = announced_.back();
        later.first = std::max(later.first, time_of_unit(last, last.count));
    }
    announced_total_ += later.count;
    if (announced_.empty() || !joins(announced_.back(), later)) {
        announced_.push_back(later);
    }
    tell();
}

std::optional<Cycles> TimedCounter::time_of(std::uint64_t amount) const {
    if (amount <= value_) {
        return Cycles(0);
    }
    std::uint64_t missing = amount - value_;
    for (const Series& series : announced_) {
        if (missing <= series.count) {
            return time_of_unit(series, missing);
        }
        missing -= series.count;
    }
    return std::nullopt;
}

void TimedCounter::remove(std::uint64_t amount) {
    const std::uint64_t old = std::min(amount, value_);
    value_ -= old;
    amount -= old;
    announced_total_ -= amount;
    while (amount > 0) {
        Series& series = announced_.front();
        const std::uint64_t part = std::min(amount, series.count);
        series.first += series.interval * part;
        series.count -= part;
        amount -= part;
        if (series.count == 0) {
            announced_.pop_front();
        }
    }
}

Cycles TimedCounter::take_announced(Activity& taker, std::uint64_t amount, WaitKind kind) {
    while (value_ + announced_total_ < amount) {
        awaited_ = amount;
        taker.wait_for(changed_, kind, name_);
        awaited_ = 0;
    }
    const std::optional<Cycles> time = time_of(amount);
    NPU_CHECK(time.has_value(), "what was announced has a time");
    remove(amount);
    return *time;
}

Cycles TimedCounter::take(Activity& taker, std::uint64_t amount, WaitKind kind) {
    const Cycles time = take_announced(taker, amount, kind);
    taker.wait_until(time, kind, name_);
    return time;
}

void TimedCounter::reset(std::uint64_t value) {
    announced_.clear();
    announced_total_ = 0;
    value_ = value;
    tell();
}

void TimedCounter::tell() {
    if (awaited_ > 0 && value_ + announced_total_ >= awaited_) {
        changed_.notify(sc_core::SC_ZERO_TIME);
    }
}

void TimedCounter::add_state(Fingerprint& state) const {
    state.add(value());
    state.add(awaited_);
    for (const Series& series : announced_) {
        const std::uint64_t there = units_until(series, state.moment());
        if (there < series.count) {
            state.add(time_of_unit(series, there + 1));
            state.add(series.interval.value);
            state.add(series.count - there);
        }
    }
}

std::uint64_t TimedCounter::value() const {
    std::uint64_t there = value_;
    for (const Series& series : announced_) {
        there += units_until(series, now());
    }
    return there;
}

}  // namespace npuscope
