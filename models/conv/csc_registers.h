// SPDX-License-Identifier: Apache-2.0
// The registers of NVDLA_CSC, the convolution sequence controller.
#pragma once

#include <optional>

#include "models/base/diagnostic.h"
#include "models/base/register_map.h"
#include "models/conv/conv_job.h"

namespace npuscope {

extern const RegisterBlock csc_block;

/// Nothing where a register is refused; `findings` says which.
std::optional<CscJob> decode_csc(const RegisterValues& registers, const ConvFeatures& features,
                                 Diagnostics& findings);

RegisterValues encode_csc(const CscJob& job);

}  // namespace npuscope
