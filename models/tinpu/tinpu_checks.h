// SPDX-License-Identifier: Apache-2.0
// Whether a layer described by another program is one that the unit can run: sizes, windows and
// ranges that agree with each other. And whether the unit itself could work.
#pragma once

#include "models/tinpu/tinpu_config.h"
#include "models/tinpu/tinpu_job.h"

namespace npuscope {

/// ConfigError names the field that is wrong, what it is and what it may be. Of the weights, only
/// their width is looked at: their shape follows from the rest.
void check_layer(const TinpuJob& job);

/// ConfigError where a number of the configuration is 0 and must not be.
void check_engine(const TinpuConfig& config, Bytes bus_width);

}  // namespace npuscope
