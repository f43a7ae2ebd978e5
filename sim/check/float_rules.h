// SPDX-License-Identifier: Apache-2.0
// fp16 values pass the convertors and shifters of integers unchanged: what their registers ask for
// has no effect. A warning for each register that would change integers; an offset or a shift of 0
// and a scale of 1, or of 0, the reset value, ask for nothing.
// source: nv_full C model, compared by running
#pragma once

#include "models/base/diagnostic.h"
#include "models/npu/pipelines.h"

namespace npuscope {

void add_ignored_conversions(const ConvJob& job, Diagnostics& findings);
void add_ignored_conversions(const SdpJob& job, Diagnostics& findings);
void add_ignored_conversions(const CdpJob& job, Diagnostics& findings);
/// Units that convert nothing.
template <class Job>
void add_ignored_conversions(const Job& /*job*/, Diagnostics& /*findings*/) {}

}  // namespace npuscope
