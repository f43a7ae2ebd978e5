// SPDX-License-Identifier: Apache-2.0
// The only place where cycles meet sc_time: the machine has one clock, and a cycle is a thousand
// steps of the kernel's resolution. What a cycle is worth in seconds is left to the reports.
#pragma once

#include <systemc>

#include "models/base/quantity.h"

namespace npuscope {

inline constexpr std::uint64_t kernel_steps_per_cycle = 1000;

inline sc_core::sc_time to_time(Cycles cycles) {
    return sc_core::sc_time::from_value(cycles.value * kernel_steps_per_cycle);
}
inline Cycles to_cycles(const sc_core::sc_time& time) {
    return Cycles(time.value() / kernel_steps_per_cycle);
}
inline Cycles now() { return to_cycles(sc_core::sc_time_stamp()); }

// Runs the SystemC kernel; the only call of sc_start. The kernel leaves AddressSanitizer with the
// stack of its last thread, after which every exception on the caller's stack looks like an
// overflow: where the sanitizer is built in, it is told that the caller's stack is active again.

/// Runs until `limit` has passed or no event is left.
void advance(const sc_core::sc_time& limit);

}  // namespace npuscope
