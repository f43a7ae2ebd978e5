// SPDX-License-Identifier: Apache-2.0
#include "models/link/activity.h"

namespace npuscope {

void Activity::spend(Cycles cycles) {
    statistics_.busy += cycles;
    if (cycles > Cycles(0)) {
        sc_core::wait(to_time(cycles));
    }
}

void Activity::begin_wait(WaitKind kind, const std::string& what) {
    waiting_ = true;
    kind_ = kind;
    what_ = what;
    since_ = now();
}

void Activity::end_wait() {
    waiting_ = false;
    const Cycles waited = now() - since_;
    if (kind_ == WaitKind::Starved) {
        statistics_.starved += waited;
    } else if (kind_ == WaitKind::Blocked) {
        statistics_.blocked += waited;
    }
}

void Activity::wait_for(const sc_core::sc_event& event, WaitKind kind, const std::string& what) {
    begin_wait(kind, what);
    sc_core::wait(event);
    end_wait();
}

void Activity::wait_until(Cycles time, WaitKind kind, const std::string& what) {
    if (time <= now()) {
        return;
    }
    begin_wait(kind, what);
    sc_core::wait(to_time(time - now()));
    end_wait();
}

void Activity::wait_for_until(const sc_core::sc_event& event, Cycles time, WaitKind kind,
                              const std::string& what) {
    begin_wait(kind, what);
    sc_core::wait(to_time(time - now()), event);
    end_wait();
}

}  // namespace npuscope
