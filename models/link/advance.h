// SPDX-License-Identifier: Apache-2.0
// Lets the SystemC kernel run; the only call of sc_start. The kernel leaves AddressSanitizer with
// the stack of its last thread, after which every exception on the caller's stack looks like an
// overflow: where that sanitizer is built in, it is told whose stack is back.
#pragma once

#include <systemc>

namespace npuscope {

/// Until `limit` has passed or nothing is left to happen.
void advance(const sc_core::sc_time& limit);

}  // namespace npuscope
