// SPDX-License-Identifier: Apache-2.0
// Lines of input behind the end of the last window. The PDP ends its operation with the last
// result; what is still to come passes it under the registers of the other group, whose sizes are
// others, and its counters of lines and columns do not come back to zero: the next operation stands
// still. Whether it does depends on what both groups hold, so that it is told of and not computed.
// source: nv_small RTL, NV_NVDLA_PDP_CORE_cal2d.v wr_line_dat_cnt, replayed
#pragma once

#include <optional>
#include <string>

#include "models/base/diagnostic.h"
#include "models/pdp/pdp_job.h"

namespace npuscope {

/// An operation that leaves lines, and the warning for when another one comes behind it.
struct LinesLeft {
    Diagnostic finding;  ///< `lines_left` at NVDLA_PDP.D_DATA_CUBE_IN_HEIGHT
    std::string remedy;

    /// The warning, now that the operation `next` comes.
    Diagnostic before(const std::string& next) const;
};

/// Nothing where no line is left.
std::optional<LinesLeft> lines_left(const PdpJob& job, const std::string& name);

}  // namespace npuscope
