// SPDX-License-Identifier: Apache-2.0
// What can contradict what among the registers of one convolution. Every contradiction is a finding
// that names both registers, or the register and the value that the rest of the job asks for.
#pragma once

#include <vector>

#include "models/base/diagnostic.h"
#include "models/conv/conv_job.h"
#include "models/conv/csc_config.h"

namespace npuscope {

/// What a launch of registers that agree is told all the same: the sequencer does not compute what
/// they ask for. `entry`: of the convolution buffer.
std::vector<Diagnostic> launch_findings(const ConvJob& job, const CscConfig& config,
                                        const DatapathConfig& datapath, Bytes entry);

std::vector<Diagnostic> contradictions(const ConvJob& job, const ConvFeatures& features);

}  // namespace npuscope
