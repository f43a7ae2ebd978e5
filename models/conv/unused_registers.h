// SPDX-License-Identifier: Apache-2.0
// Registers of NVDLA_CSC that the sequencer does not use, since the DMA does: IN_PRECISION; of
// images PAD_LEFT, and dilation, which they lack. A value that contradicts the DMA's changes nothing
// and is seldom meant. source: nv_small RTL; nv_full C model, whose programs have PROC_PRECISION in
// IN_PRECISION as well
#pragma once

#include <vector>

#include "models/base/diagnostic.h"
#include "models/base/register_map.h"
#include "models/conv/conv_job.h"

namespace npuscope {

/// Warnings at NVDLA_CSC. `csc`: the registers of its group.
std::vector<Diagnostic> unused_register_findings(const ConvJob& job, const RegisterValues& csc);

}  // namespace npuscope
