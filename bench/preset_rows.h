// SPDX-License-Identifier: Apache-2.0
// The rows that the RTLs of all presets were measured with: one folder per set, with `rows.csv`
// and, unless they are those of another set or of the reference data, `programs`. Columns as in
// reference_rows.h, and `npu`, the preset, and `rtl_branch`, the generation of its RTL.
#pragma once

#include <filesystem>

#include "bench/reference_rows.h"

namespace npuscope::bench {

/// All sets of the reference data, in the order of their names; one whose programs are not there
/// is counted as left out.
ReferenceSet preset_rows(const std::filesystem::path& data);

}  // namespace npuscope::bench
