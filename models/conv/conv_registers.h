// SPDX-License-Identifier: Apache-2.0
// The registers of the whole convolution pipeline, block by block, as the parts of one job.
#pragma once

#include <optional>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/base/register_map.h"
#include "models/conv/conv_config.h"
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

/// Nothing if a register is refused. `combine` tells whether the parts agree.
std::optional<ConvParts> decode_conv(const ConvRegisters& registers, const ConvFeatures& features,
                                     Diagnostics& findings);

/// NVDLA_CACC, CMAC_A, CMAC_B, CSC, CDMA, in the order in which they are enabled. `output` is where
/// the SDP writes; int8 features or pixels only.
std::vector<RegisterValues> encode_conv(const ConvParts& parts, const FeatureCube& output);

// The blocks one by one. Registers that the mode does not use may hold anything. Decoding returns
// nothing where a register is refused: `findings` says which.

extern const RegisterBlock cdma_block;
extern const RegisterBlock csc_block;
/// The same registers with sizes that may exceed their published fields, as encoded ones may.
const RegisterBlock& wide_cdma_block();
const RegisterBlock& wide_csc_block();
extern const RegisterBlock cmac_a_block;
extern const RegisterBlock cmac_b_block;
extern const RegisterBlock cacc_block;

/// The convolution DMA: misaligned addresses and strides are reported and rounded down.
std::optional<CdmaJob> decode_cdma(const RegisterValues& registers, const ConvFeatures& features,
                                   Diagnostics& findings);
std::optional<CscJob> decode_csc(const RegisterValues& registers, const ConvFeatures& features,
                                 Diagnostics& findings);
std::optional<CmacJob> decode_cmac(const RegisterValues& registers, const ConvFeatures& features,
                                   Diagnostics& findings);
std::optional<CaccJob> decode_cacc(const RegisterValues& registers, const ConvFeatures& features,
                                   Diagnostics& findings);

/// For int8 input. `csc`: the sequencer's part of the same operation, for registers that both units
/// have.
RegisterValues encode_cdma(const CdmaJob& job, const CscJob& csc);
RegisterValues encode_csc(const CscJob& job);
/// `block`: cmac_a_block or cmac_b_block.
RegisterValues encode_cmac(const RegisterBlock& block, const CmacJob& job);
/// `output`: where the SDP writes the result. The accumulator itself does not use it.
RegisterValues encode_cacc(const CaccJob& job, const FeatureCube& output);

/// Contradictions among the registers of one convolution. Each is a finding that names both
/// registers, or the register and the value that the rest of the job requires.
std::vector<Diagnostic> contradictions(const ConvJob& job, const ConvFeatures& features);

/// Columns and lines that the sequencer's windows cover, including the padding before them.
std::uint32_t reached_columns(const CscJob& csc);
std::uint32_t reached_lines(const CscJob& csc);

/// Direct mode: compares strides and padding in NVDLA_CDMA, which only the sequencer uses, with the
/// sequencer's own, and checks that all windows lie in the padded input. `cdma`: the registers of
/// its group.
std::vector<Diagnostic> window_findings(const ConvJob& job, const RegisterValues& cdma);

/// Findings at launch although the registers agree: the sequencer does not compute what they ask
/// for. `entry`: size of an entry of the convolution buffer.
std::vector<Diagnostic> launch_findings(const ConvJob& job, const CscConfig& config,
                                        const DatapathConfig& datapath, Bytes entry);

}  // namespace npuscope
