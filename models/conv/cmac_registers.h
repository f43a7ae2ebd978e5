// SPDX-License-Identifier: Apache-2.0
// The registers of NVDLA_CMAC_A and NVDLA_CMAC_B, the halves of the MAC array.
#pragma once

#include <optional>

#include "models/base/diagnostic.h"
#include "models/base/register_map.h"
#include "models/conv/conv_job.h"

namespace npuscope {

extern const RegisterBlock cmac_a_block;
extern const RegisterBlock cmac_b_block;

/// Nothing where a register is refused; `findings` says which.
std::optional<CmacJob> decode_cmac(const RegisterValues& registers, const ConvFeatures& features,
                                   Diagnostics& findings);

/// `block`: cmac_a_block or cmac_b_block.
RegisterValues encode_cmac(const RegisterBlock& block, const CmacJob& job);

}  // namespace npuscope
