// SPDX-License-Identifier: Apache-2.0
// Which results of a plan go to the memory behind the second port. The rule: results that most
// layers read first, of those the larger, then the earlier ones; each is taken if it fits beside
// all taken before during the operations between which it must stay. A network's input and output
// and all constants stay where the host puts them.
#pragma once

#include <set>
#include <string>

#include "sim/compile/nvdla/plan.h"

namespace npuscope {

/// Names of layers; `room` in bytes.
std::set<std::string> results_for_sram(const Plan& plan, Bytes room);

}  // namespace npuscope
