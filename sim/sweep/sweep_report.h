// SPDX-License-Identifier: Apache-2.0
// A sweep's results as text: how many designs have a result, which are the best, and why others
// have none.
#pragma once

#include <string>

#include "sim/config/text_table.h"
#include "sim/sweep/sweep.h"

namespace npuscope {

std::string sweep_report(const Space& space, const SweepDatabase& database, const SweepCount& count,
                         const std::string& name, std::size_t width = report_width);

/// A sweep's results for the page of a report: points with their axes, causes and costs; the front,
/// and the layers of the designs on it.
Json sweep_data(const Space& space, const SweepDatabase& database, const std::string& name);

}  // namespace npuscope
