// SPDX-License-Identifier: Apache-2.0
// Convolutions whose whole result fits into the accumulator's delivery buffer after the end of the
// one before: both ends may then be there at one time, and where one enters in the cycle in which
// the other leaves, the marks of ends go wrong (models/link/atom_run.h).
#pragma once

#include <cstdint>
#include <string>

#include "models/base/diagnostic.h"
#include "models/conv/conv_job.h"

namespace npuscope {

/// Atoms that the convolution hands to the SDP: outputs x kernel groups.
std::uint64_t delivered_atoms(const ConvJob& job);

/// A warning of kind `ends_meet` at NVDLA_CACC.D_DATAOUT_SIZE_0:
/// `the last of its 10 atoms (D_DATAOUT_SIZE_0 is 0x10004, 1 kernel group) <what>`.
Diagnostic ends_meet(const ConvJob& job, const std::string& what);

}  // namespace npuscope
