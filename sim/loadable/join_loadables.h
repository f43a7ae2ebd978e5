// SPDX-License-Identifier: Apache-2.0
// Loadables of the parts of one model as one: a task and a submit for each part, in their order. Memories,
// addresses, tensors and events of a part come after those of the parts before it; so do the numbers by
// which a user binds its inputs and outputs.
#pragma once

#include <vector>

#include "sim/loadable/loadable.h"

namespace npuscope {

/// One part comes back as it is.
Loadable join_loadables(std::vector<Loadable> parts);

}  // namespace npuscope
