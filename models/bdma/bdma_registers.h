// SPDX-License-Identifier: Apache-2.0
// The registers of NVDLA_BDMA as one copy, decoded when CFG_OP is written. What the copy means for
// checks and proofs: its surfaces, its result as values and in words.
// source: NVDLA register specification, NVDLA_BDMA.rdl
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/base/register_map.h"
#include "models/bdma/bdma_job.h"
#include "models/layout/plain_surface.h"
#include "models/layout/surface_use.h"

namespace npuscope {

extern const RegisterBlock bdma_block;

/// Nothing if a register is refused.
std::optional<BdmaJob> decode_bdma(const RegisterValues& bdma, const BdmaConfig& config,
                                   Bytes memory_atom, Diagnostics& findings);

/// The registers from which decode_bdma makes this copy.
RegisterValues encode_bdma(const BdmaJob& job, Bytes memory_atom);

/// A launch of a group without a command: no interrupt follows.
/// source: nv_full RTL, NV_NVDLA_BDMA_csb.v
Diagnostic empty_launch(unsigned group);

/// First and last line of both sides of a copy.
std::vector<SurfaceUse> surfaces_of(const BdmaJob& job);

/// What it leaves in memory: bytes as elements of the shape surfaces x lines x bytes of a line.
PlainSurface plain_result(const ElementReader& read, const BdmaJob& job);
/// The same in words.
std::string meaning_of(const BdmaJob& job);

}  // namespace npuscope
