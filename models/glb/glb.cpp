// SPDX-License-Identifier: Apache-2.0
#include "models/glb/glb.h"

#include "models/link/clock.h"

namespace npuscope {

Glb::Glb(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {}

void Glb::raise(Interrupt interrupt) {
    controller_.raise(interrupt);
    last_raised_ = now();
    unmasked_raises_ += controller_.masked(interrupt) ? 0U : 1U;
    raised_.notify(sc_core::SC_ZERO_TIME);
    changed();
}

void Glb::changed() {
    if (controller_.line()) {
        raised_.notify(sc_core::SC_ZERO_TIME);
    }
    if (listener_) {
        listener_(controller_.line());
    }
}

}  // namespace npuscope
