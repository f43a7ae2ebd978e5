// SPDX-License-Identifier: Apache-2.0
// What the order of operations leaves open: surfaces that share bytes, within one chain of units
// and between operations that may run at the same time, and short convolutions that do not wait for
// the one before, so that their ends may meet in the accumulator's delivery buffer
// (models/conv/conv_findings.h). Units of one kind work in order: what the last of them writes
// comes after everything that the operation before it did.
#pragma once

#include "models/base/diagnostic.h"
#include "sim/check/program_operations.h"

namespace npuscope {

/// Operation `index` has just been launched.
void check_overlaps(const ProgramOperations& operations, std::size_t index, DiagnosticLog& log);
void check_delivery(const ProgramOperations& operations, std::size_t index, DiagnosticLog& log);

}  // namespace npuscope
