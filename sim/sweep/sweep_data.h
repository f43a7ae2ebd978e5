// SPDX-License-Identifier: Apache-2.0
// What a sweep found, as the page of a report takes it.
#pragma once

#include <string>

#include "sim/sweep/sweep.h"

namespace npuscope {

/// Points with their axes, causes and costs; the front, and the layers of the designs on it.
Json sweep_data(const Space& space, const SweepDatabase& database, const std::string& name);

}  // namespace npuscope
