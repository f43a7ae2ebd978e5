// SPDX-License-Identifier: Apache-2.0
// Runs little scenes in the SystemC kernel: each scene is a thread with its own activity.
#pragma once

#include <functional>
#include <string>
#include <systemc>

#include "models/link/clock.h"
#include "models/link/unit.h"

namespace npuscope {

/// A unit whose threads are given by the test; each runs its body once.
class Scene : public Unit {
 public:
    explicit Scene(const sc_core::sc_module_name& name = "scene") : Unit(name) {}

    void thread(const std::string& name, const std::function<void(Activity&)>& body) {
        repeat(name, [body, this](Activity& activity) {
            body(activity);
            activity.wait_for(never_, WaitKind::Idle, "nothing");
        });
    }
    /// Runs until nothing happens any more; throws on what a thread threw.
    void run() {
        advance(sc_core::sc_max_time() - sc_core::sc_time_stamp());
        if (failure()) {
            std::rethrow_exception(failure());
        }
    }

 private:
    sc_core::sc_event never_;
};

}  // namespace npuscope
