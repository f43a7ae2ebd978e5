// SPDX-License-Identifier: Apache-2.0
// One axis of a space from its file: the fields that change, and the values of each choice, which
// are listed or numbers of a range.
#pragma once

#include "sim/config/config_node.h"
#include "sim/sweep/space.h"

namespace npuscope {

/// Without its formula `when`. ConfigError at the axis or one of its values.
Axis read_axis(const AxisSpec& spec, const ConfigNode& node);

}  // namespace npuscope
