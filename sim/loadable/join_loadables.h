// SPDX-License-Identifier: Apache-2.0
// Joins the loadables of the parts of one model: a task and a submit for each part, in order.
// Memories, addresses, tensors and events of a part come after those of the preceding parts; so do
// the numbers by which a user binds its inputs and outputs.
#pragma once

#include <vector>

#include "sim/loadable/loadable.h"

namespace npuscope {

/// A single part is returned unchanged.
Loadable join_loadables(std::vector<Loadable> parts);

}  // namespace npuscope
