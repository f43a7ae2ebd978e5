// SPDX-License-Identifier: Apache-2.0
// A plan as the host's program: load images, write registers, enable, wait for interrupts.
//
// Both register groups of every block are used in turn. An operation's registers are written while
// the one before it runs; it is enabled as soon as the operations that it depends on have raised
// their interrupts, at once where there are none. A register is written only when its group holds
// another value.
#pragma once

#include "sim/compile/nvdla/plan.h"
#include "sim/program/program.h"

namespace npuscope {

/// Takes the plan's images.
Program plan_program(Plan plan);

/// The interrupt that ends operation `i` raises this id.
std::string sync_name(std::size_t operation);

}  // namespace npuscope
