// SPDX-License-Identifier: Apache-2.0
#include "models/link/activity.h"

#include "models/base/counters.h"

namespace npuscope {

void Activity::spend(Cycles cycles) {
    statistics_.busy += cycles;
    if (recorder_ != nullptr && cycles > Cycles(0)) {
        recorder_->worked(name_, {now(), now() + cycles});
    }
    if (cycles > Cycles(0)) {
        sleep_until(now() + cycles);
    }
}

void Activity::count_busy(Recorder::Span span) {
    statistics_.busy += span.end - span.begin;
    if (recorder_ != nullptr && span.begin < span.end) {
        recorder_->worked(name_, span);
    }
}

void Activity::count_blocked(Recorder::Span span, const char* what) {
    statistics_.blocked += span.end - span.begin;
    if (recorder_ != nullptr && span.begin < span.end) {
        recorder_->waited(name_, WaitKind::Blocked, what, span);
    }
}

void Activity::count_starved(Recorder::Span span, const char* what) {
    statistics_.starved += span.end - span.begin;
    if (recorder_ != nullptr && span.begin < span.end) {
        recorder_->waited(name_, WaitKind::Starved, what, span);
    }
}

void Activity::pass_until(Cycles time) {
    if (time > now()) {
        sleep_until(time);
    }
}

void Activity::sleep_until(Cycles time) {
    slept_since_ = now();
    sleeps_until_ = time;
    sc_core::wait(to_time(time - slept_since_));
}

void Activity::add_state(Fingerprint& state) const {
    state.add(waiting_ ? 1U + static_cast<std::uint64_t>(kind_) : 0U);
    state.add_coming(sleeps_until_);
}

void Activity::leave_out(const UnitStatistics& more, Cycles since, Cycles cycles) {
    add_counters(statistics_, more);
    if (waiting_ && since_ <= since && kind_ == WaitKind::Starved) {
        statistics_.starved += cycles;
    } else if (waiting_ && since_ <= since && kind_ == WaitKind::Blocked) {
        statistics_.blocked += cycles;
    }
}

void Activity::begin_wait(WaitKind kind, std::string_view what) {
    waiting_ = true;
    kind_ = kind;
    what_ = what;
    since_ = now();
}

void Activity::end_wait() {
    waiting_ = false;
    const Cycles waited = now() - since_;
    if (recorder_ != nullptr && waited > Cycles(0) && kind_ != WaitKind::Ahead) {
        recorder_->waited(name_, kind_, what_, {since_, now()});
    }
    if (kind_ == WaitKind::Starved) {
        statistics_.starved += waited;
    } else if (kind_ == WaitKind::Blocked) {
        statistics_.blocked += waited;
    }
}

void Activity::wait_for(const sc_core::sc_event& event, WaitKind kind, std::string_view what) {
    begin_wait(kind, what);
    sc_core::wait(event);
    end_wait();
}

void Activity::wait_for(const sc_core::sc_event& one, const sc_core::sc_event& other, WaitKind kind,
                        std::string_view what) {
    begin_wait(kind, what);
    sc_core::wait(one | other);
    end_wait();
}

void Activity::wait_until(Cycles time, WaitKind kind, std::string_view what) {
    if (time <= now()) {
        return;
    }
    begin_wait(kind, what);
    sleep_until(time);
    end_wait();
}

}  // namespace npuscope
