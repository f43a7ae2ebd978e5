// SPDX-License-Identifier: Apache-2.0
// The registers of the whole convolution pipeline, block by block, as the parts of one job.
#pragma once

#include <optional>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/base/register_map.h"
#include "models/conv/conv_job.h"

namespace npuscope {

/// The registers of the blocks that launch together.
struct ConvRegisters {
    const RegisterValues& cdma;
    const RegisterValues& csc;
    const RegisterValues& cmac_a;
    const RegisterValues& cmac_b;
    const RegisterValues& cacc;
};

/// Nothing where a register is refused. Whether the parts agree says `combine`.
std::optional<ConvParts> decode_conv(const ConvRegisters& registers, const ConvFeatures& features,
                                     Diagnostics& findings);

/// NVDLA_CACC, CMAC_A, CMAC_B, CSC, CDMA, in the order in which they are enabled. `output` is where
/// the SDP writes; features or pixels of int8 only.
std::vector<RegisterValues> encode_conv(const ConvParts& parts, const FeatureCube& output);

}  // namespace npuscope
