// SPDX-License-Identifier: Apache-2.0
// A check's findings for people and for machines.
#pragma once

#include <string>

#include "sim/check/found.h"

namespace npuscope {

std::string check_text(const CheckReport& report);
std::string check_json(const CheckReport& report);

}  // namespace npuscope
