// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "models/base/diagnostic.h"
#include "models/npu/register_blocks.h"
#include "sim/program/program.h"

namespace npuscope {

/// The write starts an operation: an op-enable, or the launch of a BDMA's commands.
bool starts_operation(const WriteRegister& write);
/// Whether interrupts are to be unmasked before the first statement, as a trace player does: some
/// are awaited, and no statement writes the mask, whose address is given.
bool needs_unmasking(std::span<const Statement> statements, std::uint32_t mask);
/// Where the statements last write the register that a finding is about, in its register group.
std::optional<Place> last_write(std::span<const Statement> statements, AddressMap map,
                                const Diagnostic& finding);

}  // namespace npuscope
