// SPDX-License-Identifier: Apache-2.0
// A result for people, at most 100 columns wide: what ran and whether it is right, then where the
// cycles and the bytes went, then what the machine found wrong.
#pragma once

#include <string>

#include "sim/run/result.h"

namespace npuscope {

std::string summary_report(const Result& result);

}  // namespace npuscope
