// SPDX-License-Identifier: Apache-2.0
// Where each operation's cycles went: a column for every cause that took any, and their sum, which
// is the operation's cycles.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "models/base/statistics.h"
#include "sim/config/text_table.h"

namespace npuscope {

/// Empty where there is no operation.
std::string cause_table(const std::vector<OperationRecord>& operations,
                        std::size_t width = report_width);

}  // namespace npuscope
