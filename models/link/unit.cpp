// SPDX-License-Identifier: Apache-2.0
#include "models/link/unit.h"

#include "models/base/counters.h"

/// The kernel's library needs this symbol although our programs have their own main; weak, so that
/// a test bench may provide a real one.
extern "C" __attribute__((weak, visibility("default"))) int sc_main(int /*argc*/,
                                                                    char* /*argv*/[]) {
    return 1;
}

namespace npuscope {

UnitStatistics Unit::statistics() const {
    UnitStatistics sum;
    for (const Activity& activity : activities_) {
        add_counters(sum, activity.statistics());
    }
    return sum;
}

void Unit::record_to(Recorder* recorder) {
    for (Activity& activity : activities_) {
        activity.record_to(recorder);
    }
}

Activity& Unit::add_activity(const std::string& name) {
    return activities_.emplace_back(std::string(this->name()) + "." + name);
}

void Unit::repeat(const std::string& name, std::function<void(Activity&)> body) {
    start_thread(add_activity(name), name, std::move(body));
}

void Unit::start_thread(Activity& activity, const std::string& name,
                        std::function<void(Activity&)> body) {
    const auto guarded = [this, &activity, work = std::move(body)] {
        try {
            while (true) {
                work(activity);
            }
        } catch (const sc_core::sc_unwind_exception&) {
            throw;  // the kernel ends the thread
        } catch (...) {
            failure_ = std::current_exception();
            sc_core::sc_pause();
        }
    };
    threads_.push_back(sc_core::sc_spawn(guarded, sc_core::sc_gen_unique_name(name.c_str())));
}

void Unit::kill_threads() {
    for (sc_core::sc_process_handle& thread : threads_) {
        if (thread.valid() && !thread.terminated()) {
            thread.kill();
        }
    }
}

}  // namespace npuscope
