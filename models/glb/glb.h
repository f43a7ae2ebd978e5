// SPDX-License-Identifier: Apache-2.0
// Global unit: gathers the done interrupts of all units. The line and every new interrupt are
// events that a host, a test bench or a CPU model waits for. Registers reach it through the
// assembly.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <systemc>

#include "models/base/quantity.h"
#include "models/glb/interrupt.h"
#include "models/link/clock.h"

namespace npuscope {

class Glb : public sc_core::sc_module {
    SC_HAS_PROCESS(Glb);

 public:
    explicit Glb(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {
        SC_METHOD(raise_due);
        dont_initialize();
        sensitive << due_;
    }

    /// A unit has finished: its status bit rises now.
    void raise(Interrupt interrupt) {
        if (last_raised_ != now()) {
            just_risen_ = 0;
        }
        just_risen_ |= (1U << interrupt_bit(interrupt)) & ~controller_.status();
        controller_.raise(interrupt);
        last_raised_ = now();
        raised_.notify(sc_core::SC_ZERO_TIME);
        changed();
    }
    /// It rises at `time`, or now where that has passed.
    void raise_at(Cycles time, Interrupt interrupt) {
        rising_.emplace(std::max(time, now()), interrupt);
        due_.notify(to_time(rising_.begin()->first - now()));
    }

    /// A status bit rises at a time that is still to come.
    bool awaits_rise() const { return !rising_.empty(); }

    /// What a read of an interrupt register brings: bits that rise in the present cycle are not seen
    /// before the next one.
    std::uint32_t shown(std::string_view register_name) const {
        const std::uint32_t value = controller_.read(register_name).value_or(0);
        const bool hides = register_name == "S_INTR_STATUS" && last_raised_ == now();
        return hides ? value & ~just_risen_ : value;
    }
    InterruptController& controller() { return controller_; }
    const InterruptController& controller() const { return controller_; }
    /// Notified whenever a status bit rises, masked or not, and when a change of mask raises the
    /// line.
    const sc_core::sc_event& raised() const { return raised_; }
    /// When the newest status bit rose.
    Cycles last_raised() const { return last_raised_; }
    /// Mask or status has changed.
    void changed() {
        if (controller_.line()) {
            raised_.notify(sc_core::SC_ZERO_TIME);
        }
    }

 private:
    void raise_due() {
        while (!rising_.empty() && rising_.begin()->first <= now()) {
            raise(rising_.begin()->second);
            rising_.erase(rising_.begin());
        }
        if (!rising_.empty()) {
            due_.notify(to_time(rising_.begin()->first - now()));
        }
    }

    InterruptController controller_;
    std::multimap<Cycles, Interrupt> rising_;
    sc_core::sc_event due_;
    std::uint32_t just_risen_ = 0;  // at `last_raised_`
    sc_core::sc_event raised_;
    Cycles last_raised_;
};

}  // namespace npuscope
