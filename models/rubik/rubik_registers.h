// SPDX-License-Identifier: Apache-2.0
// The registers of NVDLA_RBK as one job; what does not fit together is refused. What the job means
// for checks and proofs: its surfaces, its result as values and in words.
// source: NVDLA register specification, NVDLA_RBK.rdl
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/base/register_map.h"
#include "models/layout/plain_surface.h"
#include "models/layout/surface_use.h"
#include "models/rubik/rubik_job.h"

namespace npuscope {

extern const RegisterBlock rbk_block;

/// Nothing if a register is refused.
std::optional<RubikJob> decode_rubik(const RegisterValues& rubik, const RubikConfig& config,
                                     const DatapathConfig& datapath, Diagnostics& findings);

/// The registers from which decode_rubik makes this job.
RegisterValues encode_rubik(const RubikJob& job);

/// First and last line of both sides.
std::vector<SurfaceUse> surfaces_of(const RubikJob& job);

/// What it leaves in memory, element by element from the formulas of rubik_job.h.
PlainSurface plain_result(const ElementReader& read, const RubikJob& job);
/// The same in words.
std::string meaning_of(const RubikJob& job);

}  // namespace npuscope
