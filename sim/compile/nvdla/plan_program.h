// SPDX-License-Identifier: Apache-2.0
// A plan as the host's program: load images, write registers, enable, wait for interrupts.
//
// Both register groups of every block are used in turn. An operation's registers are written while
// the previous one runs; it is enabled as soon as the operations that it depends on have raised
// their interrupts, at once where there are none. A register is written only if its group holds a
// different value.
#pragma once

#include <vector>

#include "models/base/register_map.h"
#include "sim/compile/nvdla/plan.h"
#include "sim/program/program.h"

namespace npuscope {

/// All blocks of an operation, consumers first, as they are enabled.
std::vector<RegisterValues> operation_registers(const Operation& operation);

/// Takes the plan's images.
Program plan_program(Plan plan);

/// The id that the interrupt at the end of this operation raises.
std::string sync_name(std::size_t operation);

// What a planned program is expected to leave in memory: a CRC for the result of every layer,
// compared when the layer's last interrupt has arrived, before its bytes are reused.

/// A layer's bytes, gaps included, and the id after which they are complete.
struct ExpectedResult {
    std::string layer;
    std::string sync;
    Address address;
    Bytes bytes;
    MemoryPort memory = MemoryPort::Primary;
};

/// In the order of the layers.
std::vector<ExpectedResult> expected_results(const Plan& plan);

/// Puts a statement after the one that raises an id; an internal error where there is none.
void insert_after(Program& program, const std::string& sync, Statement statement);

/// Adds a comparison for every result; their places are the result numbers, starting at 1. `crcs`:
/// one for each result, or none: zeros.
void add_expectations(Program& program, const std::vector<ExpectedResult>& results,
                      const std::vector<std::uint32_t>& crcs);

/// The surfaces of a plan by name: inputs, results of layers, and images of weights and operands. A
/// result is valid from a layer's last interrupt on, until its memory is reused.
std::vector<NamedSurface> plan_surfaces(const Plan& plan);

}  // namespace npuscope
