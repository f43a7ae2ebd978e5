// SPDX-License-Identifier: Apache-2.0
// Which element types the SDP turns into which: table 30 of NVDLA's format page for what it reads
// from memory, and what fits between accumulators and memory.
#pragma once

#include <optional>

#include "models/base/diagnostic.h"
#include "models/base/register_map.h"
#include "models/sdp/sdp_stages.h"

namespace npuscope {

struct SdpJob;

/// ConfigError: elements of two bytes leave as int8 only where the stages process int8. The
/// accumulators' int16 packed to int8 puts two neighbouring pixels into one atom.
/// source: nv_full C model; format page, "the same bit-depth"
void require_output_width(const RegisterValues& sdp, const SdpStages& stages);

/// ConfigError naming the cell of table 30 that is invalid. `input`: of SDP_RDMA.
void require_table_30(const RegisterValues& rdma, Precision input, const SdpStages& stages);

/// A note where the job is an invalid case of the table that hardware computes nevertheless.
std::optional<Diagnostic> conversion_note(const SdpJob& job);

}  // namespace npuscope
