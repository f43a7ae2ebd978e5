// SPDX-License-Identifier: Apache-2.0
// The registers of NVDLA_CACC, the convolution accumulator.
#pragma once

#include <optional>

#include "models/base/diagnostic.h"
#include "models/base/register_map.h"
#include "models/conv/conv_job.h"

namespace npuscope {

extern const RegisterBlock cacc_block;

/// Nothing where a register is refused; `findings` says which.
std::optional<CaccJob> decode_cacc(const RegisterValues& registers, const ConvFeatures& features,
                                   Diagnostics& findings);

/// `output`: where the SDP writes the result. The accumulator itself does not use it.
RegisterValues encode_cacc(const CaccJob& job, const FeatureCube& output);

}  // namespace npuscope
