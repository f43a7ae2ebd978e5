// SPDX-License-Identifier: Apache-2.0
// When each layer and each operator of the host ran, as the other programs' timelines show it: one
// lane for the NPU and one for the host, and where the run kept them, lanes for the unit's stages.
#pragma once

#include <string>

#include "sim/report/layer_report.h"

namespace npuscope {

std::string layer_timeline(const LayerResult& result);

}  // namespace npuscope
