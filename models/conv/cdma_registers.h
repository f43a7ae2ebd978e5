// SPDX-License-Identifier: Apache-2.0
// The registers of NVDLA_CDMA, the convolution DMA: which surface to fetch, how to convert it,
// where the weights lie. Registers that the mode does not use may hold anything.
#pragma once

#include <optional>

#include "models/base/diagnostic.h"
#include "models/base/register_map.h"
#include "models/conv/conv_job.h"

namespace npuscope {

extern const RegisterBlock cdma_block;

/// Misaligned addresses and strides are reported and rounded down; nothing where a register asks
/// for what the machine does not do.
std::optional<CdmaJob> decode_cdma(const RegisterValues& registers, const ConvFeatures& features,
                                   Diagnostics& findings);

/// Of int8 input. `csc`: what the sequencer is told of the same operation, for the registers that
/// say it to both.
RegisterValues encode_cdma(const CdmaJob& job, const CscJob& csc);

}  // namespace npuscope
