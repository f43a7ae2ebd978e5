// SPDX-License-Identifier: Apache-2.0
// Global unit: gathers the done interrupts of all units. The line and every new interrupt are
// events that a host, a test bench or a CPU model waits for. Registers reach it through the
// assembly.
#pragma once

#include <cstdint>
#include <systemc>

#include "models/base/quantity.h"
#include "models/glb/interrupt.h"
#include "models/link/clock.h"

namespace npuscope {

class Glb : public sc_core::sc_module {
 public:
    explicit Glb(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {}

    /// A unit has finished: its status bit rises now.
    void raise(Interrupt interrupt) {
        controller_.raise(interrupt);
        last_raised_ = now();
        unmasked_raises_ += controller_.masked(interrupt) ? 0U : 1U;
        raised_.notify(sc_core::SC_ZERO_TIME);
        changed();
    }

    InterruptController& controller() { return controller_; }
    const InterruptController& controller() const { return controller_; }
    /// Notified whenever a status bit rises, masked or not, and when a change of mask raises the
    /// line.
    const sc_core::sc_event& raised() const { return raised_; }
    /// Interrupts so far that were not masked when they rose.
    std::uint64_t unmasked_raises() const { return unmasked_raises_; }
    /// When the newest status bit rose.
    Cycles last_raised() const { return last_raised_; }
    /// Mask or status has changed.
    void changed() {
        if (controller_.line()) {
            raised_.notify(sc_core::SC_ZERO_TIME);
        }
    }

 private:
    InterruptController controller_;
    sc_core::sc_event raised_;
    Cycles last_raised_;
    std::uint64_t unmasked_raises_ = 0;
};

}  // namespace npuscope
