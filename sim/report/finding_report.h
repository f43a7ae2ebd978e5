// SPDX-License-Identifier: Apache-2.0
// The findings of a run as a section of its summary.
#pragma once

#include <string>
#include <vector>

#include "models/base/diagnostic.h"
#include "sim/config/text_table.h"

namespace npuscope {

/// The place without the folders of its file.
std::string short_place(const Place& place);
/// A section of a summary, the gravest first; empty where there is none. Notes are listed or counted.
std::string findings_text(const std::vector<Diagnostic>& findings, bool notes = true,
                          std::size_t width = report_width);

}  // namespace npuscope
