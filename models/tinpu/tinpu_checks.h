// SPDX-License-Identifier: Apache-2.0
// Whether a layer that somebody else described is one that the unit can run: sizes, windows and
// ranges that agree with each other.
#pragma once

#include "models/tinpu/tinpu_job.h"

namespace npuscope {

/// ConfigError names the field that is wrong, what it is and what it may be. Of the weights, only
/// their width is looked at: their shape follows from the rest.
void check_layer(const TinpuJob& job);

}  // namespace npuscope
