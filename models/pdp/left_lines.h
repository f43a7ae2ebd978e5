// SPDX-License-Identifier: Apache-2.0
// Lines of input after the end of the last window. The PDP ends its operation with the last result;
// the remaining input passes it under the registers of the other group, whose sizes differ, and its
// counters of lines and columns do not return to zero: the next operation stalls. Whether it does
// depends on what both groups hold, so that it is reported and not computed.
// source: nv_small RTL, NV_NVDLA_PDP_CORE_cal2d.v wr_line_dat_cnt, replayed
#pragma once

#include <optional>
#include <string>

#include "models/base/diagnostic.h"
#include "models/pdp/pdp_job.h"

namespace npuscope {

/// The warning `lines_left` at NVDLA_PDP.D_DATA_CUBE_IN_HEIGHT about the operation `name`, for when
/// another pooling follows it; nothing where no line is left.
std::optional<Diagnostic> lines_left(const PdpJob& job, const std::string& name);

}  // namespace npuscope
