// SPDX-License-Identifier: Apache-2.0
// A layer of a model that the NPU does not take, as results list it.
#pragma once

#include <string>

#include "models/base/diagnostic.h"

namespace npuscope {

struct RefusedLayer {
    std::string layer;
    std::string pattern;
    Diagnostics problems;       ///< each names its node as the operation
    bool partly_taken = false;  ///< all but its residual runs on the NPU
};

}  // namespace npuscope
