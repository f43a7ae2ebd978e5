// SPDX-License-Identifier: Apache-2.0
// What can contradict what among the registers of one convolution. Every contradiction is a finding
// that names both registers, or the register and the value that the rest of the job asks for.
#pragma once

#include <vector>

#include "models/base/diagnostic.h"
#include "models/conv/conv_job.h"

namespace npuscope {

std::vector<Diagnostic> contradictions(const ConvJob& job, const ConvFeatures& features);

}  // namespace npuscope
