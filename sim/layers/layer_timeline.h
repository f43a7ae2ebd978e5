// SPDX-License-Identifier: Apache-2.0
// When each layer and each operator of the host ran, as the other programs' timelines show it: one
// lane for the NPU and one for the host, and lanes for the parts of a layer. Products and feature
// maps overlap, so that theirs do.
#pragma once

#include <string>

#include "sim/layers/layer_report.h"

namespace npuscope {

std::string layer_timeline(const LayerResult& result);

}  // namespace npuscope
